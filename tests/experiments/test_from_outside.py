"""An experiment file may bring algorithms and learners along: "module:name", with parameters."""

import csv
import doctest
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import small

import mtcool
from mtcool import cli
from mtcool.algorithms import make_network
from mtcool.config.algorithms import aggregator_of, learner_of, record_of
from mtcool.config.graphs import build_graph
from mtcool.experiments.files.inputs import keep_inputs
from mtcool.experiments.report.promises import promises
from mtcool.experiments.report.results import PointResults
from mtcool.experiments.running.build import build_stream
from mtcool.experiments.running.cells import run_cell
from mtcool.experiments.running.private import privacy_of
from mtcool.experiments.running.runner import jobs_of
from mtcool.experiments.running.suite import task_of

ROOT = Path(__file__).parents[2]

ALGORITHM = '''
"""Agents share inside groups only."""

import numpy as np

from mtcool import theory
from mtcool.algorithms import Algorithm, register
from mtcool.learners import MTFTRLKT
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import clique_exchange


def peers_in_groups(settings, graph, weights):
    listener = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    kept = np.where((listener - graph.idx) % 2 == 0, weights, 0.0)
    return clique_peers(settings, graph, kept / np.bincount(listener, kept)[listener])


def bound(question):
    return theory.Bound.of("mine: a bound", (), value=1000.0 * question.rounds)


GROUPS = register(
    Algorithm(
        name="NAME",
        title="groups",
        learner=MTFTRLKT(),
        peers=peers_in_groups,
        exchange=clique_exchange,
        bound=bound,
        colour="#332288",
    )
)


def groups(factor=1.0):
    def peers(settings, graph, weights):
        return peers_in_groups(settings, graph, weights**factor)

    return Algorithm("NAME", "groups", MTFTRLKT(), peers, clique_exchange)
'''


@pytest.fixture(autouse=True)
def _registered_for_one_test_only(monkeypatch):
    monkeypatch.setattr("mtcool.peers.algorithm.ALGORITHMS", dict(mtcool.algorithms.ALGORITHMS))
    for name in mtcool.privacy.AGGREGATORS.keys() - set(mtcool.privacy.aggregators.OWN):
        monkeypatch.delitem(mtcool.privacy.AGGREGATORS, name)


def learner_of_the_documents(page: str = "add-a-learner") -> str:
    """The code of `docs/add-a-learner.md`, up to where it is finished; or of another page."""
    text = (ROOT / f"docs/{page}.md").read_text().partition("That is all")[0]
    return "".join(example.source for example in doctest.DocTestParser().get_examples(text))


def text(*algorithms: str, more: str = "") -> str:
    head = """
name = "own"
rounds = 80
replicates = 2

[graph]
kind = "ring"
agents = 6
reach = 2

[[algorithm]]
name = "alone"
algorithm = "i_ftrl"
learner = "KT"
lipschitz = 9.0
"""
    tables = (f'\n[[algorithm]]\nname = "mine"\nlipschitz = 9.0\n{one}\n' for one in algorithms)
    return head + "".join(tables) + more


def experiment(folder: Path, module: str, content: str, *algorithms: str, more: str = "") -> Path:
    (folder / f"{module}.py").write_text(content.replace("NAME", module))
    return small.write(folder, text(*algorithms, more=more))


# The command, with files that stand where pictures would.
UNDRAWN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import small
from mtcool.cli.commands import main
with small.undrawn():
    main()
