"""Build the package, and look into what was built."""

from __future__ import annotations

import email
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Built(NamedTuple):
    """The source distribution and the wheel."""

    sdist: Path
    wheel: Path


def build(folder: Path) -> Built:
    """Build both from the repository as it is."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Built(sdist, wheel)


def in_wheel(wheel: Path) -> set[str]:
    """Names of the files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def in_sdist(sdist: Path) -> set[str]:
    """Names of the files and links in a source distribution, without its folder."""
    with tarfile.open(sdist) as archive:
        return {one.name.partition("/")[2] for one in archive if one.isfile() or one.issym()}


def metadata(wheel: Path) -> Message:
    """The metadata of a wheel."""
    (name,) = (name for name in in_wheel(wheel) if name.endswith(".dist-info/METADATA"))
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(archive.read(name))


def repository(*under: str) -> set[str]:
    """Files of the repository: those that git knows, and those that it would take."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *under]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.splitlines() if (ROOT / name).is_file()}
