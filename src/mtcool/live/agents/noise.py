"""Noise that is written down: a journal can be played again, though nobody can draw it again."""

from __future__ import annotations

from mtcool.privacy.literals import Law
from mtcool.privacy.noise import GeneratorState, Noise
from mtcool.types import Floats


class RecordedNoise:
    """Draws from a source, or as it was told to, and remembers what it drew last.

    The numbers are as secret as what they hide.
    """

    def __init__(self, source: Noise) -> None:
        self._source = source
        self.grid = source.grid
        self.last: Floats | None = None
        """What was drawn since this was last set to None."""
        self.forced: Floats | None = None
        """What is drawn next, in place of the source's numbers."""

    def draw(self, law: Law, scales: Floats) -> Floats:
        """Draw one number for each scale."""
        forced, self.forced = self.forced, None
        if forced is not None and len(forced) != len(scales):
            raise ValueError(f"draws must be {len(scales)} numbers, got {len(forced)}")
        self.last = self._source.draw(law, scales) if forced is None else forced
        return self.last.copy()

    def keep(self, used: int) -> None:
        """Take back what was not used."""
        self._source.keep(used)

    def state(self) -> GeneratorState | None:
        """The state of the source."""
        return self._source.state()

    def restore(self, state: GeneratorState | None) -> None:
        """Go on where `state` was taken."""
        self._source.restore(state)
