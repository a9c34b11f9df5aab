"""What came of a run of a whole network."""

from __future__ import annotations

from typing import NamedTuple

from mtcool.live.replay import Replayed
from mtcool.live.running.tally import Tally
from mtcool.types import Plain


class Outcome(NamedTuple):
    """The end of a run."""

    tally: Tally
    seconds: float
    """While rows were fed."""
    messages: int
    """Messages between processes, questions and replies."""
    bytes: int
    refused: int
    """Messages that hosts refused, and rows that nodes refused."""
    restarts: int
    replayed: Replayed
    """What the journals say."""

    @property
    def right(self) -> bool:
        """Whether every message was taken once, and all came out the same again."""
        again = self.replayed
        return not (again.differences or again.lost or again.twice or again.waiting)

    def summary(self) -> dict[str, Plain]:
        """All of it in plain values."""
        tally, again = self.tally, self.replayed
        return {
            "activations": tally.activations,
            "seconds": round(self.seconds, 3),
            "per_second": round(tally.activations / self.seconds, 1) if self.seconds else 0.0,
            "messages": self.messages,
            "bytes": self.bytes,
            "refused": self.refused,
            "old": tally.old,
            "missing": tally.missing,
            "restarts": self.restarts,
            "lost": again.lost,
            "twice": again.twice,
            "waiting": again.waiting,
            "replayed": {
                "predictions": again.predictions,
                "same": again.same,
                "differences": again.differences,
            },
            "learned": _losses(tally, tally.learned),
            "alone": _losses(tally, tally.alone),
            "pooled": _losses(tally, tally.pooled),
        }


def _losses(tally: Tally, total: float | None) -> dict[str, Plain]:
    return {"loss": tally.mean(total), "total": total if tally.counted else None}
