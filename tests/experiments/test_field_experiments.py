"""Experiments on networks that change, talk seldom and are late: files, cells, tables, figures."""

import copy
import csv
import io
import tomllib
from pathlib import Path

import msgspec
import numpy as np
import pytest
import small

import mtcool
from field_cases import only_uncompiled
from mtcool.changes import Schedule, join, leave, write_changes
from mtcool.config import schema
from mtcool.experiments.files import spec
from mtcool.experiments.files.in_the_field import delays_of, field_of, messages_of
from mtcool.experiments.files.loading import load_experiment, make_experiment
from mtcool.experiments.report.cutoff import payoffs
from mtcool.experiments.report.figures import draw
from mtcool.experiments.report.findings import findings
from mtcool.experiments.report.frontier import frontier, spent
from mtcool.experiments.report.promises import promises
from mtcool.experiments.report.report import Report
from mtcool.experiments.report.results import PointResults, Results
from mtcool.experiments.report.traffic_figure import draw_traffic
from mtcool.experiments.running.cells import Cell, Job, Run, build_instance, run_cell
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.runner import jobs_of, run_tasks
from mtcool.experiments.running.suite import paper_tasks, task_of

ROOT = Path(__file__).parents[2]
TEXT = """
name = "small"
rounds = 120
replicates = 2
seed = 5

[graph]
kind = "erdos_renyi"
agents = 6
p = 0.6

[tasks]
kind = "groups"
gap = 0.2
centre = 0.4
dim = 2

[[algorithm]]
name = "shared"
algorithm = "mt_co2ol"
learner = "MTFTRLKT"
rates = "adaptive"

[[algorithm]]
name = "alone"
algorithm = "i_ftrl"
"""
GOOD = tomllib.loads(TEXT)
NETWORKS = {
    "blinking": {"kind": "blinking", "vanish": 0.02, "appear": 0.1},
    "moving": {"kind": "moving", "radius": 0.5, "speed": 0.02, "every": 5},
    "churn": {"kind": "churn", "departures": 0.005, "neighbours": 2},
}


PRIVATE = {"name": "private", "algorithm": "dpmt_co2ol", "aggregator": "blt", "law": "gaussian"}


def changed(shared=None, **tables):
    """The small experiment with these tables, and these keys of the algorithm that shares."""
    table = copy.deepcopy(GOOD) | tables
    table["algorithm"][0] |= shared or {}
    return table


def job_of(table, replicate=0):
    return Job(make_experiment(table).points[0], 5, replicate)


