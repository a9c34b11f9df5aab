"""What applications give to a node: refused in a sentence before anything changes, or learned."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from live.small_network import KT, opened, small
from mtcool.live import Node
from mtcool.live.journals import replay_files
from mtcool.streams import Loss, Quadratic, subgradient, value, width

GRADIENTS = {
    "long": np.array([0.25, 0.5], dtype=np.longdouble),
    "fractions": np.array([Fraction(1, 4), Fraction(1, 2)], dtype=object),
    "short": np.array([0.25, 0.5], dtype=np.float16),
    "list": [0.25, 0.5],
    "whole": (0, 1),
}
NO_GRADIENTS = {
    "words": ["a", "b"],
    "numerals": np.array(["0.1", "0.1"]),
    "ragged": [[0.1], [0.1, 0.2]],
    "endless": [np.inf, 0.1],
    "unknown": [np.nan, 0.1],
    "masked": np.ma.array([0.1, 0.1], mask=[0, 1]),
    "thing": object(),
    "number": 0.5,
    "three": [0.1, 0.1, 0.1],
}
NO_FEATURES = {
    "words": ["a", 1.0],
    "ragged": [[1.0], [1.0, 2.0]],
    "endless": [np.inf, 1.0],
    "thing": object(),
    "three": [1.0, 2.0, 3.0],
    "names": {"a": "x"},
}


class Tenth(NamedTuple):
    """A kind of loss that is not the package's own: a tenth of a linear one."""


@width.register
def _(kind: Tenth, dim):
    return dim


@value.register
def _(kind: Tenth, row, x):
    return 0.1 * row[0] * x[0]


@subgradient.register
def _(kind: Tenth, row, x, out):
    for k in range(x.shape[0]):
        out[k] = 0.1 * row[k]


def seen(node: Node) -> tuple[object, ...]:
    host = node.host
    return host.version, dict(host.learned), [driver.keep() for driver in host.drivers.values()]


def test_gradients_are_taken_as_numbers_or_refused_untouched(tmp_path: Path) -> None:
    network = small(tmp_path, hosts=2, agents=4, algorithm={"dim": 2, **KT}, journal=True)

    async def play() -> None:
        async with opened(network) as nodes:
            node = nodes["host0"]
            for gradient in GRADIENTS.values():
                await node.predict(0)
                await node.update(0, gradient)
            await node.predict(0)
            before = seen(node)
            for wrong in NO_GRADIENTS.values():
                with pytest.raises(ValueError, match="gradient must"):
                    await node.update(0, wrong)
                assert seen(node) == before
            with pytest.raises(ValueError, match=r"loss must be one of .*, got Tenth\(\)"):
                await node.update(0, Loss(Tenth(), np.array([0.1, 0.2])))
            assert seen(node) == before
            await node.update(0, Loss(Quadratic(), np.array([0.1, 0.2])))
            for each in nodes.values():
                assert await each.delivered(20.0)

    asyncio.run(play())
    again = replay_files(sorted((tmp_path / "state").glob("*.db")))
    assert (again.learned, again.lost, again.differences) == (len(GRADIENTS) + 1, 0, [])
    assert again.same == again.predictions


def test_a_loss_of_ones_own_is_learned_from_where_no_journal_is_written(tmp_path: Path) -> None:
    async def play() -> None:
        async with opened(small(tmp_path, hosts=1, algorithm={"dim": 2, **KT})) as nodes:
            (node,) = nodes.values()
            await node.update(0, Loss(Tenth(), np.array([0.1, 0.2])))
            assert node.host.learned[0] == 1

    asyncio.run(play())


def test_features_are_refused_by_name_and_value(tmp_path: Path) -> None:
    async def play() -> None:
        async with opened(small(tmp_path, hosts=1)) as nodes:
            (node,) = nodes.values()
            before = seen(node)
            for wrong in NO_FEATURES.values():
                with pytest.raises(ValueError, match=r"features must .*, got"):
                    await node.learn(0, wrong, 1.0)
                with pytest.raises(ValueError, match=r"features must .*, got"):
                    await node.predict(0, wrong)
            with pytest.raises(ValueError, match="finite"):
                await node.predict(0, [np.inf, 1.0])
            for nobody in ([0], ([0],), {}, 9, None):
                with pytest.raises(ValueError, match="agent must live on host 'host0', got"):
                    await node.predict(nobody, [1.0, 1.0])
            assert seen(node) == before
            await node.learn(0, [None, 1.0], 1.0)  # a missing number is none to refuse
            await node.learn(0, {"b": 1}, 1.0)

    asyncio.run(play())


def test_a_row_that_its_caller_changes_meanwhile_is_the_one_that_was_given(tmp_path: Path) -> None:
    async def play() -> None:
        async with opened(small(tmp_path, hosts=1)) as nodes:
            (node,) = nodes.values()
            row = np.array([1.0, 2.0])
            await node.predict(0, row)
            row[:] = 9.0
            rounds = node.host.rounds
            await node.learn(0, [1.0, 2.0], 1.0)
            assert node.host.rounds == rounds  # it is known: nothing was predicted anew

    asyncio.run(play())
