"""What came of playing journals again, in words and as JSON."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mtcool.live.replay import Replayed
    from mtcool.types import Plain

MOST_SHOWN = 10
COUNTED = ("predictions", "same", "learned", "messages", "waiting", "lost", "twice", "refused")


def replayed_as_json(found: "Replayed") -> dict[str, "Plain"]:
    """All of it in plain values."""
    counted = {name: getattr(found, name) for name in COUNTED}
    more = {"elsewhere": dict(found.elsewhere), "pruned": found.pruned}
    return counted | more | {"differences": found.differences}


def show_replayed(found: "Replayed", waiting: int, refused: int, begin: str = "") -> None:
    """Print it.

    Parameters
    ----------
    found
        What came of it.
    waiting, refused
        Messages that wait, and what was refused, as far as that matters to who reads it.
    begin
        What the first line begins with.
    """
    print(
        f"{begin}{found.same:,} of {found.predictions:,} predictions came out the same bit for "
        f"bit; {found.messages:,} messages were taken, {waiting:,} wait, {found.lost:,} are lost, "
        f"{found.twice:,} were taken twice, {refused:,} were refused"
    )
    for name, count in found.pruned.items():
        print(f"  the journal of {name} begins after {count:,} rounds: those before were pruned")
    for name, count in found.elsewhere.items():
        if count:
            print(f"  {count:,} messages wait for {name}, whose journal is not here")
    for sentence in found.differences[:MOST_SHOWN]:
        print(f"  {sentence}")
    if len(found.differences) > MOST_SHOWN:
        print(f"  ... and {len(found.differences) - MOST_SHOWN:,} more differences")
