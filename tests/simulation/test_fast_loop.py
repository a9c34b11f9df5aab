"""`simulate` plays what the ask/tell loop plays, and compiled code what the interpreter plays."""

import json
import os
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import mtcool
from mtcool import streams
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT

SIZE, DIM, ROUNDS = 6, 2, 600
TIMES = [1, 17, 256, 257, 600]
GRAPH = nx.gnp_random_graph(SIZE, 0.5, seed=4)


def a_stream(kind, rounds=ROUNDS):
    """Losses of the given kind around tasks that differ, so that the clipped rows matter."""
    rng = np.random.default_rng(0)
    tasks = rng.standard_normal((SIZE, DIM)) / 2
    agents = rng.integers(SIZE, size=rounds)
    features = rng.standard_normal((rounds, DIM)) / 2
    target = (features * tasks[agents]).sum(axis=1) + 0.1 * rng.standard_normal(rounds)
    if kind == "quadratic":
        losses = streams.quadratic(tasks[agents] + 0.3 * rng.standard_normal((rounds, DIM)))
    elif kind == "squared":
        losses = streams.squared(features, target)
    else:
        losses = getattr(streams, kind)(features, np.where(target > 0, 1.0, -1.0))
    return streams.Stream(agents, losses, comparator=tasks)


def sparse_weights():
    """Everybody listens to oneself and the next neighbour only: most weights are zero."""
    weights = np.zeros((SIZE, SIZE))
    for i in GRAPH:
        near = sorted({i, *GRAPH.neighbors(i)})
        weights[i, i] += 0.4
        weights[i, near[-1]] += 0.6
    return weights


def others_heard(weights):
    """How many agents other than oneself everybody gives weight to."""
    return np.count_nonzero(weights - np.diag(np.diag(weights)), axis=1)


DEGREES = np.array([GRAPH.degree(i) for i in range(SIZE)])

# Algorithm, settings, kind of loss, messages of an activation.
CASES = {
    "mt_co2ol Hedge": (mtcool.mt_co2ol, {"learner": MTFTRL()}, "quadratic", 3 * DEGREES),
    "mt_co2ol KT": (mtcool.mt_co2ol, {"learner": MTFTRLKT()}, "logistic", 3 * DEGREES),
    "mt_co2ol sparse": (
        mtcool.mt_co2ol,
        {"learner": MTFTRLKT(), "weights": sparse_weights()},
        "logistic",
        3 * others_heard(sparse_weights()),
    ),
    "pairwise": (mtcool.pairwise, {"learner": MTFTRLKT()}, "logistic", DEGREES),
    "i_ftrl FTRL": (mtcool.i_ftrl, {"learner": FTRL()}, "absolute", 0 * DEGREES),
    "i_ftrl KT": (mtcool.i_ftrl, {"learner": KT()}, "hinge", 0 * DEGREES),
    "st_ftrl FTRL": (mtcool.st_ftrl, {"learner": FTRL()}, "quadratic", DEGREES),
    "st_ftrl KT": (mtcool.st_ftrl, {"learner": KT()}, "squared", DEGREES),
}


def ask_and_tell(net, stream):
    """Losses and regrets of every round, by the public methods one at a time."""
    paid, regret = np.empty((2, len(stream)))
    for t, (agent, loss) in enumerate(stream):
        x = net.predict(agent)
        paid[t], gradient = loss(x)
        regret[t] = paid[t] - loss.value(stream.comparator[agent])
        net.update(
            agent, loss.subgradient if net.settings.algorithm.name == "st_ftrl" else gradient
        )
    return paid, regret


def make(case):
    algorithm, settings, kind, _ = CASES[case]
    # KT leaves the ball, where the gradients of some losses grow beyond any constant.
    return algorithm(GRAPH, DIM, lipschitz=3.0, radius=1.5, on_excess="clip", **settings), a_stream(
        kind
    )


@pytest.mark.parametrize("case", CASES)
def test_simulate_equals_ask_and_tell_for_every_kind_of_loss(case):
    """Over many chunks, with clipping; `mtcool.testing` checks all peers on short streams."""
    fast, stream = make(case)
    slow, _ = make(case)
    trace = mtcool.simulate(fast, stream, times=TIMES, per_agent=True)
    paid, regret = ask_and_tell(slow, stream)
    by_agent = np.arange(SIZE) == stream.agents[:, None]
    for k, t in enumerate(TIMES):
        expected = {
            "loss": paid[:t].sum(),
            "regret": regret[:t].sum(),
            "agent_loss": paid[:t] @ by_agent[:t],
            "agent_regret": regret[:t] @ by_agent[:t],
            "agent_activations": by_agent[:t].sum(axis=0),
            "messages": CASES[case][3][stream.agents[:t]].sum(),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(
                getattr(trace, name)[k], value, rtol=1e-12, atol=1e-12, err_msg=name
            )
    np.testing.assert_array_equal(trace.times, TIMES)
    for agent in GRAPH:
        np.testing.assert_array_equal(fast.predict(agent), slow.predict(agent))


SCRIPT = """
import json, sys
sys.path.insert(0, {folder!r})
from test_fast_loop import numbers
print(json.dumps(numbers()))
"""


def numbers():
    """Losses and last predictions of short runs; called here and by an interpreter without JIT."""
    out = {"opposite tasks 1": opposite_tasks(1), "opposite tasks 2": opposite_tasks(2)}
    for case in ("mt_co2ol KT", "i_ftrl FTRL", "st_ftrl KT"):
        net, stream = make(case)
        trace = mtcool.simulate(net, stream[:60], times=[20, 60])
        net.update(0, (lambda x: 0.1 * x + 0.2) if case.startswith("st") else [0.1, 0.2])
        out[case] = trace.loss.tolist() + flat(net.predict(agent) for agent in GRAPH)
    return out


def opposite_tasks(dim):
    """Predictions of Hedge for three agents; on the line all rows of some experts are clipped."""
    net, predictions = mtcool.mt_co2ol(nx.complete_graph(3), dim), []
    for t in range(30):
        gradient = np.full(dim, 0.7) if t % 3 else np.eye(dim)[0] * -1.0
        net.update(t % 3, gradient)
        predictions += flat(net.predict(agent) for agent in range(3))
    return predictions


def flat(points):
    return [float(x) for point in points for x in point]


def test_the_interpreter_gives_the_numbers_of_the_compiler():
    plain = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT.format(folder=os.path.dirname(__file__))],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr
    interpreted, compiled = json.loads(plain.stdout), numbers()
    assert interpreted.keys() == compiled.keys()
    for case, values in compiled.items():
        np.testing.assert_allclose(interpreted[case], values, rtol=1e-12, atol=1e-12, err_msg=case)