"""


def command(path: Path, output: Path, *, workers: int = 1, drawn: bool = False) -> str:
    """`mtcool run` in a process of its own, from another folder."""
    program = ["-m", "mtcool"] if drawn else ["-c", UNDRAWN, str(Path(small.__file__).parent)]
    words = [sys.executable, *program, "run", str(path), "--output", str(output)]
    done = subprocess.run(
        [*words, "--workers", str(workers)],
        cwd=output.parent.parent,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "own" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def one_by_hand(job, network) -> float:
    """The regret of a network on the replicate of a job, with the public functions."""
    for_graph, for_stream, _ = job.seeds()
    graph = build_graph(job.point.graph, np.random.default_rng(for_graph))
    stream = build_stream(job.point, graph, for_stream)
    return float(mtcool.simulate(network(graph), stream).regret[-1])


def test_an_algorithm_is_one_module_for_simulate_for_a_file_and_for_the_command(tmp_path):
    place = tmp_path / "experiment"
    place.mkdir()
    path = experiment(place, "own_groups", ALGORITHM, 'algorithm = "own_groups:GROUPS"')
    written = {file.name for file in place.iterdir()} - {"experiment.toml"}
    assert written == {"own_groups.py"}  # the one file that a new algorithm touches

    command(path, tmp_path / "out", workers=2, drawn=True)
    job = jobs_of(task_of(path))[0][0]
    record = record_of(job.point.algorithm[1])
    regret = one_by_hand(job, lambda graph: make_network(record, graph, 1, lipschitz=9.0))
    runs = table(tmp_path / "out", "runs")
    assert float(runs[1]["regret"]) == regret == run_cell(job).runs[1].regret[-1]
    assert float(runs[0]["regret"]) != regret

    theory = table(tmp_path / "out", "theory")
    assert (theory[1]["statement"], theory[1]["ceiling"]) == ("mine: a bound", "80000.0")
    assert "#332288" in (tmp_path / "out/own/figure-1.svg").read_text()
    assert mtcool.algorithms.algorithm("own_groups") is record


def test_the_learner_of_the_documents_enters_the_command(tmp_path):
    place = tmp_path / "experiment"
    place.mkdir()
    mine = 'algorithm = "mt_co2ol"\nlearner = "own_ogd:OGD"\nlearner_parameters = { step = 0.5 }'
    path = experiment(place, "own_ogd", learner_of_the_documents(), mine)
    told = command(path, tmp_path / "out")
    assert "mine" in told

    job = jobs_of(task_of(path))[0][0]
    learner = learner_of(job.point.algorithm[1])
    assert repr(learner) == "OGD(step=0.5)"
    regret = one_by_hand(
        job, lambda graph: mtcool.mt_co2ol(graph, 1, learner=learner, lipschitz=9.0)
    )
    assert float(table(tmp_path / "out", "runs")[1]["regret"]) == regret

    # The folder of the results has all that another run needs.
    (place / "own_ogd.py").unlink()
    command(tmp_path / "out/own/experiment.toml", tmp_path / "again")
    assert small.tables(tmp_path / "again") == small.tables(tmp_path / "out")


def test_parameters_can_be_swept_and_reach_the_numbers(tmp_path):
    sweep = """
