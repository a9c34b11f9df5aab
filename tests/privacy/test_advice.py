"""`mtcool privacy advise`: its numbers are those of mechanisms and bounds, its words are plain."""

import json
import math
import sys

import networkx as nx
import numpy as np
import pytest

import mtcool
from mtcool import theory
from mtcool.algorithms.advice import EQUAL, advise, mechanisms, noiseless_gain
from mtcool.algorithms.dpmt_co2ol import bound
from mtcool.cli.commands import main
from mtcool.graphs import own_weights
from mtcool.learners import MTFTRL
from mtcool.peers.algorithm import Question
from mtcool.privacy import AGGREGATORS

EVEN = nx.random_regular_graph(12, 40, seed=1)
HORIZON = 10_000
KINDS = {kind.title: kind for kind in AGGREGATORS.values()}


@pytest.fixture(scope="module")
def rows():
    return {(row.mechanism, row.law): row for row in advise(EVEN, 3, HORIZON)}


def level(title, law, epsilon):
    delta = None if law == "Laplace" else 1e-6
    return mtcool.Privacy(epsilon, HORIZON, delta=delta, aggregator=KINDS[title]())


def test_every_mechanism_with_noise_is_there_once(rows):
    assert len(rows) == mechanisms() == 9


def test_the_noise_is_what_networks_publish(rows):
    grids = {"paper": MTFTRL(), "geometric": MTFTRL(experts="geometric"), "single": EQUAL}
    for (title, law), row in rows.items():
        for grid, learner in grids.items():
            published = mtcool.published_noise(EVEN, 3, level(title, law, 1.0), learner=learner)
            assert row.noise[grid] == pytest.approx(published.gradients.max())


def test_at_the_cutoff_the_bound_of_the_network_itself_is_that_of_learning_alone(rows):
    """With the noise of all agents on the whole graph, as reports compute it."""
    tasks, counts = np.eye(3)[[0] * 40], np.full(40, HORIZON)
    alone = theory.known_variances(EVEN, tasks, counts, weights=own_weights(EVEN)).value
    crossed = 0
    for (title, law), row in rows.items():
        if row.pays_above is None:
            assert title == "doubling epochs"
            continue
        for factor, below in ((1.01, True), (0.99, False)):
            privacy = level(title, law, factor * row.pays_above)
            net = mtcool.dpmt_co2ol(EVEN, 3, privacy, learner=EQUAL)
            asked = Question(net.graph, net.settings, "uniform", None, tasks, counts)
            assert (bound(asked).value < alone) == below
        crossed += 1
    assert crossed == 7


def test_where_nothing_is_gained_without_noise_no_epsilon_helps():
    for graph in (nx.empty_graph(4), nx.karate_club_graph()):
        assert noiseless_gain(graph) >= 1.0
        assert all(row.pays_above in (None, math.inf) for row in advise(graph, 2, 100))
    assert noiseless_gain(EVEN) < 0.5


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "even.edgelist"
    nx.write_edgelist(EVEN, path, data=False)
    return path


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process: its status and what it told."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["mtcool", *map(str, words)])
        try:
            main()
        except SystemExit as end:
            return end.code, capsys.readouterr()
        return 0, capsys.readouterr()

    return run


def test_the_command_fits_into_eighty_columns_and_says_what_is_covered(file, call):
    status, told = call("privacy", "advise", file, "--dim", 3, "--horizon", HORIZON)
    assert status == 0
    assert max(map(len, told.out.splitlines())) <= 80
    text = " ".join(told.out.split())
    for words in (
        "40 agents, 240 edges, dimension 3, up to 10,000 activations",
        "smooth tree Laplace 87.64 329.6 526 0.497",
        "doubling epochs Laplace 284.3 1,069 1,706 no bound",
        "above epsilon = 0.5, by the bounds (smooth tree); epsilon = 1 is enough",
        "One reading.",
        "Not a history.",
        "all 10,000 of them by 10,000 times epsilon",
        "Scaling statistics.",
        "Activity.",
    ):
        assert words in text


def test_an_epsilon_that_is_too_small_is_called_so(file, call):
    words = ("--dim", 3, "--horizon", HORIZON, "--epsilon", 0.1)
    _, told = call("privacy", "advise", file, *words)
    assert "epsilon = 0.1 is too little for that: learn alone" in " ".join(told.out.split())


def test_json_has_the_same_numbers(file, call, rows):
    words = ("--dim", 3, "--horizon", HORIZON, "--json")
    status, told = call("privacy", "advise", file, *words)
    found = json.loads(told.out)
    assert status == 0
    assert {"agents", "edges", "dim", "horizon", "epsilon", "delta"} <= set(found)
    for one in found["mechanisms"]:
        row = rows[one["mechanism"], one["law"]]
        assert one["noise"] == row.noise
        assert one["bound"] == (row.pays_above is not None)
        assert one["pays_above"] == row.pays_above
    assert found["noiseless_gain"] == noiseless_gain(EVEN)
    assert len(found["covered"]) == 2
    assert len(found["not_covered"]) == 3


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--dim", 0, "--horizon", 9), "dim must be a whole number of at least 1, got 0"),
        (("--dim", 1, "--horizon", 0), "horizon must be a whole number of at least 1, got 0"),
        (("--dim", 1, "--horizon", 9, "--delta", 2), "delta must be between 0 and 1"),
    ],
)
def test_bad_numbers_are_one_sentence(file, call, words, complaint):
    status, told = call("privacy", "advise", file, *words)
    assert (status, told.out) == (2, "")
    assert complaint in told.err


def test_a_file_that_is_not_there_is_one_sentence(tmp_path, call):
    words = ("--dim", 1, "--horizon", 9)
    status, told = call("privacy", "advise", tmp_path / "none.csv", *words)
    assert status == 2
    assert told.err.startswith("mtcool: path must be a file")
