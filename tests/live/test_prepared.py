"""What a round needs no replies for is done while they are waited for, and changes nothing."""

import asyncio
from pathlib import Path

import numpy as np

from live.small_network import KT, opened, small
from mtcool.live.agents import Prediction
from mtcool.live.config import drivers_of
from mtcool.live.host import Host

LOSS = {"algorithm": {"dim": 2, "loss": "squared", "lipschitz": 8.0, **KT}}
ROW = np.array([0.5, -0.25])


def host_of(folder: Path) -> Host:
    network = small(folder, agents=3, hosts=3, **LOSS)
    name = next(iter(network.places))
    host = Host(network.share(name), {0: drivers_of(network)(0)})
    host.committed(host.changes())
    return host


def learned(host: Host) -> None:
    number = host.begin(0, ROW).number
    host.predict(number, {})
    host.learn(number, 1.0, None)


def test_a_round_that_was_prepared_predicts_the_same(tmp_path: Path) -> None:
    def said(prepared: bool) -> Prediction:
        host = host_of(tmp_path)
        learned(host)
        number = host.begin(0, ROW).number
        if prepared:
            host.prepare(number)
        return host.predict(number, {})

    assert said(prepared=True) == said(prepared=False)
    assert said(prepared=True).alone != 0.0


def test_what_was_prepared_is_done_again_if_the_agent_has_learned_since(tmp_path: Path) -> None:
    def said(prepared: bool) -> Prediction:
        host = host_of(tmp_path)
        number = host.begin(0, ROW).number
        if prepared:
            host.prepare(number)
        learned(host)
        return host.predict(number, {})

    assert said(prepared=True) == said(prepared=False)
    assert said(prepared=True).alone != 0.0


def test_a_round_that_is_over_needs_no_preparation(tmp_path: Path) -> None:
    host = host_of(tmp_path)
    number = host.begin(0, ROW).number
    host.forget(number)
    host.prepare(number)


def test_nodes_prepare_before_replies_come(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        async with opened(small(tmp_path, agents=3, hosts=3, **LOSS)) as nodes:
            host, happened = next(iter(nodes.values())).host, list[str]()
            prepare, predict = host.prepare, host.predict
            host.prepare = lambda *given: happened.append("prepare") or prepare(*given)
            host.predict = lambda *given: happened.append("predict") or predict(*given)
            await next(iter(nodes.values())).predict(0, ROW)
            return happened

    assert asyncio.run(scenario()) == ["prepare", "predict"]
