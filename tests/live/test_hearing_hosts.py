"""Who has told what rests on noise remembers how much was drawn, whatever is killed then."""

import asyncio

import numpy as np

from live.small_network import PRIVATE, opened, small
from mtcool.live.journals import replay_files

ROW = [0.1, 0.1]


def test_a_prediction_is_told_when_it_is_durable_how_much_noise_it_rests_on(tmp_path):
    network = small(tmp_path, agents=4, hosts=2, journal=True, **PRIVATE)

    async def play() -> None:
        async with opened(network) as nodes:
            drawer, reader = nodes["host0"], nodes["host1"]
            while not drawer.host.links["host1"].greeted:
                await asyncio.sleep(0.01)
            for k in range(1, 4):
                await drawer.learn(1, ROW, 1.0)
                await reader.predict(2, ROW, timeout=5.0)
                assert reader._engine.store.read().links["host0"].heard == k
            assert await drawer.delivered(60.0)  # nothing comes in between
            asked = reader.host.begin(2, np.array(ROW))
            reply = drawer.host.answer("host1", asked.questions["host0"])
            assert reply is not None
            reader.host.predict(asked.number, {"host0": reply})
            assert not reader.host.urgent  # nothing was drawn meanwhile, and nothing must wait

    asyncio.run(play())
    again = replay_files(sorted((tmp_path / "state").glob("*.db")))
    assert (again.differences, again.same) == ([], again.predictions)
