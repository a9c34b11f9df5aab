"""The report opens with what was claimed and what came of it, and does not hide what it is."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
import small
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from typer.testing import CliRunner

from mtcool.cli.commands import app
from mtcool.experiments.report.findings import theory_words, verdicts
from mtcool.experiments.report.gradients import gradient_words
from mtcool.experiments.report.overview import judged_bounds, tally
from mtcool.experiments.report.promises import GraphFacts, PointPromises, Promise
from mtcool.experiments.report.report import Report
from mtcool.experiments.report.results import PointResults, Results
from mtcool.experiments.report.setting import default_words, setting
from mtcool.experiments.report.theory_figure import draw_promises
from mtcool.experiments.running.cells import Job, run_cell
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.runner import FullSize, run_tasks
from mtcool.experiments.running.suite import task_of

ROOT = Path(__file__).parents[2]
CLAIM = '\n[[claim]]\ntext = "Alone is best."\nsource = "a rumour"\nbest = "i-FTRL"\n'
FACTS = GraphFacts(2, 1, 2, 2, "1", "1", "1")
PROMISE = Promise("A", 9.0, 30.0, "any graph (Theorem 3)", 1.0)


class Outline(HTMLParser):
    """The order of the page: headings by id, pictures, and how deep in `details` they are."""

    def __init__(self, page):
        super().__init__()
        self.items, self.depth = [], 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "details":
            self.depth += 1
        if tag == "h2":
            self.items.append((dict(attributes)["id"], self.depth))
        if tag == "img":
            self.items.append((dict(attributes)["alt"].split()[0], self.depth))

    def handle_endtag(self, tag):
        if tag == "details":
            self.depth -= 1


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A report of two experiments: the page, and the summary."""
    folder = tmp_path_factory.mktemp("two")
    text = small.TEXT.replace("rounds = 200", "rounds = 50").replace("= 3", "= 2") + CLAIM
    task = task_of(small.write(folder, text))
    head = msgspec.structs.replace(task.experiment.head, name="theory", title="Another")
    other = msgspec.structs.replace(task.experiment, head=head)
    tasks = [task, dataclasses.replace(task, experiment=other)]
    results = run_tasks(tasks, folder, Local(1), progress=False)
    with small.undrawn():
        outcomes = Report("Two", "", tasks, folder).write(results)
    summary = {outcome.name: outcome.summary for outcome in outcomes}
    return (folder / "report.html").read_text(), summary


def test_the_report_opens_with_every_claim_its_verdict_and_its_number(two):
    page, summary = two
    opening = page[: page.index("<img")]
    for part in summary.values():
        (claim,) = part["claims"]
        assert re.search(r"\d ± \d", claim["note"])
        told = re.search(r"<td>(.*?)</td><td>Alone is best.*?</td><td.*?>(.*?)</td>", opening)
        assert claim["verdict"].capitalize() in told[1]
        assert told[2] == claim["note"] + "."
    assert opening.count("Alone is best.") == 2
    assert opening.count("a rumour") == 2
    assert "Regret stays below the bound for KT (theorem of Appendix C)." in opening


def test_the_contents_stay_in_sight_and_lead_to_every_part(two):
    page, _ = two
    nav = page[page.index("<nav") : page.index("</nav>")]
    ids = [name for name, _ in Outline(page).items if not name[0].isupper()]
    assert ids == ["summary", "experiment-small", "experiment-theory", "theory", "made"]
    assert re.findall(r'href="#([^"]*)"', nav) == ids
    assert re.search(r"\.contents \{ position: fixed", page)


def test_pictures_of_the_theory_are_in_one_place_and_folded(two):
    items = Outline(two[0]).items
    assert [item for item in items if item[0] == "Measured"] == [("Measured", 1)] * 4
    names = [name for name, _ in items]
    assert names[names.index("theory") :] == ["theory", *["Measured"] * 4, "made"]


def test_nothing_in_the_picture_of_the_theory_is_cut(monkeypatch, tmp_path):
    drawn = []

    def lay_out(canvas, *_, **__):
        canvas.draw_without_rendering()
        drawn.append(canvas)

    monkeypatch.setattr(Canvas, "savefig", lay_out)
    values = {"tasks.dim": "1", "algorithm.lipschitz": "4"}
    row = Promise("MT-CO2OL (KT), with a long name", 9.0, 30.0, "thm:any-G", 1.0)
    assert draw_promises([PointPromises(values, FACTS, [row] * 3)], tmp_path / "theory")
    canvas = drawn[0]
    ticks = canvas.axes[0].get_xticklabels(which="both")  # also of ticks beyond the axis
    texts = [text for text in canvas.findobj(Text) if text.get_text() and text not in ticks]
    assert {"measured", "bound of the theorem"} <= {text.get_text() for text in texts}
    for text in texts:
        box = text.get_window_extent()
        assert -1 <= box.x0 <= box.x1 <= canvas.bbox.width + 1, text.get_text()


