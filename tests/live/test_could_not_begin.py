"""A node that could not begin says by its status whether that may pass: systemd acts on it."""

from __future__ import annotations

import configparser
import contextlib
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from live.ports import free_ports
from mtcool.cli.errors import MAY_PASS, WRONG

UNIT = Path(__file__).parents[2] / "examples" / "live" / "mtcool@.service"


@contextlib.contextmanager
def full_disk(path: Path, port: int) -> Iterator[dict]:
    """Files may have 4,000 bytes, which is less than a database needs."""
    yield {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))}


@contextlib.contextmanager
def taken_port(path: Path, port: int) -> Iterator[dict]:
    with socket.create_server(("127.0.0.1", port)):
        yield {}


@contextlib.contextmanager
def missing_file(path: Path, port: int) -> Iterator[dict]:
    path.unlink()
    yield {}


@contextlib.contextmanager
def no_database(path: Path, port: int) -> Iterator[dict]:
    (path.parent / "state").mkdir()
    (path.parent / "state" / "host0.db").write_text("this is something else" * 100)
    yield {}


@pytest.mark.parametrize(
    ("wrong", "status", "words"),
    [
        (full_disk, MAY_PASS, "host0.db' could not be opened"),
        (taken_port, MAY_PASS, "listen must be an address that is free"),
        (missing_file, WRONG, "network.toml: No such file"),
        (no_database, WRONG, "database must be one"),
    ],
)
def test_a_node_ends_with_1_if_it_may_begin_later_and_with_2_if_not(
    tmp_path: Path, wrong, status: int, words: str
) -> None:
    path, ports = tmp_path / "network.toml", free_ports(2)
    path.write_text(
        'name = "test"\ngraph = {kind = "ring", agents = 4}\nlearn = {features = ["x"]}\n'
        f"security = {{tls = false}}\nshards = {{count = 2, port = {ports[0]}}}\n"
    )
    command = [sys.executable, "-m", "mtcool", "node", path, "--host", "host0"]
    with wrong(path, ports[0]) as more:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, check=False, **more
        )
    assert done.returncode == status, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_systemd_tries_again_what_may_pass_however_often_and_nothing_else() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(UNIT)
    assert unit["Service"]["Restart"] == "always"
    assert unit["Service"]["RestartPreventExitStatus"] == str(WRONG)
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"
