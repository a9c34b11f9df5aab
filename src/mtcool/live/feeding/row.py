"""One row of a stream: an agent, and what it predicts and learns from."""

from __future__ import annotations

from typing import NamedTuple

from mtcool.graphs.labels import plain_name
from mtcool.types import Label, Plain


class Row(NamedTuple):
    """A row of a stream.

    Examples
    --------
    >>> Row("rome", [0.5], 2.0).request()
    {'do': 'round', 'agent': 'rome', 'features': [0.5], 'target': 2.0}
    """

    agent: Label
    features: list[float] | None
    """None where agents predict points."""
    target: float | None
    """None where a loss is given."""
    loss: tuple[str, list[float]] | None = None
    """The kind of a loss, and the numbers of its round."""

    def request(self) -> dict[str, Plain]:
        """The row as a request to a node."""
        told: dict[str, Plain] = {"do": "round", "agent": plain_name(self.agent, "sent")}
        if self.features is not None:
            told["features"] = self.features
        if self.loss is None:
            told["target"] = self.target
        else:
            kind, numbers = self.loss
            told["loss"] = {"kind": kind, "row": numbers}
        return told
