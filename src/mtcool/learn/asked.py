"""What a person asks of `mtcool learn`."""

from dataclasses import dataclass, fields
from typing import Literal, final

from mtcool.learn.tables import Columns
from mtcool.learn.tallies import Task

BUILT_IN = ("births", "flights", "schools")


@final
@dataclass(frozen=True)
class Asked:
    """The options of the command; None stands for what was not said.

    Examples
    --------
    >>> Asked("power.csv", agent="station", target="power").columns().time is None
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
    near: tuple[str, str] | None = None
    neighbours: int | None = None
    task: Task | None = None
    share: Literal["gradients", "rows"] | None = None
    on_bad: Literal["skip", "stop"] = "stop"

    def columns(self) -> Columns:
        """Which column is what; agent and target must be known."""
        for role in ("agent", "target"):
            if getattr(self, role) is None:
                raise ValueError(f"{role} must be a column of {self.data}, got none (--{role})")
        return Columns(
            agent=str(self.agent),
            target=self.target,
            time=self.time,
            arrives=self.arrives,
            features=self.features,
            categories=self.categories or (),
        )

    def check_same(self, columns: Columns, others: dict[str, object], model: str) -> None:
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
        known = {field.name: getattr(columns, field.name) for field in fields(columns)} | others
        for name, value in known.items():
            given = getattr(self, name)
            if given is not None and given != value:
                raise ValueError(
                    f"{name} must be as {model} was begun with, {value!r}, or left out, "
                    f"got {given!r}"
                )
