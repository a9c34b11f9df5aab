"""Learning from real streams of many agents: tables in, predictions and a saved model out."""

from typing import TYPE_CHECKING

from mtcool.lazy import attach

if TYPE_CHECKING:
    from mtcool.learn.agent import PanelAgent
    from mtcool.learn.model import Model, Played
    from mtcool.learn.reading.encoding import Encoder
    from mtcool.learn.reading.graphs import graph_from
    from mtcool.learn.reading.progressive import Chunk, Progressive
    from mtcool.learn.reading.tables import BadRow, Batch, Columns, read_batches
    from mtcool.learn.saved_models import load
    from mtcool.learn.stored_predictions import RowPrediction
else:  # the parts need different extras
    __getattr__, __dir__ = attach(
        __name__,
        {
            "agent": ("PanelAgent",),
            "model": ("Model", "Played"),
            "reading.encoding": ("Encoder",),
            "reading.graphs": ("graph_from",),
            "reading.progressive": ("Chunk", "Progressive"),
            "reading.tables": ("BadRow", "Batch", "Columns", "read_batches"),
            "stored_predictions": ("RowPrediction",),
            "saved_models": ("load",),
        },
    )

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
    "RowPrediction",
    "graph_from",
    "load",
    "read_batches",
]
