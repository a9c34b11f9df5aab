import copy
import dataclasses
import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from mtcool.streams import (
    Hinge,
    Linear,
    Losses,
    Squared,
    Stream,
    best_in_hindsight,
    linear,
    quadratic,
    squared,
)


def example(rounds: int = 6) -> Stream:
    rng = np.random.default_rng(0)
    losses = squared(rng.standard_normal((rounds, 2)), rng.standard_normal(rounds))
    return Stream(np.arange(rounds) % 3, losses, rng.standard_normal((3, 2)), ["a", "b", "c"])


def test_iteration_yields_the_name_of_the_agent_and_its_loss() -> None:
    stream = example()
    x = np.array([1.0, 2.0])
    features, target = stream.losses.rows[:, :2], stream.losses.rows[:, 2]
    for t, (name, loss) in enumerate(stream):
        assert name == "abc"[t % 3]
        paid, gradient = loss(x)
        gap = features[t] @ x - target[t]
        assert paid == pytest.approx(gap**2 / 2) == loss.value(x)
        assert gradient == pytest.approx(gap * features[t])
        assert loss.subgradient(x) is not gradient
    assert len(list(stream)) == len(stream) == 6


def test_agents_are_named_by_their_indices_unless_labels_are_given() -> None:
    assert Stream([2, 0], linear([[1.0], [1.0]])).labels == range(3)
    assert Stream([0, 0], linear([[1.0], [1.0]]), comparator=np.zeros((5, 1))).labels == range(5)
    assert [name for name, _ in Stream([2, 0], linear([[1.0], [1.0]]))] == [2, 0]


@pytest.mark.parametrize("span", [slice(2, 5), slice(None, None, 2), slice(-2, None), slice(3, 3)])
def test_a_slice_is_the_stream_of_those_rounds(span: slice) -> None:
    stream = example()
    part = stream[span]
    assert isinstance(part.losses.kind, Squared)
    assert part.losses.rows.flags.c_contiguous
    x = np.array([0.5, -1.0])
    whole = [(name, loss.value(x)) for name, loss in stream]
    assert [(name, loss.value(x)) for name, loss in part] == whole[span]
    assert (part.comparator == stream.comparator).all()
    assert part.labels == stream.labels


def test_a_stream_of_no_rounds_can_be_sliced() -> None:
    empty = Stream([], linear(np.empty((0, 2))))
    assert len(empty[:1]) == 0


def test_dimension_and_lipschitz_constant_are_those_of_the_losses() -> None:
    stream = Stream([0, 1], quadratic([[3.0, 4.0], [0.0, 1.0]]))
    assert stream.dim == 2
    assert stream.lipschitz(radius=2.0) == 7.0


def test_a_stream_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        example().agents = np.zeros(6, dtype=np.int64)  # type: ignore[misc]


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_stream_survives_a_copy(clone: Callable[[Stream], Stream]) -> None:
    stream, x = example(), np.array([1.0, 1.0])
    assert [loss.value(x) for _, loss in clone(stream)] == [loss.value(x) for _, loss in stream]


def test_rows_of_other_numbers_become_float64() -> None:
    stream = Stream([0], Losses(Linear(), np.ones((1, 2), dtype=np.float32, order="F")))
    assert stream.losses.rows.dtype == np.float64
    assert stream.losses.rows.flags.c_contiguous


one = linear([[1.0]])


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: Stream([0, 1], one), "agents must have 1 entries as losses, got 2"),
        (lambda: Stream([-1], one), "agents.*-1"),
        (lambda: Stream([0.5], one), r"agents.*0\.5"),
        (lambda: Stream([2], one, comparator=np.zeros((2, 1))), "agents.*below 2, got 2"),
        (lambda: Stream([2], one, labels="ab"), "agents.*below 2, got 2"),
        (lambda: Stream([0], one, comparator=np.zeros((2, 3))), "comparator.*any x 1"),
        (lambda: Stream([0], one, comparator=[[math.inf]]), "comparator.*inf"),
        (lambda: Stream([0], one, np.zeros((2, 1)), labels="abc"), "comparator.*3 x 1"),
        (lambda: Stream([0], one, labels=["a", "a"]), "labels.*'a' twice"),
        (lambda: Stream([0], one, labels=[["a"]]), r"labels.*hashable.*\['a'\]"),
        (lambda: Stream([0], one, labels=5), "labels must be a sequence.*5"),
        (lambda: Stream([0], (np.ones((1, 1)),)), "losses.*tuple"),
        (lambda: Stream([0], Losses(Linear(), np.ones(1))), r"losses\.rows.*matrix.*\(1,\)"),
        (lambda: Stream([0], Losses(Linear(), [["1"]])), r"losses\.rows.*numbers"),
        (lambda: Stream([0], Losses(Linear(), [[math.nan]])), r"losses\.rows.*finite.*nan"),
        (lambda: Stream([0], Losses(Squared(), np.ones((1, 1)))), "rows of Squared.*1 columns"),
        (lambda: Stream([0], Losses(Hinge(), [[1.0, 0.5]])), r"target.*-1 and 1.*0\.5"),
        (lambda: Stream([0], Losses((), np.ones((1, 1)))), r"kind.*NamedTuple.*\(\)"),
        (lambda: Stream([0], Losses(Linear, np.ones((1, 1)))), "kind.*class Linear"),
        (lambda: Stream([0, 0], linear(np.ones((2, 1))))[0], "span.*0"),
        (lambda: best_in_hindsight(Stream([0], one), radius=0.0), r"radius.*0\.0"),
        (lambda: best_in_hindsight(Stream([0], one), 1.0, tolerance=0.0), r"tolerance.*0\.0"),
    ],
)
def test_bad_streams_are_refused(call: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        call()
