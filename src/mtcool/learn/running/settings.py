"""What was asked of a pass, and how far it came, as the model file remembers it."""

import msgspec

from mtcool.learn.reading.tables import Columns


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a pass over a file ended before the file did.

    Attributes
    ----------
    source
        The file.
    line
        The last line that was played.
    written
        Bytes of the predictions up to there.
    """

    source: str
    line: int
    written: int


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """Columns and words of a pass, the same in every run that goes on with it.

    Attributes
    ----------
    name, target
        What the data and the predicted column are called.
    columns
        Which column is what.
    graph, near, neighbours
        The options that the graph was made from.
    implied
        Whether everybody talks to everybody only because nobody said otherwise.
    dated
        Whether times are dates, in seconds since 1970.
    rows, time
        Accepted rows so far, and the time of the last.
    earlier_rows, earlier_time
        The same before the file that was read last.
    skipped
        Bad rows so far.
    positions
        Longitude and latitude of agents, where they are known.
    stop
        Where the last run ended, if that was before the end of its file.
    """

    name: str
    target: str
    columns: Columns
    graph: str | None = None
    near: tuple[str, ...] | None = None
    neighbours: int | None = None
    implied: bool = False
    dated: bool = False
    rows: int = 0
    time: float = -1e300
    earlier_rows: int = 0
    earlier_time: float = -1e300
    skipped: int = 0
    positions: dict[str, tuple[float, float]] = {}
    stop: Stop | None = None

    def begin(self, place: str) -> None:
        """Prepare for a file; one that was left in the middle is gone on with."""
        if self.stop is None or self.stop.source != place:
            self.earlier_rows, self.earlier_time, self.stop = self.rows, self.time, None
