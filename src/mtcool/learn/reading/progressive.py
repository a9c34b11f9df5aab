"""The order of progressive validation across batches, in constant memory."""

from __future__ import annotations

import math
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from mtcool.learn.reading.tables import Batch
from mtcool.types import AnyArray, Floats, Integers


class Chunk(NamedTuple):
    """Rows and what happens to them next: what `Model.play` takes.

    Examples
    --------
    >>> Progressive().close().events
    array([], dtype=int64)

    Attributes
    ----------
    agents
        Names of the rows' agents.
    features
        Encoded features; columns that came after a row are NaN in it.
    target
        What is to be predicted.
    events
        Event e >= 0 predicts row e of this chunk, and e < 0 learns from row ~e.
    new
        The rows that are predicted in this chunk; those before them were predicted in earlier
        ones and waited for their targets.
    line
        The lines of the rows in their file.
    time
        When the rows are predicted.
    """

    agents: NDArray[np.object_]
    features: Floats
    target: Floats
    events: Integers
    new: slice
    line: Integers
    time: Floats


@final
class Progressive:
    """Puts predictions and learning in the order of the clock, batch by batch.

    A row is predicted at its time and learned from when its target arrives. All rows of one time
    stamp are predicted before anything is learned at it, also when two batches share the stamp.
    The events of all chunks together are those of `mtcool.streams.progressive_order` for the whole
    table, whatever the batches. Rows are kept until they are learned from, and no longer.

    Examples
    --------
    >>> import io
    >>> from mtcool.learn import Columns, Encoder, read_batches
    >>> file = io.BytesIO(b"who,x,y,day,known\\na,1,1,1,1\\nb,2,2,1,3\\na,3,3,2,2\\n")
    >>> columns = Columns(agent="who", target="y", time="day", arrives="known")
    >>> progressive = Progressive()
    >>> for batch, _ in read_batches(file, columns, Encoder(), rows=2):
    ...     chunk = progressive.push(batch)
    ...     print(chunk.line, chunk.events, chunk.new)
    [2 3] [0 1] slice(0, 2, None)
    [2 3 4] [-1  2] slice(2, 3, None)
    >>> progressive.close().events
    array([-2, -1])
    """

    def __init__(self) -> None:
        self._waiting: Batch | None = None
        self._last = -math.inf

    @property
    def waiting(self) -> int:
        """The number of rows that were predicted and not yet learned from."""
        return 0 if self._waiting is None else len(self._waiting.line)

    def state(self) -> tuple[Batch, float]:
        """The rows that wait, and the last time that was seen: all there is to save.

        Examples
        --------
        >>> rows, last = Progressive().state()
        >>> len(rows.line), last
        (0, -inf)
        """
        return (_no_rows() if self._waiting is None else self._waiting), self._last

    @classmethod
    def from_state(cls, rows: Batch, last: float) -> Progressive:
        """The order that goes on from a saved state.

        Parameters
        ----------
        rows
            Rows that wait for their targets, which arrive no earlier than `last`.
        last
            The last time that was seen.

        Examples
        --------
        >>> Progressive.from_state(*Progressive().state()).waiting
        0
        """
        found = cls()
        found._check(rows)
        early = rows.arrives < last
        if early.any() or (rows.time > last).any():
            raise ValueError(f"rows must wait for targets at time {last}, got {rows.arrives.min()}")
        found._waiting, found._last = (rows if len(rows.line) else None), last
        return found

    def push(self, batch: Batch) -> Chunk:
        """All events that are certain once these rows are known: nothing can come between them.

        Parameters
        ----------
        batch
            The next rows, whose times are not before those of earlier ones.

        Examples
        --------
        >>> import numpy as np
        >>> from mtcool.learn import Batch
        >>> when, agents = np.array([0.0, 1.0]), np.array(["a", "b"], dtype=object)
        >>> batch = Batch(np.arange(2), agents, np.ones((2, 1)), np.ones(2), when, when)
        >>> Progressive().push(batch).events
        array([ 0, -1,  1])
        """
        self._check(batch)
        kept = self.waiting
        rows = batch if self._waiting is None else _joined(self._waiting, batch)
        self._last = float(batch.time[-1]) if len(batch.time) else self._last
        # A target that arrives at the last time waits: the next batch may have more rows of it.
        known = np.flatnonzero(rows.arrives < self._last)
        asked = np.arange(kept, len(rows.line))
        stamps = np.concatenate([rows.time[asked], rows.arrives[known]])
        # Predictions stand first, so a stable sort keeps them before what is learned at their time.
        order = np.argsort(stamps, kind="stable")
        events = np.concatenate([asked, ~known])[order]
        still = np.ones(len(rows.line), np.bool_)
        still[known] = False
        parts: list[AnyArray] = [part[still] for part in rows]
        self._waiting = Batch(*parts) if still.any() else None
        return _chunk(rows, events, kept)

    def close(self) -> Chunk:
        """What is left is learned from, in the order in which the targets arrive.

        Examples
        --------
        >>> Progressive().close().new
        slice(0, 0, None)
        """
        rows = _no_rows() if self._waiting is None else self._waiting
        self._waiting, self._last = None, -math.inf
        events = ~np.argsort(rows.arrives, kind="stable")
        return _chunk(rows, events, len(rows.line))

    def _check(self, batch: Batch) -> None:
        if not isinstance(batch, Batch):
            raise ValueError(f"batch must be a Batch, got {batch!r}")
        times = np.concatenate(([self._last], batch.time))
        back = np.flatnonzero(times[1:] < times[:-1])
        if len(back):
            row = int(back[0])
            raise ValueError(
                f"batch must not go back in time, got {times[row + 1]} after {times[row]}"
            )
        if (batch.arrives < batch.time).any():
            row = int((batch.arrives < batch.time).argmax())
            raise ValueError(
                f"batch must not have targets that arrive before their time, got "
                f"{batch.arrives[row]} before {batch.time[row]}"
            )


def _chunk(rows: Batch, events: Integers, kept: int) -> Chunk:
    new = slice(kept, len(rows.line))
    return Chunk(rows.agents, rows.features, rows.target, events, new, rows.line, rows.time)


def _joined(first: Batch, second: Batch) -> Batch:
    """The rows of two batches; columns that the first does not have yet are NaN in its rows."""
    more = second.features.shape[1] - first.features.shape[1]
    if more < 0:
        raise ValueError(
            f"batch must have at least {first.features.shape[1]} features as before, "
            f"got {second.features.shape[1]}"
        )
    padded = np.pad(first.features, ((0, 0), (0, more)), constant_values=np.nan)
    parts: list[AnyArray] = [
        np.concatenate(pair) for pair in zip(first._replace(features=padded), second, strict=True)
    ]
    return Batch(*parts)


def _no_rows() -> Batch:
    none = np.empty(0)
    lines, agents = np.empty(0, np.int64), np.empty(0, np.object_)
    return Batch(lines, agents, np.empty((0, 0)), none, none, none)
