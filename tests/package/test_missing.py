"""What needs an extra says which one to install, in one sentence and before any work is done."""

import pytest

from package.samples import PAIR, SENTENCE, SIMULATE, TINY

pytestmark = pytest.mark.package

TABLE = "shop,sun,units\na,1.0,2.0\nb,2.0,4.0\na,3.0,6.0\nb,1.0,2.0\n"
DASK = ("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9")

BEGINS = {"up": ["mtcool: reading pair.toml"], "node": ["mtcool: host host1 begins"]}
"""What commands say before they look for what they need."""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "pair.toml").write_text(PAIR)
    (tmp_path / "table.csv").write_text(TABLE)
    return tmp_path


@pytest.mark.parametrize(
    ("extra", "command"),
    [
        ("dask", ("run", "tiny.toml", *DASK)),
        ("dask", ("paper", *DASK)),
        ("data", ("learn", "births")),
        ("data", ("learn", "flights")),
        ("data", ("learn", "schools")),
        ("exact", ("privacy", "audit", "--exact")),
        ("learn", ("learn", "table.csv", "--agent", "shop", "--target", "units")),
        ("live", ("up", "pair.toml")),
        ("live", ("up", "pair.toml", "--web")),
        ("live", ("node", "pair.toml", "--host", "host1")),
        ("live", ("watch", "pair.toml")),
        ("live", ("certs", "pair.toml")),
        ("live", ("status", "pair.toml")),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:3]),
)
def test_a_command_names_the_extra(core, folder, extra, command):
    done = core.run("mtcool", *command, cwd=folder, seconds=60)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    *before, sentence = done.stderr.splitlines()
    assert SENTENCE.fullmatch(sentence.removeprefix("mtcool: "))[1] == extra
    assert before == BEGINS.get(command[0], [])
    assert sorted(path.name for path in folder.iterdir()) == ["pair.toml", "table.csv", "tiny.toml"]


NODE = """
import asyncio, mtcool.live

async def main():
    async with mtcool.live.Node(mtcool.live.read_description("pair.toml"), "host0"):
        pass

asyncio.run(main())
"""


LEVEL = """
import mtcool
level = mtcool.Privacy(1.0, 9, noise="exact")
mtcool.dpmt_co2ol(mtcool.graphs.ring(3), 1, level)
"""
READ = """
from mtcool.learn import Columns, Encoder, read_batches
list(read_batches("table.csv", Columns("shop", "units"), Encoder()))
"""
RUN = """
import mtcool.experiments
mtcool.experiments.run("tiny.toml", engine="dask", scheduler="tcp://127.0.0.1:9")
"""
PROGRAMS = {
    "an engine": ("dask", RUN),
    "births": ("data", "import mtcool; mtcool.streams.births()"),
    "flights": ("data", "import mtcool; mtcool.streams.flights()"),
    "schools": ("data", "import mtcool; mtcool.streams.schools()"),
    "exact noise": ("exact", LEVEL),
    "a table": ("learn", READ),
    "a node": ("live", NODE),
    "a frame": ("pandas", f"{SIMULATE}\ntrace.to_frame()"),
    "river": ("river", "import mtcool; mtcool.integrations.river"),
    "from river": ("river", "from mtcool.integrations.river import GraphRegressor"),
    "sklearn": ("sklearn", "import mtcool; mtcool.integrations.sklearn"),
    "from sklearn": ("sklearn", "from mtcool.integrations.sklearn import GraphClassifier"),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_program_is_told_the_extra(core, folder, what):
    extra, program = PROGRAMS[what]
    done = core.run("python", "-c", program, cwd=folder)
    kind, _, sentence = done.stderr.splitlines()[-1].partition(": ")
    assert kind in ("ImportError", "ValueError"), done.stderr
    assert SENTENCE.fullmatch(sentence)[1] == extra
    # The error stands alone: no second one below it that says the same in other words.
    assert done.stderr.count("Traceback") == 1
