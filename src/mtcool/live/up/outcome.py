"""What came of a run of a whole network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mtcool.live.replay import Replayed
from mtcool.live.up.tally import Tally
from mtcool.types import Plain


class UpOutcome(NamedTuple):
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
    left_out: int
    """Rows of the stream that could not be read."""
    trouble: dict[str, dict[str, str]]
    """Hosts that have stopped in the end, with whom, and why."""
    left: Sequence[str]
    """Hosts that were taken out of the file while it ran."""
    replayed: Replayed | None
    """What the journals say, if they were played again."""

    @property
    def right(self) -> bool:
        """Whether nobody has stopped, each message was taken once, and all was the same again."""
        again = self.replayed
        return not self.trouble and (
            again is None or not (again.differences or again.lost or again.twice or self.waiting)
        )

    @property
    def waiting(self) -> int | None:
        """Messages that wait between hosts of the network, if that is known."""
        again = self.replayed
        return None if again is None else again.waiting - sum(self.kept_by_left.values())

    @property
    def kept_by_left(self) -> dict[str, int]:
        """Messages of hosts that have left, which nobody takes until they are back in the file."""
        again = self.replayed
        return {} if again is None else {host: again.kept[host] for host in self.left}

    def summary(self) -> dict[str, Plain]:
        """All of it in plain values."""
        tally, again = self.tally, self.replayed
        checked: dict[str, Plain] = dict.fromkeys(
            ("lost", "twice", "waiting", "elsewhere", "replayed")
        )
        if again is not None:
            checked = {
                "lost": again.lost,
                "twice": again.twice,
                "waiting": self.waiting,
                "elsewhere": dict(again.elsewhere),
                "replayed": {
                    "predictions": again.predictions,
                    "same": again.same,
                    "differences": again.differences,
                },
            }
        return {
            "activations": tally.activations,
            "before": tally.before,
            "seconds": round(self.seconds, 3),
            "per_second": round(tally.activations / self.seconds, 1) if self.seconds else 0.0,
            "messages": self.messages,
            "bytes": self.bytes,
            "refused": self.refused,
            "old": tally.old,
            "missing": tally.missing,
            "restarts": self.restarts,
            "left_out": self.left_out,
            "trouble": self.trouble,
            "left": list(self.left),
            **checked,
            "learned": _losses(tally, tally.learned),
            "alone": _losses(tally, tally.alone),
            "pooled": _losses(tally, tally.pooled),
        }


def _losses(tally: Tally, total: float | None) -> dict[str, Plain]:
    return {"loss": tally.mean(total), "total": total if tally.counted else None}
