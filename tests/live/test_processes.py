"""Eight real processes over zenoh with TLS: what they do is what the simulator does."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from live.processes import running, write_network
from mtcool import graphs
from mtcool.learn import Model
from mtcool.live.journals import replay_files

AGENTS = 8
HOSTS = [f"h{k}" for k in range(AGENTS)]


class Ring:
    """A ring of processes, and the simulator that sees the same."""

    def __init__(self, path, children):
        self.path, self.children = path, children
        self.model = Model(graphs.ring(AGENTS))
        self.model.expect_features(2)
        self.numbers = np.random.default_rng(5)
        self.learned = dict.fromkeys(range(AGENTS), 0)

    def row(self):
        return self.numbers.normal(size=2), float(self.numbers.normal())

    def simulate(self, agent, x, y):
        said = self.model.predict_one(agent, x)
        self.model.learn_one(agent, x, y)
        self.learned[agent] += 1
        return float(said)

    def round(self, agent):
        """One activation here and there, acknowledgements awaited."""
        x, y = self.row()
        child = self.children[HOSTS[agent]]
        reply = child.ask(do="round", agent=agent, features=x.tolist(), target=y)
        assert reply["old"] == reply["missing"] == [], reply
        assert reply["value"] == self.simulate(agent, x, y)
        assert child.ask(do="delivered")["delivered"]

    def round_with_a_kill(self, agent, after):
        """The process of the agent dies at any point of the activation, and begins again."""
        x, y = self.row()
        child = self.children[HOSTS[agent]]
        child.write(do="round", agent=agent, features=x.tolist(), target=y)
        time.sleep(after)
        child.kill()
        child.begin()
        child.wait_until_ready()
        self.wait_until_heard(agent)
        if child.activations(agent) == self.learned[agent]:  # it was too early: again
            reply = child.ask(do="round", agent=agent, features=x.tolist(), target=y)
            assert reply["value"] == self.simulate(agent, x, y)
        else:
            self.simulate(agent, x, y)
        assert child.ask(do="delivered")["delivered"]

    def wait_until_heard(self, agent):
        """Until the agent and its neighbours hear each other again."""
        for one in (agent, (agent - 1) % AGENTS, (agent + 1) % AGENTS):
            end = time.monotonic() + 20
            while True:
                said = self.children[HOSTS[one]].ask(do="predict", agent=one, features=[0.0, 0.0])
                if said["old"] == said["missing"] == []:
                    break
                assert time.monotonic() < end, f"{one} does not hear {said}"
                time.sleep(0.02)


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    table = {
        "graph": {"kind": "ring", "agents": AGENTS},
        "learn": {"features": ["x", "y"]},
        "timing": {"rows": 5.0, "delivery": 5.0, "lease": 20.0},
    }
    path = write_network(
        tmp_path_factory.mktemp("ring"), table, {name: [k] for k, name in enumerate(HOSTS)}
    )
    with running(path, HOSTS) as children:
        ring = Ring(path, children)
        for agent in range(0, AGENTS, 3):
            ring.wait_until_heard(agent)
        yield ring


def test_the_ring_equals_the_simulator_bit_for_bit_killed_or_not(ring):
    chance = random.Random(3)
    for k in range(40):
        ring.round(chance.randrange(AGENTS))
        if k % 13 == 5:
            ring.round_with_a_kill(chance.randrange(AGENTS), chance.uniform(0.0, 0.01))
    found = replay_files([ring.path.parent / "state" / f"{name}.db" for name in HOSTS])
    assert (found.lost, found.twice, found.differences) == (0, 0, [])
    assert found.same == found.predictions >= 40


def test_a_stopped_neighbour_does_not_block_and_is_named_as_old(ring):
    ring.round(4)
    stopped = ring.children[HOSTS[3]].process
    stopped.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        said = ring.children[HOSTS[4]].ask(do="predict", agent=4, features=[1.0, 0.0], timeout=0.3)
        took = time.monotonic() - began
        _, y = ring.row()  # learning does not wait for it, either
        child = ring.children[HOSTS[4]]
        child.ask(do="learn", agent=4, features=[1.0, 0.0], target=y)
        waits = child.ask(do="status")["status"]["links"][HOSTS[3]]
    finally:
        stopped.send_signal(signal.SIGCONT)
    assert (said["old"], said["missing"]) == ([3], [])
    assert 0.25 < took < 1.5
    assert waits["outbox"] == 1
    assert not waits["answers"]
    ring.simulate(4, np.array([1.0, 0.0]), y)
    assert child.ask(do="delivered")["delivered"]
    ring.wait_until_heard(4)
    ring.round(3)  # it has learned from what it missed


def test_an_agent_answers_again_after_two_seconds_of_a_processor(ring):
    """Other work on the machine does not count: what is measured is the process itself."""
    child = ring.children[HOSTS[6]]
    child.kill()
    child.begin()
    child.wait_until_ready()
    assert "value" in child.ask(do="predict", agent=6, features=[0.0, 0.0])
    times = Path(f"/proc/{child.process.pid}/stat").read_text().rpartition(")")[2].split()
    took = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
    ring.wait_until_heard(6)
    assert took < 2.0


def test_the_state_can_be_seen_while_it_runs(ring):
    ring.round(2)
    told = subprocess.run(
        [sys.executable, "-m", "mtcool", "status", ring.path],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert all(name in told for name in HOSTS)
    assert "well" in told
    state = ring.path.parent / "state"
    with sqlite3.connect(state / "h2.db") as base:
        (count,) = base.execute("select count(*) from journal").fetchone()
    assert count > 0
    assert {path.stat().st_mode & 0o077 for path in state.iterdir()} == {0}


def test_a_second_process_of_a_host_is_refused(ring):
    done = subprocess.run(
        [sys.executable, "-m", "mtcool", "node", ring.path, "--host", "h0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "which another process has" in done.stderr