[[sweep]]
parameter = "algorithm.mine.learner_parameters.step"
values = [0.1, 1.0]
"""
    path = experiment(
        tmp_path,
        "swept_ogd",
        learner_of_the_documents(),
        'algorithm = "mt_co2ol"\nlearner = "swept_ogd:OGD"',
        more=sweep,
    )
    one, other = (run_cell(point[0]).runs for point in jobs_of(task_of(path)))
    assert one[0] == other[0]
    assert one[1].regret != other[1].regret


def test_the_aggregator_of_the_documents_enters_a_file(tmp_path):
    code = learner_of_the_documents("add-an-aggregator")
    mine = 'algorithm = "dpmt_co2ol"\nlaw = "gaussian"\nexperts = [0.5]\n'
    named = mine + 'aggregator = "own_buffer:OneBuffer"\naggregator_parameters = { decay = 0.5 }'
    path = experiment(tmp_path, "own_buffer", code, named)
    job = jobs_of(task_of(path))[0][0]
    aggregator = aggregator_of(job.point.algorithm[1])
    assert repr(aggregator) == "OneBuffer(decay=0.5, coupling=-0.04)"
    mtcool.privacy.AGGREGATORS.pop("one_buffer")  # as in a worker that has imported nothing yet
    assert privacy_of(job.point, job.point.algorithm[1], np.array([3] * 6), job.seeds()[2])
    assert len(job.code) == 2  # ours, and the text of the module
    keep_inputs(task_of(path), tmp_path / "kept")
    assert (tmp_path / "kept/own_buffer.py").exists()
    mtcool.privacy.AGGREGATORS.pop("one_buffer")


def test_parameters_of_our_own_learners_and_aggregators_can_be_written(tmp_path):
    mine = 'algorithm = "dpmt_co2ol"\naggregator_parameters = { completed = false }\n'
    mine += "learner_parameters = { free_last = true, experts = [0.25, 1] }"
    path = small.write(tmp_path, text(mine))
    one = jobs_of(task_of(path))[0][0].point.algorithm[1]
    assert aggregator_of(one) == mtcool.privacy.BinaryTree(completed=False)
    assert learner_of(one) == mtcool.learners.MTFTRL(experts=(0.25, 1.0), free_last=True)


def test_experts_are_short_for_a_parameter(tmp_path):
    mine = 'algorithm = "mt_co2ol"\nlearner = "MTFTRL"\nexperts = [0.25]\n'
    path = small.write(tmp_path, text(mine + "learner_parameters = { free_last = true }"))
    one = jobs_of(task_of(path))[0][0].point.algorithm[1]
    assert learner_of(one) == mtcool.learners.MTFTRL(experts=(0.25,), free_last=True)


def test_a_function_makes_an_algorithm_from_parameters(tmp_path):
    path = experiment(
        tmp_path,
        "made_groups",
        ALGORITHM,
        'algorithm = "made_groups:groups"\nparameters = { factor = 2 }',
    )
    job = jobs_of(task_of(path))[0][0]
    one = job.point.algorithm[1]
    assert record_of(one) is record_of(one)  # so it is compiled, and asked, once
    assert np.isfinite(run_cell(job).runs[1].regret).all()


@pytest.mark.usefixtures("undrawn")
def test_messages_that_nobody_counts_are_an_empty_field(tmp_path):
    path = small.write(tmp_path, text('algorithm = "tests.own_peers:UNCOUNTED"'))
    mtcool.experiments.run(path, tmp_path / "out")
    known, unknown = table(tmp_path / "out", "summary")
    assert (known["messages"], unknown["messages"], unknown["message_bytes"]) == ("0.0", "", "")


def test_the_report_asks_the_record_and_builds_nothing_again(tmp_path, monkeypatch):
    path = experiment(tmp_path, "bound_groups", ALGORITHM, 'algorithm = "bound_groups:GROUPS"')
    job = jobs_of(task_of(path))[0][0]
    results = PointResults.of({}, [run_cell(job)])
    want = promises(job, results)

    def refuse(*arguments, **settings):
        raise AssertionError("it was built once, for the cell")

    for what in ("streams.gaussian_tasks", "streams.quadratic_stream", "graphs.circulant"):
        monkeypatch.setattr(f"mtcool.{what}", refuse)
    monkeypatch.setattr("mtcool.network.network.Network.__init__", refuse)
    assert promises(job, results) == want
    assert want.rows[1].ceiling == 80_000.0


def test_results_of_other_code_are_not_taken(tmp_path):
    """The text of the module counts, and that of the modules beside it that it imports."""
    keys = {}
    helped = learner_of_the_documents() + "\nfrom HELPER import FACTOR\n"
    for name, factor in (("one", 1.0), ("same", 1.0), ("other", 2.0)):
        (tmp_path / f"helper_{name}.py").write_text(f"FACTOR = {factor}\n")
        module = f"helped_{name}"
        path = experiment(
            tmp_path,
            module,
            helped.replace("HELPER", f"helper_{name}"),
            f'algorithm = "mt_co2ol"\nlearner = "{module}:OGD"',
        )
        job = jobs_of(task_of(path))[0][0]
        keys[name] = job.code[-1]
        keep_inputs(task_of(path), tmp_path / f"kept-{name}")
        kept = {file.name for file in (tmp_path / f"kept-{name}").glob("*.py")}
        assert kept == {f"{module}.py", f"helper_{name}.py"}
    assert len(set(keys.values())) == 3  # the names of the helpers are in the text, too
    (tmp_path / "helper_same.py").write_text("FACTOR = 7.0\n")
    assert jobs_of(task_of(path))[0][0].code[-1] == keys["other"]  # within a run it stays


WRONG = {
    "no such algorithm": (
        'algorithm = "mt_cool"',
        "algorithm 2.algorithm must be one of dpmt_co2ol, .*, got 'mt_cool'; an algorithm of your",
    ),
    "no such module": (
        'algorithm = "nowhere:X"',
        r"algorithm 2\.algorithm must name a module that can be imported, got 'nowhere:X'",
    ),
    "no such name": (
        'algorithm = "MODULE:X"',
        r"algorithm 2\.algorithm must name an algorithm of the module MODULE, got 'MODULE:X'",
    ),
    "a number": (
        'algorithm = "MODULE:five"',
        r"algorithm 2\.algorithm = 'MODULE:five' with parameters \{\}: TypeError",
    ),
    "a function of something else": (
        'algorithm = "MODULE:nothing"',
        "must name an Algorithm, or a function that makes one, got 'MODULE:nothing', which gives 7",
    ),
    "parameters of a record": (
        'algorithm = "MODULE:GROUPS"\nparameters = { factor = 2 }',
        r"algorithm 2\.parameters have no meaning for MODULE:GROUPS, .*got \{'factor': 2\}",
    ),
    "parameters of ours": (
        'algorithm = "i_ftrl"\nparameters = { factor = 2 }',
        r"algorithm 2\.parameters have no meaning for i_ftrl",
    ),
    "a parameter that a function does not have": (
        'algorithm = "MODULE:groups"\nparameters = { factr = 2 }',
        r"'MODULE:groups' with parameters \{'factr': 2\}: TypeError: .*factr",
    ),
    "a parameter of another type than a function says": (
        'algorithm = "MODULE:typed"\nparameters = { factor = "x" }',
        r"algorithm 2\.algorithm = 'MODULE:typed': factor must be a number, got 'x'",
    ),
    "a number for a table of parameters that is swept": (
        'algorithm = "i_ftrl"\nlearner = "KT"\nlearner_parameters = 3\n[[sweep]]\n'
        'parameter = "algorithm.mine.learner_parameters.step"\nvalues = [1, 2]',
        r"algorithm mine\.learner_parameters must be a table, got 3",
    ),
    "no such learner": (
        'algorithm = "i_ftrl"\nlearner = "KTT"',
        r"algorithm 2\.learner must be one of FTRL, KT, .*, got 'KTT'; a learner of your own",
    ),
    "no such class": (
        'algorithm = "i_ftrl"\nlearner = "MODULE:X"',
        r"algorithm 2\.learner must name a class of the module MODULE, got 'MODULE:X'",
    ),
    "no learner": (
        'algorithm = "i_ftrl"\nlearner = "MODULE:Path"',
        r"algorithm 2\.learner must name a dataclass with a method make_state, got 'MODULE:Path'",
    ),
    "a parameter that it does not have": (
        'algorithm = "i_ftrl"\nlearner = "MODULE:OGD"\nlearner_parameters = { stp = 1 }',
        r"algorithm 2\.learner = 'MODULE:OGD': OGD has no parameter stp; it has step",
    ),
    "a text for a number": (
        'algorithm = "i_ftrl"\nlearner = "MODULE:OGD"\nlearner_parameters = { step = "long" }',
        r"algorithm 2\.learner = 'MODULE:OGD': OGD\.step must be a number, got 'long'",
    ),
    "what the class refuses": (
        'algorithm = "i_ftrl"\nlearner = "MODULE:Positive"\nlearner_parameters = { step = -1 }',
        r"algorithm 2\.learner = 'MODULE:Positive': step must be positive, got -1\.0",
    ),
    "a parameter that is missing": (
        'algorithm = "i_ftrl"\nlearner = "MODULE:Positive"',
        r"algorithm 2\.learner = 'MODULE:Positive': Positive\.step is missing",
    ),
    "parameters that our learner does not have": (
        'algorithm = "i_ftrl"\nlearner = "KT"\nlearner_parameters = { step = 1 }',
        r"algorithm 2\.learner = 'KT': KT has no parameter step",
    ),
    "parameters that a default learner does not have": (
        'algorithm = "mt_co2ol"\nlearner_parameters = { free = true }',
        r"algorithm 2\.learner = 'MTFTRL': MTFTRL has no parameter free; it has free_last",
    ),
    "experts twice": (
        'algorithm = "mt_co2ol"\nexperts = [1]\nlearner_parameters = { experts = "geometric" }',
        r"algorithm 2\.experts must be given once, got learner_parameters with experts = 'geomet",
    ),
    "no aggregator": (
        'algorithm = "dpmt_co2ol"\naggregator = "MODULE:OGD"',
        r"algorithm 2\.aggregator must name a dataclass with a method make_state and attributes la",
    ),
    "no such aggregator": (
        'algorithm = "dpmt_co2ol"\naggregator = "bush"',
        r"algorithm 2\.aggregator must be one of .*, got 'bush'; an aggregator of your own is",
    ),
    "a parameter that an aggregator does not have": (
        'algorithm = "dpmt_co2ol"\naggregator_parameters = { complete = false }',
        r"algorithm 2\.aggregator = 'binary_tree': BinaryTree has no parameter complete; it has co",
    ),
    "parameters without an aggregator": (
        'algorithm = "i_ftrl"\naggregator_parameters = { completed = false }',
        r"mine: aggregator_parameters apply only to dpmt_co2ol",
    ),
    "experts of another learner": (
        'algorithm = "mt_co2ol"\nlearner = "MODULE:OGD"\nexperts = "geometric"',
        "mine: experts apply only to MTFTRL, got 'geometric'",
    ),
    "a learner that sends no sums": (
        'algorithm = "dpmt_co2ol"\nlearner = "MODULE:OGD"',
        "mine: learner must be MTFTRL for dpmt_co2ol, got 'MODULE:OGD'",
    ),
}

MORE = """
from pathlib import Path