BAD = {
    "kind": (
        changed(network={"kind": "shrinking"}),
        "network.kind must be one of still, blinking, moving, churn, file, got 'shrinking'",
    ),
    "probability": (
        changed(network={"kind": "blinking", "vanish": 1.5, "appear": 0.1}),
        "network.vanish must be a number at most 1, got 1.5",
    ),
    "key": (changed(messages={"evry": 2}), "unknown key messages.evry; did you mean every?"),
    "key of an algorithm": (
        changed({"messages": {"bit": 2}}),
        "unknown key algorithm 1.messages.bit; did you mean bits?",
    ),
    "word for partners": (
        changed(messages={"partners": "some"}),
        "messages.partners must be a whole number, or all, got 'some'",
    ),
    "no partners": (
        changed(messages={"partners": 0}),
        "messages.partners must be a whole number at least 1, got 0",
    ),
    "half a bit": (
        changed(messages={"bits": 0.5}),
        "messages.bits must be a whole number, got 0.5",
    ),
    "delay": (changed(delays={"rows": -1}), "delays.rows must be a number at least 0, got -1"),
    "word for a delay": (
        changed(delays={"rows": "long"}),
        "delays.rows must be a number or a table, got 'long'",
    ),
    "key of a delay": (
        changed(delays={"rows": {"men": 1}}),
        "unknown key delays.rows.men; did you mean mean?",
    ),
    "all lost": (changed(delays={"lost": 1.0}), "delays.lost must be a number below 1, got 1.0"),
    "coordinates": (
        changed(messages={"coordinates": 1}),
        "shared: messages: coordinates are not an option of messages any more, got "
        "coordinates=1: use bits",
    ),
    "best of all": (
        changed(messages={"choose": "best"}),
        'shared: messages: choose="best" needs a number of partners',
    ),
    "bandwidth of labels": (
        changed(delays={"labels": {"bandwidth": 9.0}}),
        "shared: delays: labels must have no bandwidth",
    ),
    "messages of who sends none": (
        changed(algorithm=[{"name": "a", "algorithm": "i_ftrl", "messages": {"every": 2}}]),
        "a: messages apply only to mt_co2ol, but for delays of labels to those who",
    ),
    "answers to who asks nothing": (
        changed(algorithm=[{"name": "a", "algorithm": "i_ftrl", "delays": {"rows": 2}}]),
        "a: delays apply only to mt_co2ol, but for delays of labels to those who learn alone",
    ),
    "an algorithm for still networks": (
        changed(
            network=NETWORKS["churn"],
            algorithm=[*GOOD["algorithm"], {"name": "one", "algorithm": "st_ftrl"}],
        ),
        "one: algorithm must be mt_co2ol, or learn alone, in a file with the table network, got",
    ),
    "nobody to read it": (
        changed(messages={"every": 2}, algorithm=GOOD["algorithm"][1:]),
        "messages has no meaning without an algorithm mt_co2ol, got a table",
    ),
    "delays of private agents": (
        changed(delays={"gradients": 2}, algorithm=[*GOOD["algorithm"], PRIVATE]),
        "private: algorithm must be mt_co2ol, or learn alone, in a file with the table delays",
    ),
    "messages of private agents": (
        changed(messages={"every": 3}, algorithm=[*GOOD["algorithm"], PRIVATE]),
        "private: algorithm must be mt_co2ol, or learn alone, in a file with the table messages",
    ),
    "silent rounds of private agents": (
        changed(algorithm=[*GOOD["algorithm"], PRIVATE | {"messages": {"every": 3}}]),
        "private: messages apply only to mt_co2ol, but for delays of labels to those who learn",
    ),
    "weights": (
        changed({"weights": "delegation"}, network=NETWORKS["blinking"]),
        "shared: weights must be uniform in a network that changes, got 'delegation'",
    ),
    "a graph that is not used": (
        changed(network=NETWORKS["moving"], graph={"kind": "file", "path": "net.csv"}),
        "graph.kind must not be file for agents that move, whose names are numbers",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_one_sentence_with_table_and_key(kind):
    table, words = BAD[kind]
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        make_experiment(table)
    assert str(refusal.value).startswith(words)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (
            '[network]\nkind = "moving"\nradius = 0.5\nspeed = 2.0',
            "network.speed must be at most 1, the side of the square, got 2.0",
        ),
        (
            '[network]\nkind = "churn"\ndepartures = 0.1\nneighbours = 2\n'
            '[stream]\nactivations = { kind = "bursts", length = 3 }',
            "stream.activations must be stochastic without skew where agents come and go, got {",
        ),
        ('[network]\nkind = "file"\npath = "no.csv"', "network.path = "),
    ],
)
def test_what_cannot_be_built_is_refused_before_anything_runs(extra, words, tmp_path):
    text = TEXT.replace("[[algorithm]]", f"{extra}\n\n[[algorithm]]", 1)
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        jobs_of(task_of(small.write(tmp_path, text)))
    assert str(refusal.value).startswith(words)


def test_what_an_algorithm_says_itself_stands_in_place_of_what_is_said_for_all():
    own = {"messages": {"every": 1, "partners": "all"}, "delays": {"rows": {"mean": 2.0}}}
    told = {"messages": {"every": 4, "partners": 2, "bits": 8}, "delays": {"rows": 5, "lost": 0.1}}
    point = make_experiment(changed(own, **told)).points[0]
    shared = point.algorithm[0]
    assert messages_of(point, shared) == mtcool.Messages(bits=8)
    assert delays_of(point, shared) == mtcool.Delays(rows=mtcool.Delay(mean=2.0), lost=0.1)


