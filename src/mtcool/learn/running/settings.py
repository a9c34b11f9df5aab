"""What was asked of a pass, and how far it came, as the model file remembers it."""

import msgspec

from mtcool.learn.reading.tables import Columns
from mtcool.learn.running.fingerprint import Beginning


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a pass over a file ended.

    Attributes
    ----------
    source
        The file.
    line
        The last line that was played.
    written
        Bytes of the predictions up to there.
    finished
        How the file began, if the pass came to its end and to the report; else None.
    """

    source: str
    line: int
    written: int
    finished: Beginning | None = None


class PassSettings(msgspec.Struct, forbid_unknown_fields=True):
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
        Where the last run ended in its file; None if it read to the end of standard input.
    within_line
        Bytes of the rows of that file if it was read to its end, and ended within a line.
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
    within_line: int = 0

    def begin(self, *, same: bool) -> None:
        """Prepare for a file; `same` says that it is the one in which the last run ended."""
        if not same:
            self.earlier_rows, self.earlier_time, self.stop = self.rows, self.time, None
            self.within_line = 0

    def finish(self, beginning: Beginning | None) -> None:
        """Remember that the file was read to its end, and how it begins."""
        if self.stop is not None:
            ended = msgspec.structs.replace(self.stop, finished=beginning)
            self.stop = ended if beginning is not None else None