five = 5

def nothing():
    return 7

def typed(factor: float = 1.0):
    return GROUPS

@dataclass(frozen=True)
class Positive:
    step: float
    def __post_init__(self):
        if self.step <= 0:
            raise ValueError(f"step must be positive, got {self.step!r}")
    def make_state(self, cliques, dim):
        raise NotImplementedError
"""


@pytest.mark.parametrize("kind", WRONG)
def test_what_makes_no_sense_is_one_sentence(kind, tmp_path):
    mine, words = WRONG[kind]
    module = f"wrong_{kind.replace(' ', '_')}"
    content = ALGORITHM + learner_of_the_documents() + MORE
    path = experiment(tmp_path, module, content, mine.replace("MODULE", module))
    with pytest.raises(ValueError, match=words.replace("MODULE", module)) as refusal:
        task_of(path)
    assert "\n" not in str(refusal.value)


def test_the_command_says_it_without_a_traceback(tmp_path, monkeypatch, capsys):
    path = small.write(tmp_path, text('algorithm = "nowhere:X"'))
    monkeypatch.setattr(sys, "argv", ["mtcool", "run", str(path)])
    with pytest.raises(SystemExit):
        cli.main()
    told = capsys.readouterr().err
    assert told.startswith(f"mtcool: {path}: algorithm 2.algorithm must name a module")
    assert len(told.splitlines()) == 1


def test_what_a_module_prints_does_not_mix_with_json(tmp_path, monkeypatch, capfd):
    noisy = 'print("imported")\n' + ALGORITHM.replace(
        "    kept =", '    print("called")\n    kept ='
    )
    noisy = noisy.replace("    kept =", '    os.write(1, b"written")\n    kept =')
    path = experiment(tmp_path, "noisy", "import os\n" + noisy, 'algorithm = "noisy:GROUPS"')
    words = [
        "mtcool",
        "run",
        str(path),
        "--json",
        "--workers",
        "1",
        "--output",
        str(tmp_path / "o"),
    ]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        cli.main()
    told = capfd.readouterr()
    assert end.value.code == 0, told.err
    assert list(json.loads(told.out)) == ["own"]
    assert all(word in told.err for word in ("imported", "called", "written"))


CAPPED = """
from mtcool.algorithms import Algorithm
from mtcool.learners import MTFTRLKT
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import clique_exchange

