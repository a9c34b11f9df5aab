"""Every algorithm runs live, and comes out as the simulator says, bit for bit.

Two of them compiled, all of them uncompiled (`tests/field/test_uncompiled.py`): compiling each
would take a minute.
"""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from numba import config

from live.small_network import greeted, opened
from mtcool.live.config import Description, described, model_of, network_of
from mtcool.network import Network
from mtcool.streams import Loss
from mtcool.streams.kinds import kind_of

AGENTS, HOSTS, ROUNDS = 4, 2, 20
SQUARED = {"dim": 1, "loss": "squared"}
ALGORITHMS = {
    "i-FTRL": {"algorithm": "i_ftrl"},
    "ST-FTRL": {"algorithm": "st_ftrl"},
    "pairwise": {"algorithm": "pairwise"},
    "delegation": {"weights": "delegation"},
    "delegation, geometric experts": {"weights": "delegation", "experts": "geometric"},
    "delegation, KT": {"weights": "delegation", "learner": "MTFTRLKT"},
    "delegation, adaptive Lipschitz constant": {"weights": "delegation", "lipschitz": "adaptive"},
    "adaptive Lipschitz constant": {"lipschitz": "adaptive"},
    "i-FTRL, adaptive Lipschitz constant": {"algorithm": "i_ftrl", "lipschitz": "adaptive"},
    "ST-FTRL, adaptive Lipschitz constant": {"algorithm": "st_ftrl", "lipschitz": "adaptive"},
}
IN_THE_FIELD = {
    "experts": {},
    "geometric experts": {"experts": "geometric"},
    "adaptive rates": {"rates": "adaptive"},
    "KT": {"learner": "MTFTRLKT"},
    "KT, adaptive rates": {"learner": "MTFTRLKT", "rates": "adaptive"},
}
"""MT-CO2OL with uniform weights: its graph may change while it runs."""
PLAYED = {
    name: table
    for name, table in (ALGORITHMS | IN_THE_FIELD).items()
    if config.DISABLE_JIT or name in ("delegation, KT", "KT, adaptive rates")
}
PRIVATE = {
    "algorithm": SQUARED | {"algorithm": "dpmt_co2ol", "law": "gaussian"},
    "privacy": {"epsilon": 1.0, "horizon": 50, "noise": "simulated"},
}


def ring(folder: Path, table: dict[str, object]) -> Description:
    table = table | {"name": "every", "graph": {"kind": "ring", "agents": AGENTS}}
    patient = {"timing": {"rows": 5.0, "delivery": 5.0}, "shards": {"count": HOSTS}}
    return described(table | patient, folder)


def rows() -> list[tuple[int, np.ndarray, float]]:
    """Rows in a random order of the agents."""
    chance = np.random.default_rng(4)
    return [
        (int(chance.integers(AGENTS)), chance.uniform(-1.0, 1.0, 1), chance.uniform(-1.0, 1.0))
        for _ in range(ROUNDS)
    ]


async def lived(network: Description) -> list[float]:
    """The predictions of a live network, whose messages arrive before the next round begins.

    Halfway all hosts stop, and go on from their databases.
    """
    said, middle = [], ROUNDS // 2
    for half in (rows()[:middle], rows()[middle:]):
        async with opened(network) as nodes:
            await greeted(*nodes.values())  # private agents wait for it, too
            for agent, x, y in half:
                node = nodes[network.home[agent]]
                prediction = await node.predict(agent, x)
                assert prediction.old == prediction.missing == ()
                said.append(prediction.value)
                await node.learn(agent, x, y)
                assert await node.delivered()
            assert not any(node.host.refused for node in nodes.values())
    return said


def simulated(block: Network) -> list[float]:
    """What the same algorithm predicts as one block."""
    kind, said = kind_of("squared"), []
    for agent, x, y in rows():
        weight = block.predict(agent)
        said.append(float(weight @ x))
        at = Loss(kind, np.append(x, y)).subgradient
        block.update(agent, at if str(block.settings.algorithm) == "st_ftrl" else at(weight))
    return said


@pytest.mark.parametrize("table", PLAYED.values(), ids=PLAYED)
def test_a_live_network_equals_the_simulator(tmp_path: Path, table: dict[str, object]) -> None:
    network = ring(tmp_path, {"algorithm": SQUARED | table})
    found = asyncio.run(lived(network))
    assert found == simulated(network_of(network))
    assert len(set(found)) > ROUNDS / 2


class Chosen:
    """Noise that nobody has to draw: it depends on its scale alone, not on who asks first."""

    grid = 0.0

    def draw(self, law: str, scales: np.ndarray) -> np.ndarray:
        return np.sin(1e3 * scales) * scales

    def keep(self, used: int) -> None:
        pass

    def state(self) -> None:
        return None


def test_private_agents_equal_the_simulator_with_the_same_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("agents.private", "algorithms.making", "peers.private_exchange"):
        monkeypatch.setattr(f"mtcool.{place}.make_noise", lambda *_: Chosen())
    network = ring(tmp_path, PRIVATE)
    found = asyncio.run(lived(network))
    assert found == simulated(network_of(network))
    assert len(set(found)) > ROUNDS / 2


@pytest.mark.parametrize("share", ["gradients", "rows"])
def test_a_live_network_for_tables_equals_the_simulator(tmp_path: Path, share: str) -> None:
    network = ring(tmp_path, {"learn": {"features": ["x"], "share": share}})
    model, said = model_of(network), []
    for agent, x, y in rows():
        said.append(float(model.predict_one(agent, x)))
        model.learn_one(agent, x, y)
    assert asyncio.run(lived(network)) == said
