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
from mtcool.learners import KT, MTFTRLKT, Learner
from mtcool.streams import Stream, Table, births, flights, progressive_order, schools, squared
from mtcool.types import Floats

STREAMS: Mapping[str, Callable[[int], Table]] = {
    "births": lambda seed: births(),
    "flights": lambda seed: flights(),
    "schools": schools,
}
ROWS, GRADIENTS, SHUFFLED = "learner (rows)", "learner (gradients)", "learner, graph shuffled"
ALONE, POOLED = "alone", "pooled"
PAPER: Mapping[str, tuple[Callable[..., mtcool.Network], Learner]] = {
    "MT-CO2OL (KT)": (mtcool.mt_co2ol, MTFTRLKT()),
    "i-FTRL (KT)": (mtcool.i_ftrl, KT()),
    "ST-FTRL (KT)": (mtcool.st_ftrl, KT()),
}
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
    """Everybody on a stream; the seed gives the order of the schools' pupils."""

    stream: str
    seed: int = 0

    @property
    def key(self) -> str:
        """Name of the result."""
        return key_of("real stream", self.stream, self.seed)

    @property
    def code(self) -> list[str]:
        """Names for the code that makes the result."""
        return chapter_code()

    def run(self) -> Errors:
        """Play the stream once for each contestant."""
        return errors_on(STREAMS[self.stream](self.seed))

    def read(self, content: bytes) -> Errors | None:
        """The result from a file."""
        found = msgspec.json.decode(content, type=Errors)
        whole = tuple(found.nmse) == NAMES and all(map(math.isfinite, found.nmse.values()))
        return found if whole else None


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
    nmse = {name: _nmse(table.target, p, warm) for name, p in found.items()}
    nmse |= papers_errors(table, warm)
    return Errors(len(table), table.graph.size, int(rows.cold.sum()), nmse)


def papers_errors(table: Table, counted: NDArray[np.bool_]) -> dict[str, float]:
    """NMSE of the paper's algorithms, KT versions without L, over the rows that count."""
    x, y = _standardised(table.features), _standardised(table.target)
    losses = squared(np.column_stack([np.ones(len(table)), x]), y)
    stream = Stream(table.agent, losses, labels=table.graph.labels)
    left_out = np.flatnonzero(~counted)
    # The loss before and after each row that does not count, and at the end.
    times = np.unique(np.concatenate([left_out, left_out + 1, [len(table)]]))
    found = {}
    for name, (make, learner) in PAPER.items():
        network = make(table.graph, x.shape[1] + 1, learner=learner, lipschitz="adaptive")
        paid = mtcool.simulate(network, stream, times=times).loss
        before, after = (paid[np.searchsorted(times, row)] for row in (left_out, left_out + 1))
        # A loss is half a squared error.
        errors = 2.0 * float(paid[-1] - (after - before).sum())
        found[name] = errors / float(counted.sum() * y[counted].var())
    return found


def _play(table: Table, model: Model) -> mtcool.learn.Played:
    return model.play(table.agent, *_played(table))


def _played(table: Table) -> tuple[Floats, Floats, NDArray[np.int64]]:
    return table.features, table.target, progressive_order(table.time, table.arrives)


def _standardised(values: Floats) -> Floats:
    deviation = values.std(axis=0)
    scaled: Floats = (values - values.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    return scaled


def _nmse(target: Floats, prediction: Floats, counted: NDArray[np.bool_]) -> float:
    y = target[counted]
    return float(((prediction[counted] - y) ** 2).mean() / y.var())