def test_all_of_it_can_be_swept():
    sweeps = {
        "messages.every": [1, 3],
        "algorithm.shared.messages.bits": [2, 4],
        "algorithm.shared.delays.rows.mean": [1.0, 2.0],
        "delays.gradients": [0, 7],
        "network.departures": [0.0, 0.1],
    }
    swept = [{"parameter": key, "values": values} for key, values in sweeps.items()]
    points = make_experiment(changed(network=NETWORKS["churn"], sweep=swept)).points
    assert len(points) == 32
    last = points[-1]
    assert messages_of(last, last.algorithm[0]) == mtcool.Messages(every=3, bits=4)
    late = mtcool.Delays(gradients=7, rows=mtcool.Delay(mean=2.0))
    assert delays_of(last, last.algorithm[0]) == late
    assert last.network.departures == 0.1


def test_where_nothing_is_asked_for_the_network_is_that_of_the_paper():
    table = changed(messages={"every": 1}, delays={"rows": 0}, network={"kind": "still"})
    point = make_experiment(table).points[0]
    assert field_of(point, point.algorithm[0]) is None
    assert run_cell(job_of(table)).runs == run_cell(job_of(GOOD)).runs


@pytest.mark.parametrize("kind", [None, *NETWORKS])
def test_the_numbers_of_a_cell_are_those_of_a_network_made_by_hand(kind):
    table = changed(messages={"partners": 2}, delays={"gradients": 3, "lost": 0.1})
    if kind is not None:
        table["network"] = NETWORKS[kind]
    job = job_of(table)
    run = run_cell(job).runs[0]
    course, stream = build_instance(job)
    network = mtcool.mt_co2ol(
        course.start,
        2,
        learner=mtcool.learners.MTFTRLKT(),
        rates="adaptive",
        on_excess="clip",
        messages=mtcool.Messages(partners=2),
        delays=mtcool.Delays(gradients=3, lost=0.1),
        seed=np.random.default_rng(job.field_seeds()[1]),
    )
    trace = mtcool.simulate(network, stream, changes=course.schedule)
    assert run.regret[-1] == trace.regret[-1]
    assert run.message_bytes == trace.message_bytes[-1]
    assert run.agent_bytes[-1] == trace.agent_bytes.tolist()


def test_in_churn_who_is_alone_plays_the_same_stream_with_all_agents_that_ever_are():
    job = job_of(changed(network=NETWORKS["churn"]), replicate=1)
    cell = run_cell(job)
    course, stream = build_instance(job)
    assert course.union.size > course.start.size
    alone = mtcool.i_ftrl(course.union, 2, on_excess="clip")
    assert cell.runs[1].regret[-1] == mtcool.simulate(alone, stream).regret[-1]
    assert len(cell.activations[-1]) == course.union.size
    assert cell.runs[1].messages == 0
    assert msgspec.json.decode(msgspec.json.encode(cell), type=Cell).fits(job)


def test_tasks_in_churn_are_known_for_all_and_agents_of_the_start_keep_theirs():
    still, churning = (
        build_instance(job_of(table))[1].comparator
        for table in (GOOD, changed(network=NETWORKS["churn"]))
    )
    assert len(churning) > len(still)
    assert (churning[: len(still)] == still).all()


@only_uncompiled
def test_who_is_alone_waits_for_its_labels_as_all_others():
    """A delay below one round is none: then it is i-FTRL to rounding, by another way."""
    at_once, barely, late = (
        run_cell(job_of(changed(delays={"labels": delay}))).runs[1] for delay in (0, 0.5, 20)
    )
    assert barely.regret[-1] == pytest.approx(at_once.regret[-1], rel=1e-12)
    assert late.regret[-1] > 1.5 * at_once.regret[-1]
    assert (barely.messages, late.messages) == (0, 0)


