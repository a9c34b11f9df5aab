"""Learning from real streams of many agents: tables in, predictions and a saved model out."""

import importlib
from types import ModuleType

from mtcool.types import Given

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
    "graph_from",
    "load",
    "read_batches",
]

_HOMES = {
    "BadRow": "tables",
    "Batch": "tables",
    "Chunk": "progressive",
    "Columns": "tables",
    "Encoder": "encoding",
    "Model": "model",
    "PanelAgent": "agent",
    "Played": "model",
    "Progressive": "progressive",
    "graph_from": "graphs",
    "load": "saved_models",
    "read_batches": "tables",
}


def __getattr__(name: str) -> Given:
    # Each part is imported when it is asked for: the parts need different extras.
    if name not in _HOMES:
        raise AttributeError(f"module 'mtcool.learn' has no attribute {name!r}")
    home: ModuleType = importlib.import_module(f"mtcool.learn.{_HOMES[name]}")
    return getattr(home, name)