def capped(cap):
    assert isinstance(cap, float)
    return Algorithm("NAME", str(cap), MTFTRLKT(), clique_peers, clique_exchange)
"""


def test_infinite_parameters_are_told_apart(tmp_path):
    sweep = """
[[sweep]]
parameter = "algorithm.mine.parameters.cap"
values = [inf, -inf]
"""
    path = experiment(tmp_path, "capped", CAPPED, 'algorithm = "capped:capped"', more=sweep)
    one, other = (point[0] for point in jobs_of(task_of(path)))
    assert one.key != other.key
    assert record_of(one.point.algorithm[1]).title == "inf"
    assert record_of(other.point.algorithm[1]).title == "-inf"


def test_a_module_that_changes_is_not_taken_for_what_was_imported(tmp_path):
    """Cells would be stored under the name of code that did not make them."""
    cap = 'algorithm = "fickle:capped"\nparameters = { cap = 1.0 }'
    path = experiment(tmp_path, "fickle", CAPPED, cap)
    key = jobs_of(task_of(path))[0][0].key
    (tmp_path / "fickle.py").write_text(CAPPED.replace("NAME", "fickle") + "# edited\n")
    with pytest.raises(ValueError, match="module fickle must be as it was imported, got a file"):
        jobs_of(task_of(path))[0][0].key  # noqa: B018 -- a property that computes
    importlib.reload(sys.modules["fickle"])
    assert jobs_of(task_of(path))[0][0].key != key


@pytest.mark.parametrize("place", ["import", "making"])
def test_a_module_that_exits_is_an_error(place, tmp_path):
    """Else a command would end as if all were well, and have done nothing."""
    code = CAPPED.replace("assert", "raise SystemExit(0)\n    assert")
    if place == "import":
        code = "raise SystemExit(0)\n"
    name = f"exits_{place}"
    path = experiment(
        tmp_path, name, code, f'algorithm = "{name}:capped"\nparameters = {{ cap = 1.0 }}'
    )
    with pytest.raises(ValueError, match="SystemExit: 0"):
        task_of(path)
