"""Learning from real streams of many agents: tables in, predictions and a saved model out."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from mtcool.types import Given

if TYPE_CHECKING:
    from mtcool.learn.agent import PanelAgent
    from mtcool.learn.model import Model, Played
    from mtcool.learn.reading.encoding import Encoder
    from mtcool.learn.reading.graphs import graph_from
    from mtcool.learn.reading.progressive import Chunk, Progressive
    from mtcool.learn.reading.tables import BadRow, Batch, Columns, read_batches
    from mtcool.learn.said import Said
    from mtcool.learn.saved_models import load

__all__ = [
    "BadRow",
    "Batch",
    "Chunk",
    "Columns",
    "Encoder",
    "Model",
    "PanelAgent",
    "Played",
    "Progressive",
    "Said",
    "graph_from",
    "load",
    "read_batches",
]

_HOMES = {
    "BadRow": "reading.tables",
    "Batch": "reading.tables",
    "Chunk": "reading.progressive",
    "Columns": "reading.tables",
    "Encoder": "reading.encoding",
    "Model": "model",
    "PanelAgent": "agent",
    "Played": "model",
    "Progressive": "reading.progressive",
    "Said": "said",
    "graph_from": "reading.graphs",
    "load": "saved_models",
    "read_batches": "reading.tables",
}


if not TYPE_CHECKING:  # or checkers would take any name for a part

    def __getattr__(name: str) -> Given:
        # Each part is imported when it is asked for: the parts need different extras.
        if name not in _HOMES:
            raise AttributeError(f"module 'mtcool.learn' has no attribute {name!r}")
        home: ModuleType = importlib.import_module(f"mtcool.learn.{_HOMES[name]}")
        return getattr(home, name)
