"""What a finished experiment gives to a program."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from mtcool import validation
from mtcool.experiments.report.overview import Judged
from mtcool.experiments.report.tables import Row
from mtcool.simulation.frames import make_frame

if TYPE_CHECKING:
    import pandas


class SectionSummary(TypedDict):
    """What the commands print of an experiment, or give as JSON."""

    replicates: int
    quick: dict[str, int] | None
    """Sizes of a quick look and of the file, or None for a full run."""
    regret: list[Row]
    theory: list[str]
    graphs: list[list[str]]
    promises: list[list[str]]
    findings: list[str]
    defaults: list[str]
    """Defaults that decide much, where the file does not set them."""
    gradients: list[str]
    claims: list[Judged]


@dataclass(frozen=True)
class Outcome:
    """A finished experiment: its tables, what they say, and where the rest is.

    Examples
    --------
    >>> import tempfile, mtcool
    >>> outcome = mtcool.experiments.run(
    ...     {
    ...         "name": "demo",
    ...         "rounds": 200,
    ...         "replicates": 2,
    ...         "graph": {"kind": "ring", "agents": 4},
    ...         "algorithm": [{"name": "alone", "algorithm": "i_ftrl"}],
    ...     },
    ...     tempfile.mkdtemp(),
    ... )
    >>> outcome.name, outcome.to_frame("runs").shape[0]
    ('demo', 2)
    """

    name: str
    """As in the file."""
    folder: Path
    """The result folder: `report.html`, figures, tables, and the cells that a next run takes."""
    tables: dict[str, list[Row]]
    """Rows of "runs", "summary", "differences" (paired), "curves", "agents", "theory", "bounds"."""
    summary: SectionSummary
    """What `mtcool run --json` prints of the experiment."""
    tally: str
    """How many claims and bounds of the theory hold, as its report says."""

    def __repr__(self) -> str:
        runs = len(self.tables["runs"])
        return f"<Outcome of {self.name!r}: {runs} runs, {self.folder / 'report.html'}>"

    @property
    def findings(self) -> list[str]:
        """Sentences that are computed from the numbers: who has the least regret where.

        After them, whether the gradient bounds fit, and how regret compares with the theorems.
        """
        told = self.summary
        return [*told["findings"], *told["gradients"], *told["theory"]]

    @property
    def claims(self) -> list[Judged]:
        """The claims of the file: text, source, verdict, and the numbers behind it."""
        return list(self.summary["claims"])

    def to_frame(self, table: str = "summary") -> pandas.DataFrame:
        """A table as a pandas frame, with a column for each swept parameter first.

        Swept values are numbers if all of them are, and else what the report calls them.

        Parameters
        ----------
        table
            The name of one of `tables`.
        """
        rows = self.tables[validation.one_of("table", table, tuple(self.tables))]
        frame = make_frame(rows)
        for name in frame.columns:
            with contextlib.suppress(ValueError, TypeError):  # names stay as they are
                if all(isinstance(row[name], str) for row in rows):
                    frame[name] = [float(row[name]) for row in rows]
        return frame
