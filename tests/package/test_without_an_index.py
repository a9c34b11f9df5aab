"""Where pip cannot reach an index, the tests fail with a sentence, and soon."""

import os
import time

import pytest

from live.ports import free_ports
from package.environments import Environments, NotInstalled, install, make, pip

pytestmark = pytest.mark.package


@pytest.fixture
def nowhere(monkeypatch):
    """An index at a port where nobody listens, and no other place to look."""
    (port,) = free_ports(1)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_it_is_said_that_there_is_no_index(nowhere, tmp_path):
    began = time.monotonic()
    with pytest.raises(NotInstalled, match=r"can it reach a package index\? ERROR: .*mtcool-none"):
        install(make(tmp_path / "here"), "mtcool-none", tmp_path / "log")
    assert time.monotonic() - began < 150.0  # two minutes are what pip has for an index


def test_no_environment_is_made_after_the_core_has_failed(nowhere, tmp_path):
    made = Environments(tmp_path / "missing.whl", tmp_path, ["live", "docs"], print)
    with pytest.raises(NotInstalled):
        made["docs"]
    made.close()
    assert [path.name for path in tmp_path.glob("*.log")] == ["core.log"]


def test_pip_does_not_hang(tmp_path):
    with pytest.raises(NotInstalled, match=r"longer than 0\.01 seconds"):
        pip("list", log=tmp_path / "log", seconds=0.01)
