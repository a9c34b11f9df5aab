"""Numbers that do not fit are one sentence, with the estimate, before anything is allocated."""

import re
import tracemalloc

import pytest

import mtcool
from mtcool import changes, graphs, memory, streams

BILLIONS = 3_000_000_000
PAIR = graphs.ring(5)
TASKS = streams.gaussian_tasks(PAIR, dim=1, smoothness=1.0, seed=0)

TOO_LARGE = {
    "erdos_renyi": ("n", lambda n: graphs.erdos_renyi(n, 0.5, seed=0), BILLIONS),
    "erdos_renyi without edges": ("n", lambda n: graphs.erdos_renyi(n, 0.0, seed=0), BILLIONS),
    "regular": ("n", lambda n: graphs.regular(n, 2, seed=0), BILLIONS),
    "circulant": ("n", lambda n: graphs.circulant(n, 4), BILLIONS),
    "ring": ("n", graphs.ring, BILLIONS),
    "cliques": ("sum of sizes", lambda n: graphs.cliques([n // 2, n // 2]), BILLIONS),
    "complete": ("n", graphs.complete, BILLIONS),
    "edgeless": ("n", graphs.edgeless, BILLIONS),
    "star": ("n", graphs.star, BILLIONS),
    "stars": ("sum of sizes", lambda n: graphs.stars([n // 2, n // 2]), BILLIONS),
    "grid": ("rows times columns", lambda n: graphs.grid(n // 1000, 1000), BILLIONS),
    "from_edges": ("size", lambda n: mtcool.Graph.from_edges([], size=n), 2_000_000_000),
    "quadratic_stream": ("rounds", lambda T: streams.quadratic_stream(PAIR, TASKS, T, 0), 10**12),
    "linear_stream": ("rounds", lambda T: streams.linear_stream(PAIR, 2, T, 0), 10**12),
    "linear_stream, dim": ("dim", lambda d: streams.linear_stream(PAIR, d, 10, 0), 10**12),
    "regression_stream": ("rounds", lambda T: streams.regression_stream(PAIR, TASKS, T, 0), 10**12),
    "stochastic": ("rounds", lambda T: streams.stochastic(T, 5, 0), 10**12),
    "round_robin": ("rounds", lambda T: streams.round_robin(T, 5), 10**12),
    "bursts": ("rounds", lambda T: streams.bursts(T, 5, 2, 0), 10**12),
    "twice_independent": ("rounds", lambda T: streams.twice_independent(PAIR, T, 0), 10**12),
    "adversary": ("rounds", lambda T: streams.multitask_adversary(PAIR, 0.1, T, 0), 10**12),
    "regular_family": ("rounds", lambda T: streams.regular_family(2, 2, 0.1, T, 0)[1], 10**12),
    "gaussian_tasks": ("dim", lambda d: streams.gaussian_tasks(PAIR, d, 1.0, 0), 10**12),
    "changing activations": (
        "rounds",
        lambda T: changes.activations(PAIR, changes.Schedule([]), T, seed=0),
        10**12,
    ),
    "blinking_edges": ("rounds", lambda T: changes.blinking_edges(PAIR, T, 0.1, 0.1, 0), 10**12),
    "churn": ("rounds", lambda T: changes.churn(PAIR, T, 0.1, 0.1, 2, 0), 10**12),
    "moving_agents": (
        "agents",
        lambda n: changes.moving_agents(n, 9, 0.1, 0.1, 0, 1, 0),
        BILLIONS,
    ),
    "tasks_in_groups": ("dim", lambda d: streams.tasks_in_groups(PAIR, d, 1.0, 0), 10**12),
    "tasks_with_variance": ("dim", lambda d: streams.tasks_with_variance(PAIR, d, 1.0, 0), 10**12),
}


@pytest.fixture
def sixteen(monkeypatch):
    """A machine with 16 GB, whatever this one has."""
    monkeypatch.setattr(memory, "available", lambda: 16 * 10**9)


@pytest.mark.usefixtures("sixteen")
@pytest.mark.parametrize(
    ("what", "factor"),
    [(what, 1) for what in TOO_LARGE]
    # Sizes beyond 32 bits in a list are refused for what they are.
    + [(what, 10**20) for what in TOO_LARGE if what not in ("cliques", "stars", "from_edges")],
)
def test_a_number_that_does_not_fit_is_refused_before_anything_is_allocated(what, factor):
    name, make, number = TOO_LARGE[what]
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"^{name} must fit into memory, got ") as refusal:
            make(number * factor)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()
    assert re.search(
        r"which needs about [\d,.e+]+ [kMGTPE]B; 16 GB are available$", str(refusal.value)
    )
    assert str(number * factor) in str(refusal.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: graphs.erdos_renyi(2_000, 0.5, seed=0),
        lambda: graphs.complete(1_000),
        lambda: graphs.edgeless(100_000),
        lambda: graphs.ring(100_000),
        lambda: streams.quadratic_stream(PAIR, TASKS, 100_000, 0),
        lambda: streams.linear_stream(PAIR, 8, 100_000, 0),
        lambda: changes.blinking_edges(PAIR, 10_000, 0.1, 0.1, 0),
        lambda: changes.churn(PAIR, 10_000, 1.0, 0.1, 2, 0),
        lambda: changes.moving_agents(1_000, 1, 0.3, 0.1, 0, 1, 0),
    ],
    ids=[
        "erdos_renyi",
        "complete",
        "edgeless",
        "ring",
        "quadratic",
        "linear",
        "blinking",
        "churn",
        "moving",
    ],
)
def test_the_estimate_does_not_exaggerate(make, monkeypatch):
    """What was measured to fit must not be refused."""
    tracemalloc.start()
    make()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    monkeypatch.setattr(memory, "available", lambda: int(1.01 * peak))
    make()
    monkeypatch.setattr(memory, "available", lambda: peak // 4)
    with pytest.raises(ValueError, match="must fit into memory"):
        make()


def test_what_this_machine_has_is_known_and_plausible():
    free = memory.available()
    assert free is None or 10**7 < free < 10**15


def test_a_burst_that_outlasts_the_stream_takes_no_more_room_than_the_stream():
    assert streams.bursts(3, 2, length=10**20, seed=0).tolist() == [1, 1, 1]


def test_replicates_are_made_one_after_the_other():
    """However many are asked for, the first begins at once."""
    with pytest.raises(ZeroDivisionError):
        mtcool.replicate(lambda rng: 1 / 0, 10**15, seed=0)