def test_all_algorithms_of_a_cell_meet_the_same_chance():
    twin = GOOD["algorithm"][0] | {"name": "twin", "messages": {"probability": 0.5}}
    table = changed({"messages": {"probability": 0.5}})
    table["algorithm"].append(twin)
    first, _, last = run_cell(job_of(table)).runs
    assert (first.regret, first.bytes_at) == (last.regret, last.bytes_at)


SCHEDULE = Schedule([leave(20, "b"), join(50, "z", ["a", "c"]), join(60, "b", ["z"])])


def with_files(folder):
    """The small experiment on a graph with names, and its changes, in a folder."""
    (folder / "net.csv").write_text("a,b\nb,c\nc,d\nd,a\n")
    write_changes(SCHEDULE, folder / "changes.csv")
    text = TEXT.replace(
        'kind = "erdos_renyi"\nagents = 6\np = 0.6',
        'kind = "file"\npath = "net.csv"\n\n[network]\nkind = "file"\npath = "changes.csv"',
    )
    return small.write(folder, text)


def run(path, folder):
    task = task_of(path)
    results = run_tasks([task], folder, Local(1), progress=False)
    Report("", "", [task], folder).write(results)
    return results[0]


@pytest.mark.usefixtures("undrawn")
def test_changes_from_a_file_are_kept_and_the_experiment_runs_from_there(tmp_path):
    (tmp_path / "home").mkdir()
    results = run(with_files(tmp_path / "home"), tmp_path / "first")
    kept = tmp_path / "first/small"
    original = (tmp_path / "home/changes.csv").read_bytes()
    assert (kept / "changes/changes.csv").read_bytes() == original
    assert results.agent_names(0) == ["a", "b", "c", "d", "z"]
    run(kept / "experiment.toml", tmp_path / "second")
    assert small.tables(tmp_path / "second") == small.tables(tmp_path / "first")


def test_the_key_of_a_cell_knows_what_happens_not_where_it_was_read(tmp_path):
    keys = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        keys.append(jobs_of(task_of(with_files(tmp_path / name)))[0][0].key)
    assert keys[0] == keys[1]
    write_changes(SCHEDULE[:2], tmp_path / "two/changes.csv")
    assert jobs_of(task_of(tmp_path / "two/experiment.toml"))[0][0].key != keys[0]


def test_changes_that_do_not_fit_the_graph_are_refused_by_their_line(tmp_path):
    path = with_files(tmp_path)
    write_changes(Schedule([leave(3, "nobody")]), tmp_path / "changes.csv")
    with pytest.raises(ValueError, match=r"network: line 2 of changes\.csv must let an agent leav"):
        jobs_of(task_of(path))


@pytest.mark.usefixtures("undrawn")
def test_the_traffic_of_the_agents_adds_up_to_that_of_the_network_at_all_times(tmp_path):
    text = TEXT.replace(
        "[[algorithm]]",
        '[network]\nkind = "churn"\ndepartures = 0.004\nneighbours = 2\n\n'
        "[messages]\npartners = 2\n\n[[algorithm]]",
        1,
    )
    run(small.write(tmp_path, text), tmp_path / "out")
    tables = {
        name: list(csv.DictReader(io.StringIO((tmp_path / f"out/small/{name}.csv").read_text())))
        for name in ("agents", "curves", "summary")
    }
    for key in ("messages", "message_bytes"):
        by_time: dict[tuple[str, str], float] = {}
        for row in tables["agents"]:
            # Means are over the replicates that had the agent, of two.
            total = float(row[key]) * int(row["replicates"]) / 2
            place = row["algorithm"], row["time"]
            by_time[place] = by_time.get(place, 0.0) + total
        curves = {(row["algorithm"], row["time"]): float(row[key]) for row in tables["curves"]}
        assert by_time.keys() <= curves.keys()
        assert all(curves[place] == pytest.approx(total) for place, total in by_time.items())
        assert [curves[row["algorithm"], "120"] for row in tables["summary"]] == [
            float(row[key]) for row in tables["summary"]
        ]
    assert max(by_time.values()) > 0


