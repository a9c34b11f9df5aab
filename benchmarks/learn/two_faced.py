"""Neighbours with two faces, on schools: garbage when a row is predicted, the truth afterwards.

Three in ten agents learn as honest ones do, and answer so when others learn. Whoever predicts hears
the garbage of `attack.py` from them. Targets come late: up to so many rows of an agent are under
way when it predicts another. `python -m benchmarks.learn.two_faced` prints what that costs, and
what it would if agents booked what they would say when they learn, not what they said.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.learn.attack import DRAWS, Flags, lie, stage
from benchmarks.learn.hostile import HOSTILE
from benchmarks.learn.problem import Problem, problems
from mtcool.kernels import kernel
from mtcool.learn.stored_predictions import nothing_said
from mtcool.learners.panel.fields import ROWS
from mtcool.learners.panel.play import play
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats, Integers

UNDER_WAY = (0, 1, 5, 20)


class Cost(NamedTuple):
    """What sharing has cost the honest agents."""

    over_alone: float
    """Their error over that of learning alone."""
    largest: float
    """Of one agent from its third row on, in variances of its targets."""


def main() -> None:
    """Print what neighbours with two faces cost: means over the orders, and the most of all."""
    for late in UNDER_WAY:
        print(f"{late} under way: {measured(late, True)}; {measured(late, False)} if booked late")


def measured(late: int, booked: bool) -> str:
    """What they cost over all orders."""
    every = enumerate(problems("schools", False))
    costs = [attacked(problem, seed, late, booked) for seed, problem in every]
    ratio, largest = np.mean([cost.over_alone for cost in costs]), max(c.largest for c in costs)
    return f"{ratio:.2f} of alone, {largest:.0f} variances"


def attacked(problem: Problem, seed: int, late: int, booked: bool) -> Cost:
    """Play one order of the rows."""
    size = problem.graph.size
    hostile = np.random.default_rng(seed).permutation(size) < HOSTILE * size
    out, known = play_two_faced(problem, hostile, late, booked)
    y, agent = problem.target, problem.agent
    loss, alone = (out[:, 0] - y) ** 2, (out[:, 1] - y) ** 2
    counted = ~hostile[agent] & (known >= 1)
    later = ~hostile[agent] & (known >= 2)
    cost = np.bincount(agent, later * (loss - alone), minlength=size)
    rows, total = (np.bincount(agent, part, minlength=size) for part in (None, y))
    variance = np.bincount(agent, (y - (total / rows)[agent]) ** 2) / rows
    return Cost(loss[counted].sum() / alone[counted].sum(), (cost / variance).max())


def play_two_faced(
    problem: Problem, hostile: Flags, late: int, booked: bool
) -> tuple[Floats, Floats]:
    """What was predicted, and how many rows its agent had learned from by then."""
    panel, agents, liars, draws, scale = stage(problem, hostile, "gradients")
    count = len(problem.target)
    said, out = nothing_said(count), np.full((count, 3), np.nan)
    features, known = np.ascontiguousarray(problem.features), np.empty(count)
    told = panel.number, panel.vector, panel.scatter
    for t, event in enumerate(late_events(problem.agent, late).tolist()):
        if event >= 0:
            i = agents[event]
            known[event] = panel.number[i, ROWS]
            them = panel.idx[panel.ptr[i] : panel.ptr[i + 1]]
            them = them[liars[them] & ~liars[i]]
            truth = [part[them] for part in told]
            for j in them:
                write_lie(panel, j, draws[(t + j) % DRAWS], scale)
            play(panel, agents, features, problem.target, np.array([event]), said, out)
            for part, kept in zip(told, truth, strict=True):
                part[them] = kept
        else:
            if not booked:
                said[~event] = np.nan
            play(panel, agents, features, problem.target, np.array([event]), said, out)
    return out, known


def late_events(agents: Integers, late: int) -> Integers:
    """Predict in order; learn from a row when its agent has predicted so many more."""
    events: list[int] = []
    waiting: dict[int, list[int]] = {}
    for row, agent in enumerate(agents.tolist()):
        rows = waiting.setdefault(agent, [])
        rows.append(row)
        events.append(row)
        if len(rows) > late:
            events.append(~rows.pop(0))
    return np.array(events + [~row for rows in waiting.values() for row in rows])


@kernel
def write_lie(panel: Panel, agent: int, draw: Floats, scale: Floats) -> None:
    """As hostile agents do."""
    lie(panel, agent, draw, scale)


if __name__ == "__main__":
    main()