def test_the_picture_of_the_theory_has_every_algorithm_of_the_points_it_shows(
    monkeypatch, tmp_path
):
    drawn = []
    monkeypatch.setattr(Canvas, "savefig", lambda canvas, *_, **__: drawn.append(canvas))
    rows = [
        [Promise(name, 9.0 + k, 30.0, "thm:any-G", 1.0) for name in ("A", "B")] for k in range(20)
    ]
    points = [PointPromises({"L": str(k)}, FACTS, rows[k]) for k in range(20)]
    draw_promises(points, tmp_path / "theory")
    labels = [label.get_text() for label in drawn[0].axes[0].get_yticklabels()]
    assert {label[0] for label in labels} == {"A", "B"}


def test_the_picture_of_the_theory_has_one_row_for_what_is_the_same_at_all_points(
    monkeypatch, tmp_path
):
    drawn = []
    monkeypatch.setattr(Canvas, "savefig", lambda canvas, *_, **__: drawn.append(canvas))
    alone = Promise("alone", 9.0, 30.0, "learning alone", 1.0)
    points = [
        PointPromises({"L": str(k)}, FACTS, [alone, Promise("A", 9.0 + k, 30.0, "thm:any-G", 1.0)])
        for k in range(3)
    ]
    draw_promises(points, tmp_path / "theory")
    labels = [label.get_text() for label in drawn[0].axes[0].get_yticklabels()]
    assert labels == ["alone, all", "A, L = 0", "A, L = 1", "A, L = 2"]


def test_every_bound_is_judged_once_by_its_tightest_run():
    rows = [Promise("A", 9.0, 30.0, "thm:any-G", 1.0), Promise("B", 9.0, 3.0, "thm:sto", 1.0)]
    more = Promise("C", 15.0, 30.0, "thm:any-G", 1.0)
    points = [PointPromises({"L": "1"}, FACTS, rows), PointPromises({"L": "2"}, FACTS, [more])]
    held, broken = judged_bounds([("One", points[0]), ("Two", points[1])])
    assert held["verdict"] == "holds"
    assert held["note"] == "in all 2 runs; the most is 0.50 of the bound, C in “Two” at L = 2"
    assert broken["verdict"] == "does not hold"
    assert broken["note"].startswith("the one run exceeds it; the most is 3.0 of the bound")


def test_one_run_is_not_called_all_1_runs():
    (held,) = judged_bounds([("One", PointPromises({}, FACTS, [PROMISE]))])
    assert held["text"] == "Regret stays below the bound for any graph (Theorem 3)."
    most = "the most is 0.30 of the bound, A in “One”"
    assert held["note"] == f"in the one run that it covers; {most}"
    told = next(theory_words([PointPromises({}, FACTS, [PROMISE])]))
    assert told.startswith("the bound holds in the one run that meets the assumptions")


def test_bounds_of_the_theory_are_not_counted_as_claims_that_somebody_made():
    (bound,) = judged_bounds([("One", PointPromises({}, FACTS, [PROMISE]))])
    claim = {**bound, "text": "Alone is best."}
    broken = {**bound, "verdict": "does not hold"}
    assert tally([], [bound, bound]) == "No claims were made. All 2 bounds of the theory hold."
    assert tally([], [bound]) == "No claims were made. The bound of the theory holds."
    assert tally([claim], []) == "The claim holds."
    assert tally([claim, broken], [bound, broken, broken]) == (
        "Of 2 claims 1 holds, 1 does not hold. Of 3 bounds of the theory 1 holds, 2 do not hold."
    )


def test_the_report_counts_claims_and_bounds_apart(two):
    opening = two[0][: two[0].index("<img")]
    assert re.search(r"<p>(All|Of) 2 claims .*\. The bound of the theory holds\.</p>", opening)


@pytest.mark.parametrize(
    ("floors", "words"),
    [
        ([10.0], "the one run lies below the lower bound. {meant}: this one is easier."),
        ([10.0, 10.0], "all 2 runs lie below the lower bound. {meant}: these are easier."),
        ([10.0, 1.0], "1 of 2 runs lie below the lower bound. {meant}: this one is easier."),
        ([1.0, 1.0], "all 2 runs lie above the lower bound. {meant}."),
    ],
)
def test_a_run_below_the_lower_bound_is_no_contradiction_and_it_is_said_why(floors, words):
    rows = [dataclasses.replace(PROMISE, floor=floor) for floor in floors]
    (_, told) = theory_words([PointPromises({}, FACTS, rows)])
    meant = "It says what no algorithm can avoid on the worst stream, not on each"
    assert told == words.format(meant=meant)