def made_up(algorithms, costs, values=({},), **head):
    """Results where every algorithm has bytes and regrets {name: [(bytes, regret) by point]}."""
    points = [spec.Point(rounds=10, algorithm=algorithms) for _ in values]
    made = []
    for k, labels in enumerate(values):
        cells = [
            Cell(
                0.1,
                [10],
                [Run(n, [at[k][1] * f], 0.0, 0.0, at[k][0], 10 * at[k][0], 0, 1.0) for n, at in on],
                small.instance(),
            )
            for f in (0.99, 1.01)
            for on in [costs.items()]
        ]
        made.append(PointResults.of(dict(labels), cells))
    experiment = spec.Experiment(
        head=spec.Head(name="made-up", **head), points=points, values=[dict(v) for v in values]
    )
    return Results(experiment, 2, made, [])


def policies():
    shares = {"every": 4, "partners": 2, "bits": 8}
    algorithms = [
        schema.AlgorithmSpec(
            name=key, algorithm="mt_co2ol", messages=schema.MessagesSpec(**{key: value})
        )
        for key, value in shares.items()
    ]
    algorithms.append(schema.AlgorithmSpec(name="always", algorithm="mt_co2ol"))
    algorithms.append(schema.AlgorithmSpec(name="alone", algorithm="i_ftrl"))
    costs = {"every": 20, "partners": 10, "bits": 50, "always": 90, "alone": 0}
    regrets = {"every": 15.0, "partners": 4.0, "bits": 1.0, "always": 1.1, "alone": 10.0}
    return made_up(algorithms, {name: [(costs[name], regrets[name])] for name in costs})


def test_on_the_frontier_is_who_has_less_regret_than_all_that_cost_no_more():
    found = spent(policies(), policies().points, "bytes")
    assert [one.name for one in frontier(found)] == ["alone", "partners", "bits"]
    assert {one.name: one.cost.mean for one in found}["always"] == 90.0
    named = {one.name: (one.family, one.value) for one in found}
    assert named["partners"] == ("random partners", "2")
    assert named["always"] == ("all neighbours in every round, exactly", "")


def test_the_words_tell_the_frontier_the_price_of_most_and_who_does_not_pay():
    told = list(findings(policies(), spec.Figure(x="bytes")))
    assert told[0].startswith(
        "the frontier, from cheap to dear, bytes of a round: alone (0 bytes, regret 10.0 ± 0.10), "
        "partners (10.0 bytes, regret 4.00"
    )
    assert told[1] == (
        "bits has the least regret; 90 % of its gain over alone cost 100 % of its bytes, with bits."
    )
    assert told[2] == "clearly worse than alone, which sends nothing: every."
    assert "bits (5.00 messages" in next(findings(policies(), spec.Figure(x="messages")))


def test_the_picture_has_a_mark_for_every_policy_and_a_line_for_who_sends_nothing(tmp_path):
    draw_traffic(policies(), spec.Figure(x="bytes"), tmp_path / "figure")
    picture = (tmp_path / "figure.svg").read_text()
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    for words in ("random partners", "bits for a number", "alone", "bytes per round"):
        assert f">{words}<" in picture


def test_what_a_sweep_does_not_touch_is_there_once():
    own = schema.MessagesSpec(partners=3)
    algorithms = [
        schema.AlgorithmSpec(name="swept", algorithm="mt_co2ol"),
        schema.AlgorithmSpec(name="fixed", algorithm="mt_co2ol", messages=own),
        schema.AlgorithmSpec(name="alone", algorithm="i_ftrl"),
    ]
    costs = {"swept": [(5, 4.0), (9, 2.0)], "fixed": [(7, 3.0)] * 2, "alone": [(0, 9.0)] * 2}
    values = [{"messages.partners": "1"}, {"messages.partners": "2"}]
    sweep = spec.Sweep(parameter="messages.partners", values=[1, 2])
    results = made_up(algorithms, costs, values, sweep=[sweep])
    points = [
        msgspec.structs.replace(point, messages=schema.MessagesSpec(partners=k))
        for k, point in enumerate(results.experiment.points, start=1)
    ]
    results.experiment.points[:] = points
    assert [results.depends(name, "messages.partners") for name in costs] == [True, False, False]
    found = spent(results, results.points, "bytes")
    assert [one.told for one in found] == [
        "swept at messages.partners = 1",
        "fixed",
        "alone",
        "swept at messages.partners = 2",
    ]
    assert [payoff.name for payoff in payoffs(results.points, "messages.partners", results)] == [
        "swept"
    ]


