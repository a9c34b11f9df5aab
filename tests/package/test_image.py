"""The image of the live example can be built: what it copies is all that a wheel is made of."""

import shutil
import subprocess
import sys

import pytest

from package.building import ROOT, in_wheel

pytestmark = pytest.mark.package

DOCKERFILE = ROOT / "examples" / "live" / "Dockerfile"


def test_a_wheel_is_built_from_what_the_image_copies(built, tmp_path):
    copied = [line.split()[1:] for line in DOCKERFILE.read_text().splitlines() if "COPY" in line]
    assert copied
    for *sources, place in copied:
        folder = tmp_path / place.removeprefix("/")
        for source in sources:
            if (ROOT / source).is_dir():
                junk = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, folder, ignore=junk)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, folder)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "wheel"]
    done = subprocess.run(
        command, cwd=tmp_path / "source", capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (tmp_path / "wheel").glob("*.whl")
    assert in_wheel(wheel) == in_wheel(built.wheel)
