"""Work that workers do once: its result is stored, and a next run takes it from there."""

from typing import Protocol, TypeVar

R_co = TypeVar("R_co", covariant=True)


class Work(Protocol[R_co]):
    """A cell of an experiment, or another piece of a report."""

    @property
    def key(self) -> str:
        """Name of the result: it changes with what could change its numbers, the code included."""

    @property
    def code(self) -> list[str]:
        """Names for the code that makes the result."""

    def run(self) -> R_co:
        """Do the work."""

    def read(self, content: bytes) -> R_co | None:
        """The result from a file, or None if it cannot be that of this work."""