UNSET = "tasks.dim is 1, the default, because the file does not set it."
TABLES = """
[[sweep]]
parameter = "tasks"
values = [{ kind = "gaussian", dim = 2 }, { kind = "variance", sigma = 0.1 }]
labels = ["a", "b"]
"""


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", [UNSET]),
        ("[tasks]\nkind = 'gaussian'\ndim = 1\n", []),
        ("[[sweep]]\nparameter = 'tasks.dim'\nvalues = [1, 2]\n", []),
        (TABLES, [UNSET]),
        (TABLES.replace("0.1", "0.1, dim = 1"), []),
    ],
)
def test_a_dimension_that_nobody_chose_is_told(tmp_path, more, told):
    text = small.TEXT[: small.TEXT.index("[[sweep]]")] + more
    assert list(default_words(task_of(small.write(tmp_path, text)))) == told


def test_the_setting_tells_what_the_file_says_from_defaults(tmp_path):
    said, _, default = setting(task_of(small.write(tmp_path))).partition(" By default: ")
    assert "replicates 3; rounds 200; graph.kind erdos_renyi; graph.agents 6;" in said
    assert "tasks" not in said.replace("tasks.smoothness (2 values)", "")
    assert default.startswith("tasks.kind gaussian; tasks.dim 1; stream.loss quadratic;")
    assert "graph" not in default


@pytest.mark.usefixtures("undrawn")
def test_a_quick_look_says_so_everywhere_and_judges_no_claim_about_longer_runs(tmp_path):
    text = small.TEXT.replace("rounds = 200", "rounds = 30_000") + CLAIM
    arguments = ["run", str(small.write(tmp_path, text)), "--quick", "--workers", "1"]
    arguments += ["--output", str(tmp_path / "out")]
    told = " ".join(CliRunner().invoke(app, arguments).stdout.split())
    assert "QUICK LOOK: 2 of 3 replicates, 3,000 of 30,000 rounds" in told
    assert f"setting: {UNSET}" in told
    assert "Not judged: Alone is best. (it needs runs of 30,000 rounds)" in told
    done = CliRunner().invoke(app, [*arguments, "--json"])
    part = json.loads(done.stdout)["small"]
    assert part["quick"] == {
        "replicates": 2,
        "of_replicates": 3,
        "rounds": 3000,
        "of_rounds": 30_000,
    }
    assert [claim["verdict"] for claim in part["claims"]] == ["not judged"]
    page = (tmp_path / "out/report.html").read_text()
    assert page.index("This is a quick look") < page.index('id="summary"')
    assert "Does not hold" not in page


@pytest.mark.usefixtures("undrawn")
def test_numbers_at_full_size_are_not_called_a_quick_look_with_others_that_are(tmp_path):
    whole = task_of(small.write(tmp_path))
    head = msgspec.structs.replace(whole.experiment.head, name="hedge", title="Hedge")
    experiment = msgspec.structs.replace(whole.experiment, head=head)
    few = dataclasses.replace(
        whole, experiment=experiment, replicates=2, quick=FullSize(3, whole.rounds)
    )
    results = run_tasks([whole, few], tmp_path, Local(1), progress=False)
    Report("T", "", [whole, few], tmp_path).write(results)
    page = " ".join((tmp_path / "report.html").read_text().split())
    assert (
        "This is a quick look at Hedge, with fewer runs than the file asks for. Do not quote those "
        "numbers"
    ) in page


def test_a_file_that_is_small_enough_is_no_quick_look(tmp_path):
    path = small.write(tmp_path, small.TEXT.replace("replicates = 3", "replicates = 2"))
    assert task_of(path, quick=True) == task_of(path)
    assert task_of(path).quick is None


def test_the_claims_of_the_example_hold_so_sharing_pays_where_tasks_are_alike():
    """And not where they differ, which is the second claim."""
    experiment = task_of(ROOT / "examples/ring.toml").experiment
    replicates = range(experiment.head.replicates)
    points = [
        PointResults.of(values, [run_cell(Job(point, experiment.head.seed, k)) for k in replicates])
        for point, values in zip(experiment.points, experiment.values, strict=True)
    ]
    results = Results(experiment, len(replicates), points, [])
    assert [verdict for _, verdict, _ in verdicts(results)] == ["holds", "holds"]
    best = experiment.values.index({"graph.reach": "16", "tasks.smoothness": "alike"})
    assert points[best].regret("alone").mean > 2.0 * points[best].regret("MT-CO2OL").mean
    assert list(gradient_words(results)) == []
