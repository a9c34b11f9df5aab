"""The learner, and the paper's algorithms without L, on a stream of real data.

The learner has data as they are, and learns from a target when it arrives. The paper's algorithms
are favoured: features and targets are standardised over the whole stream, in hindsight, and a
target is known as soon as it was predicted.
"""

import math
from collections.abc import Callable, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

import mtcool
from mtcool.experiments.learner.code import chapter_code, key_of
from mtcool.learn import Model
from mtcool.learners import KT, MTFTRLKT
from mtcool.streams import Stream, Table, births, flights, progressive_order, schools, squared
from mtcool.types import Floats

STREAMS: Mapping[str, Callable[[int], Table]] = {
    "births": lambda seed: births(),
    "flights": lambda seed: flights(),
    "schools": schools,
}
ROWS, GRADIENTS, SHUFFLED = "learner (rows)", "learner (gradients)", "learner, graph shuffled"
ALONE, POOLED = "alone", "pooled"
PAPER = ("MT-CO2OL (KT)", "i-FTRL (KT)", "ST-FTRL (KT)")
NAMES = (ROWS, GRADIENTS, SHUFFLED, ALONE, POOLED, *PAPER)


class Errors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Progressive errors of everybody on a stream."""

    rows: int
    agents: int
    cold: int
    """Rows before any target was known in the neighbourhood; they do not count for anybody."""
    nmse: dict[str, float]
    """Mean squared error over the variance of the target."""


class RealStream(msgspec.Struct, frozen=True):
    """Everybody on the first rows of a stream; the seed gives the order of the schools' pupils."""

    stream: str
    seed: int = 0
    most: int | None = None

    @property
    def key(self) -> str:
        """Name of the result."""
        return key_of("real stream", self.stream, self.seed, self.most)

    @property
    def code(self) -> list[str]:
        """Names for the code that makes the result."""
        return chapter_code()

    def run(self) -> Errors:
        """Play the stream once for each contestant."""
        table = STREAMS[self.stream](self.seed)
        return errors_on(table if self.most is None else first_rows(table, self.most))

    def read(self, content: bytes) -> Errors | None:
        """The result from a file."""
        found = msgspec.json.decode(content, type=Errors)
        whole = tuple(found.nmse) == NAMES and all(map(math.isfinite, found.nmse.values()))
        return found if whole else None


def first_rows(table: Table, count: int) -> Table:
    """The first rows of a table."""
    kept = slice(count)
    return Table(
        table.name,
        table.graph,
        table.agent[kept],
        table.names,
        table.features[kept],
        table.target[kept],
        table.time[kept],
        table.arrives[kept],
    )


def errors_on(table: Table) -> Errors:
    """Errors of the learner and of the paper's algorithms on a table."""
    rows, gradients = (_play(table, Model(table.graph, share=s)) for s in ("rows", "gradients"))
    shuffled = np.random.default_rng(0).permutation(table.graph.size)[table.agent]
    elsewhere = Model(table.graph, share="rows").play(shuffled, *_played(table))
    one = Model(None)
    pooled = one.play(np.repeat(one.index(["all"]), len(table)), *_played(table))
    warm = ~rows.cold
    found = {
        ROWS: rows.prediction,
        GRADIENTS: gradients.prediction,
        SHUFFLED: elsewhere.prediction,
        ALONE: rows.alone,
        POOLED: pooled.prediction,
    }
    y = table.target
    nmse = {name: _nmse((p - y) ** 2, y, warm) for name, p in found.items()}
    nmse |= {name: _nmse(losses, y, warm) for name, losses in papers_losses(table).items()}
    return Errors(len(table), table.graph.size, int(rows.cold.sum()), nmse)


def papers_losses(table: Table) -> dict[str, Floats]:
    """Squared errors of the paper's algorithms, KT versions without L, in each row."""
    x, y = _standardised(table.features), _standardised(table.target)
    stream = Stream(
        table.agent,
        squared(np.column_stack([np.ones(len(table)), x]), y),
        labels=table.graph.labels,
    )
    dim, variance, found = x.shape[1] + 1, float(table.target.var()), {}
    makers = (mtcool.mt_co2ol, mtcool.i_ftrl, mtcool.st_ftrl)
    for name, make in zip(PAPER, makers, strict=True):
        learner = MTFTRLKT() if make is mtcool.mt_co2ol else KT()
        network = make(table.graph, dim, learner=learner, lipschitz="adaptive")
        paid = mtcool.simulate(network, stream, times=np.arange(1, len(table) + 1)).loss
        found[name] = 2.0 * variance * np.diff(paid, prepend=0.0)
    return found


def _play(table: Table, model: Model) -> mtcool.learn.Played:
    return model.play(table.agent, *_played(table))


def _played(table: Table) -> tuple[Floats, Floats, NDArray[np.int64]]:
    return table.features, table.target, progressive_order(table.time, table.arrives)


def _standardised(values: Floats) -> Floats:
    deviation = values.std(axis=0)
    scaled: Floats = (values - values.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    return scaled


def _nmse(squares: Floats, target: Floats, counted: NDArray[np.bool_]) -> float:
    return float(squares[counted].mean() / target[counted].var())
