"""Hostile messages to agents of all kinds: refused without a trace, or the agent plays on."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mtcool
from mtcool.agents import FieldGradient, Gradient, RowRequest, Sums
from mtcool.agents.messages import brief
from mtcool.learners import MTFTRLKT
from mtcool.live.agents import GradientDriver, Near

ROOT = Path(__file__).parents[2]
FIELD = {"learner": MTFTRLKT(), "rates": "adaptive", "messages": mtcool.Messages()}


def test_crafted_messages_are_refused_without_a_trace_or_the_agent_plays_on():
    """`make fuzz` sends ten thousand to each kind; uncompiled, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz_messages", "200", "1"],
        cwd=ROOT,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = {word: sum(map(int, re.findall(rf"'{word}': (\d+)", done.stdout))) for word in WORDS}
    assert all(count > 20 for count in told.values()), told


WORDS = ("accepted", "answered", "refused", "refused as an answer", "not understood")


@pytest.mark.parametrize("wrong", [{"number": 0.5}, {"stamp": 9.0}, {"content": b"short"}])
def test_a_gradient_that_is_refused_raises_no_bound(wrong):
    """Of an agent that was not told of every change of its graph, and expects larger weights."""
    driver = GradientDriver(mtcool.mt_co2ol(mtcool.graphs.ring(4), 1, **FIELD).agent(0))
    driver.meet([Near(1, 1, 2), Near(3, 3, 2)], skipped=True)
    before = driver.keep()
    told = {"number": 1.0, "weight": 0.5, "stamp": 0.0, "content": np.ones(1).tobytes()}
    with pytest.raises(ValueError, match="must"):
        driver.receive(FieldGradient(1, **told | wrong))
    assert driver.keep() == before
    driver.receive(FieldGradient(1, **told))
    assert driver.keep() != before


@pytest.mark.parametrize(
    "message", [Gradient(1, 1.0, np.zeros(999)), Sums(1, 1.0, np.zeros(999), np.zeros(999))]
)
@pytest.mark.parametrize("make", [mtcool.mt_co2ol, mtcool.st_ftrl])
def test_a_refusal_does_not_write_out_what_is_refused(make, message):
    """That takes far longer than to send it."""
    agent = make(
        mtcool.graphs.ring(4), 1, learner=None if make is mtcool.st_ftrl else MTFTRLKT()
    ).agent(0)
    with pytest.raises(ValueError, match="must") as refused:
        agent.receive(message)
    assert len(str(refused.value)) < 120
    assert brief(RowRequest("x" * 10**6)) == f"a RowRequest of '{'x' * 59}"