@only_uncompiled
def test_sharing_is_compared_with_who_bets_as_well_and_waits_as_long(tmp_path):
    table = changed(
        {"name": "hedge", "learner": "MTFTRL"},
        sweep=[{"parameter": "delays.labels", "values": [5, 10]}],
    )
    prompt = {"delays": {"labels": 0}}
    table["algorithm"] += [
        GOOD["algorithm"][0] | {"name": "kt", **prompt},
        GOOD["algorithm"][1] | {"name": "prompt", **prompt},
        GOOD["algorithm"][1] | {"name": "prompt kt", "learner": "KT", **prompt},
    ]
    table["rounds"] = 40
    experiment = make_experiment(table)
    points = [
        PointResults.of(values, [run_cell(Job(point, 0, k)) for k in (0, 1)])
        for values, point in zip(experiment.values, experiment.points, strict=True)
    ]
    results = Results(experiment, 2, points, [])
    assert results.depends("alone", "delays.labels")
    assert not results.depends("kt", "delays.labels")
    draw(results, spec.Figure(x="delays.labels"), tmp_path / "figure")
    rivals = {one.name: one.alone for one in payoffs(points, "delays.labels", results)}
    assert rivals == {"hedge": "alone"}
    # Of an axis that changes the stream all depend on, betting is compared with betting.
    swept = msgspec.structs.replace(
        experiment, values=[{"network.departures": "1"}, {"network.departures": "2"}]
    )
    moved = [
        PointResults.of(values, point.cells)
        for values, point in zip(swept.values, points, strict=True)
    ]
    found = payoffs(moved, "network.departures", Results(swept, 2, moved, []))
    assert {one.name: one.alone for one in found} == {"hedge": "alone", "kt": "prompt kt"}


@only_uncompiled
def test_no_bound_is_claimed_in_the_field_but_for_learning_alone():
    job = job_of(changed({"learner": "MTFTRL"}, network=NETWORKS["churn"]))
    point = promises(job, PointResults.of({}, [run_cell(job)]))
    shared, alone = point.rows
    assert (shared.ceiling, shared.statement) == (None, "none: no bound for it here")
    assert alone.ratio is not None
    assert 0 < alone.ratio < 1
    assert (shared.floor, alone.floor) == (None, None)
    assert point.facts.agents == 6


@only_uncompiled  # each has a learner that no other test compiles for the field
@pytest.mark.parametrize("name", ["bytes", "churn", "delays", "partners"])
def test_the_chapter_of_the_paper_is_such_files(name):
    task = next(task for task in paper_tasks() if task.experiment.head.name == name)
    assert task.experiment.head.claim
    assert len(task.experiment.head.figure) == 1
    last = task.experiment.points[-1]
    few = [*last.algorithm[:1], *last.algorithm[-2:]]
    cell = run_cell(Job(msgspec.structs.replace(last, rounds=12, algorithm=few), 0, 0))
    assert all(np.isfinite(run.regret).all() for run in cell.runs)


@only_uncompiled
def test_the_example_of_the_documents_is_a_file_that_runs():
    page = (ROOT / "docs/experiments.md").read_text()
    example = (ROOT / "examples/field.toml").read_text()
    assert f"```toml\n{example}```" in page
    for point in load_experiment(example, ROOT / "examples", "", most_rounds=20).points:
        assert len(run_cell(Job(point, 0, 0)).runs) == 4
