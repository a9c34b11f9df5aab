"""What a person asks of `mtcool learn`."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast, final

from mtcool import validation
from mtcool.learn.model import SHARES, TASKS, Share, Task
from mtcool.learn.reading.tables import Columns, OnBad

BUILT_IN = ("births", "flights", "schools")
COLUMNS = ("agent", "target", "time", "arrives", "features", "categories")
"""Options that say which column is what, as `Columns` calls them."""


@final
@dataclass(frozen=True)
class LearnOptions:
    """The options of the command; None stands for what was not said.

    Examples
    --------
    >>> LearnOptions("power.csv", agent="station", target="power").columns().time is None
    True
    """

    data: str
    agent: str | None = None
    target: str | None = None
    time: str | None = None
    arrives: str | None = None
    features: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    graph: str | None = None
    near: tuple[str, ...] | None = None
    neighbours: int | None = None
    task: str | None = None
    share: str | None = None
    on_bad: str = "stop"

    def __post_init__(self) -> None:
        validation.one_of("on_bad", self.on_bad, ("skip", "stop"))
        if self.task is not None:
            validation.one_of("task", self.task, TASKS)
        if self.share is not None:
            validation.one_of("share", self.share, SHARES)
        if self.near is not None and len(self.near) != 2:
            raise ValueError(
                "near must be two columns, latitude and longitude, with a comma in between, got "
                f"{','.join(self.near)!r}"
            )

    @property
    def task_or_default(self) -> Task:
        """What is predicted."""
        return cast("Task", self.task or "regression")

    @property
    def share_or_default(self) -> Share:
        """What neighbours are sent."""
        return cast("Share", self.share or "gradients")

    @property
    def when_bad(self) -> OnBad:
        """What a bad row does."""
        return cast("OnBad", self.on_bad)

    @property
    def short_name(self) -> str:
        """The name of the data without folder and suffix, for the folder of the results."""
        return "stdin" if self.data == "-" else Path(self.data).name.partition(".")[0] or "data"

    def columns(self) -> Columns:
        """Which column is what; agent and target must be known."""
        for role in ("agent", "target"):
            if getattr(self, role) is None:
                raise ValueError(f"{role} must be a column of {self.data}, got none")
        return Columns(
            agent=str(self.agent),
            target=self.target,
            time=self.time,
            arrives=self.arrives,
            features=self.features,
            categories=self.categories or (),
            no_features=self.near if self.near is not None and self.features is None else (),
        )

    def check_same(self, columns: Columns, others: Mapping[str, object], model: str) -> None:
        """Refuse what differs from how a saved model was begun.

        Parameters
        ----------
        columns
            Which column is what for the model.
        others
            Its other options by name.
        model
            What the model is called.
        """
        known = {name: getattr(columns, name) for name in COLUMNS} | dict(others)
        for name, value in known.items():
            given = getattr(self, name)
            if given is not None and given != value:
                raise ValueError(
                    f"{name} must be as {model} was begun with, {value!r}, or left out, "
                    f"got {given!r}"
                )


def words_of(text: str | None) -> tuple[str, ...] | None:
    """Names with commas between them; a name that has a comma stands in quotes.

    Examples
    --------
    >>> words_of('wind, "rain, mm"')
    ('wind', 'rain, mm')
    """
    if text is None:
        return None
    words = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(word.strip() for word in words if word.strip())
