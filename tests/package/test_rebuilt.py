"""The source distribution stands alone: it becomes a wheel, and its documents are whole."""

import subprocess
import sys
import tarfile

import pytest

import mtcool
from package.building import in_wheel
from package.environments import pip

pytestmark = pytest.mark.package


@pytest.fixture(scope="module")
def unpacked(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(built.sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"mtcool-{mtcool.__version__}"


def test_a_wheel_from_the_source_distribution_is_the_same(built, tmp_path):
    """As pip builds it: with what `build-system` asks for, and nothing of this environment."""
    words = ("wheel", "--no-deps", "--progress-bar", "off", "--wheel-dir", tmp_path / "again")
    pip(*words, built.sdist, log=tmp_path / "log")
    (again,) = (tmp_path / "again").glob("*.whl")
    assert again.name == built.wheel.name
    assert in_wheel(again) == in_wheel(built.wheel)


def test_documents_of_the_source_distribution_have_what_they_link_to(unpacked):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/house/test_docs.py"]
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
