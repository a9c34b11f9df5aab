"""`mtcool up --host NAME` says so when its host is taken out of the file."""

from __future__ import annotations

import asyncio
import os

from mtcool.live.config import read_description
from mtcool.live.up import supervisor


def text(hosts, revision):
    return (
        f'name = "test"\nrevision = {revision}\nlearn = {{features = ["x"]}}\n'
        'security = {tls = false}\n[graph]\nkind = "edges"\n'
        f"agents = {hosts}\n"
        + "".join(f'[hosts.h{k}]\nagents = [{k}]\nlisten = "127.0.0.1:{9 + k}"\n' for k in hosts)
    )


def test_a_host_that_is_in_the_file_no_more_and_cannot_read_it_is_told_of_once(tmp_path):
    path, told, times = tmp_path / "network.toml", [], iter(range(9))

    def write(content):
        path.write_text(content)
        os.utime(path, (next(times),) * 2)

    write(text([0, 1, 2], 0))

    async def run():
        running = supervisor.Running(path, read_description(path), ["h0"], told.append)
        running.status["h0"] = {"revision": 0}  # it refuses the file that it is not in
        for content in (text([0, 1], 1), "name = 1", text([1, 2], 0)):  # it may still read these
            write(content)
            await running.notice()
            assert told == []
        write(text([1, 2], 1))
        for _ in range(3):
            await running.notice()

    asyncio.run(run())
    assert told == [
        "host h0 is in the file no more: it cannot read it again, and goes on as it was; "
        "Ctrl-C stops it"
    ]
