"""Tables, words and the report follow from the numbers."""

import csv
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
import small
from matplotlib.figure import Figure as Canvas

from mtcool import cli
from mtcool.config import schema
from mtcool.experiments.files import spec
from mtcool.experiments.report.figures import draw
from mtcool.experiments.report.findings import findings, theory_words, verdicts
from mtcool.experiments.report.promises import GraphFacts, PointPromises, Promise
from mtcool.experiments.report.results import Estimate, PointResults, Results
from mtcool.experiments.report.tables import summary
from mtcool.experiments.running.cells import Cell, Run
from mtcool.reports.numbers import short

COMMAND = [sys.executable, "-m", "mtcool"]
ALONE = ["--workers", "1"]  # in the process of the command: nothing here is about workers


def made_up(regrets, *, sweep="tasks.smoothness", labels=("1", "10"), claims=(), names=("A", "B")):
    """Results with given final regrets: regrets[point][replicate][algorithm]."""
    experiment = spec.Experiment(
        head=spec.Head(
            name="made-up",
            sweep=[spec.Sweep(parameter=sweep, values=list(labels), labels=list(labels))],
            claim=[spec.Claim(**claim) for claim in claims],
        ),
        points=[
            spec.Point(algorithm=[schema.AlgorithmSpec(name=n, algorithm="i_ftrl") for n in names])
            for _ in labels
        ],
        values=[{sweep: label} for label in labels],
    )
    points = []
    for k, (values, replicates) in enumerate(zip(experiment.values, regrets, strict=True)):
        cells = []
        for finals in replicates:
            runs = [
                Run(n, [f / 2, f], f, f, 1, 8, False, 1.0)
                for n, f in zip(names, map(float, finals), strict=True)
            ]
            end = int(values[sweep]) if sweep == "rounds" else 10
            cells.append(
                Cell(sigma=0.1 * (k + 1), times=[1, end], runs=runs, instance=small.instance())
            )
        points.append(PointResults.of(values, cells))
    return Results(experiment, len(regrets[0]), points, [])


CLEAR = [[[1, 5], [2, 6], [3, 8]], [[9, 2], [9, 1], [9, 3]]]


def test_words_name_the_best_and_its_lead():
    told = list(findings(made_up(CLEAR), spec.Figure(x="tasks.smoothness")))
    best = "has the least regret (2.00 ± 0.58); its lead is"
    assert told == [
        f"at tasks.smoothness = 1 A {best} 4.33 ± 0.33 over B.",
        f"at tasks.smoothness = 10 B {best} 7.00 ± 0.58 over A.",
    ]


def test_along_a_parameter_of_one_algorithm_it_is_compared_with_the_others():
    results = made_up(CLEAR, sweep="algorithm.A.radius")
    told = list(findings(results, spec.Figure(x="algorithm.A.radius")))
    assert [words.split(" has the least")[0][-1] for words in told] == ["A", "B"]


def test_words_change_with_the_numbers():
    swapped = [[list(reversed(pair)) for pair in point] for point in CLEAR]
    told = list(findings(made_up(swapped), spec.Figure(x="sigma")))
    assert told[0].startswith("at σ̄ = 0.100 B has the least regret")
    assert told[1].startswith("at σ̄ = 0.200 A has the least regret")


def test_a_lead_within_the_noise_is_called_so():
    noisy = [[[1, 2], [3, 1], [2, 4]]] * 2
    (told,) = findings(made_up(noisy), spec.Figure(x="tasks.smoothness"))
    assert told.startswith("from tasks.smoothness = 1 to 10 A has the least regret")
    assert "; its closest rival is B, 0.333 ± " in told
    assert told.endswith(" behind, within the noise.")


def test_equal_algorithms_are_called_equal():
    (told,) = findings(made_up([[[1, 1], [2, 2]]] * 2), spec.Figure(x="tasks.smoothness"))
    assert told.endswith("the same as B.")


def test_categories_are_told_one_by_one():
    results = made_up(CLEAR[:1] * 2, sweep="graph", labels=("ring", "star"))
    told = list(findings(results, spec.Figure(x="graph")))
    assert [words.split(" A ")[0] for words in told] == ["at graph = ring", "at graph = star"]


def test_growth_is_the_slope_in_logarithms():
    labels = ("100", "10000")
    regrets = [[[10, 100], [20, 50]], [[100, 10_000], [200, 5000]]]
    told = list(findings(made_up(regrets, sweep="rounds", labels=labels), spec.Figure(x="rounds")))
    assert told[0].startswith("A: regret grows as T to the power 0.500 ± ")
    assert told[1].startswith("B: regret grows as T to the power 1.00 ± ")


def test_claims_are_judged_by_the_numbers():
    claims = [
        {"text": "A wins at 1.", "best": "A", "at": {"tasks.smoothness": 1}},
        {"text": "A wins everywhere.", "best": "A"},
    ]
    first, second = verdicts(made_up(CLEAR, claims=claims))
    assert first[:2] == ("A wins at 1.", "holds")
    assert first[2] == (
        "A has the least regret (2.00 ± 0.58); its lead is 4.33 ± 0.33 over B "
        "at tasks.smoothness = 1, σ̄ = 0.100"
    )
    assert second[:2] == ("A wins everywhere.", "does not hold")
    assert second[2] == "B has less regret by 7.00 ± 0.58 at tasks.smoothness = 10, σ̄ = 0.200"


def test_claims_about_longer_runs_are_not_judged():
    claims = [{"text": "A wins everywhere.", "best": "A"}]
    (verdict,) = verdicts(made_up(CLEAR, claims=claims), needs=150_000)
    assert verdict == ("A wins everywhere.", "not judged", "it needs runs of 150,000 rounds")


def test_a_claim_within_the_noise_is_undecided():
    noisy = [[[1, 2], [3, 1], [2, 4]]] * 2
    (verdict,) = verdicts(made_up(noisy, claims=[{"text": "A wins.", "best": "A"}]))
    assert verdict[1] == "undecided"
    assert verdict[2].endswith("within the noise")


def test_an_undecided_claim_shows_where_its_best_is_behind():
    """At the first point A leads by next to nothing, at the second it is behind by more."""
    regrets = [[[1, 2.01], [2, 1], [3, 3]], [[3, 2], [3, 2.5], [2, 2.2]]]
    (verdict,) = verdicts(made_up(regrets, claims=[{"text": "A wins.", "best": "A"}]))
    assert verdict[1] == "undecided"
    assert verdict[2].startswith("B is ahead of A by 0.43")
    assert "at tasks.smoothness = 10," in verdict[2]


def test_every_point_against_a_claim_names_its_own_rival():
    claim = {"text": "A wins.", "best": "A"}
    regrets = [[[5, 1, 9], [6, 2, 9], [7, 3, 9]], [[5, 9, 1], [6, 9, 2], [7, 9, 3]]]
    (verdict,) = verdicts(made_up(regrets, names=("A", "B", "C"), claims=[claim]))
    assert "B has less regret by 4.00 ± 0 at tasks.smoothness = 1," in verdict[2]
    assert "C has less regret by 4.00 ± 0 at tasks.smoothness = 10," in verdict[2]


@pytest.mark.parametrize("count", [2, 3, 8, 48])
def test_clear_differences_are_those_of_a_t_test(count):
    """Under the null one sample in twenty is clear, whatever the number of replicates."""
    draws = np.random.default_rng(0).standard_normal((4000, count))
    clear = np.mean([Estimate.of(values).clear() for values in draws])
    assert abs(clear - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 4000)


def test_a_claim_may_speak_of_some_algorithms_only():
    three = [[[1, 5, 9], [2, 6, 10], [3, 7, 12]]] * 2
    claim = {"text": "B beats C.", "best": "B", "among": ["B", "C"]}
    (verdict,) = verdicts(made_up(three, names=("A", "B", "C"), claims=[claim]))
    assert verdict[1] == "holds"


def test_means_and_errors_are_those_of_the_runs():
    rows = list(summary(made_up(CLEAR)))
    values = np.array([1.0, 2.0, 3.0])
    assert rows[0]["regret"] == values.mean()
    assert rows[0]["regret_error"] == pytest.approx(values.std(ddof=1) / np.sqrt(3))
    assert [row["algorithm"] for row in rows] == ["A", "B", "A", "B"]


def test_one_replicate_has_no_error():
    assert next(summary(made_up([[[1, 2]], [[1, 2]]])))["regret_error"] is None


class Links(HTMLParser):
    """Everything that a page would load or lead to, and its balance of tags."""

    def __init__(self):
        super().__init__()
        self.targets, self.open, self.ids = [], [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href"):
                self.targets.append(value)
            if name == "id":
                self.ids.add(value)
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The small experiment, run by the command, and what it printed."""
    folder = tmp_path_factory.mktemp("finished")
    claim = '\n[[claim]]\ntext = "Alone & <best>."\nbest = "i-FTRL"\n'
    path = small.write(folder, small.TEXT + claim)
    done = subprocess.run(
        [*COMMAND, "run", path, "--output", folder / "out", "--json", *ALONE],
        check=True,
        capture_output=True,
        text=True,
    )
    return folder / "out", json.loads(done.stdout)


def test_the_report_stands_alone(finished):
    page = (finished[0] / "report.html").read_text()
    links = Links()
    links.feed(page)
    assert not links.open
    assert links.targets
    for target in links.targets:
        assert target.startswith("data:image/png;base64,") or target[1:] in links.ids
    assert "http" not in re.sub(r"data:[^\"]*", "", page)
    assert "Alone &amp; &lt;best&gt;." in page


def test_the_folder_has_all_there_is_to_know(finished):
    folder, printed = finished
    names = {p.name for p in (folder / "small").iterdir()}
    assert names == {
        "experiment.toml",
        "runs.csv",
        "summary.csv",
        "differences.csv",
        "curves.csv",
        "agents.csv",
        "agents.png",
        "agents.svg",
        "bounds.csv",
        "bounds.png",
        "bounds.svg",
        "theory.csv",
        "theory.png",
        "theory.svg",
        "figure-1.png",
        "figure-1.svg",
    }
    about = json.loads((folder / "configuration.json").read_text())
    assert about["experiments"]["small"]["seed"] == 5
    assert about["environment"]["packages"]["mtcool"]
    with open(folder / "small/runs.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 3 * 3
    mean = np.mean(
        [
            float(row["regret"])
            for row in rows
            if row["tasks.smoothness"] == "1" and row["algorithm"] == "i-FTRL"
        ]
    )
    told = next(row for row in printed["small"]["regret"] if row["algorithm"] == "i-FTRL")
    assert told["regret"] == mean
    assert printed["small"]["claims"][0]["text"] == "Alone & <best>."


def test_paired_differences_are_those_of_the_runs(finished):
    with open(finished[0] / "small/runs.csv") as file:
        runs = {
            (row["tasks.smoothness"], row["replicate"], row["algorithm"]): float(row["regret"])
            for row in csv.DictReader(file)
        }
    with open(finished[0] / "small/differences.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 3
    for row in rows:
        gaps = np.array(
            [
                runs[row["tasks.smoothness"], k, row["algorithm"]]
                - runs[row["tasks.smoothness"], k, row["other"]]
                for k in "012"
            ]
        )
        assert float(row["difference"]) == pytest.approx(gaps.mean())
        assert float(row["difference_error"]) == pytest.approx(gaps.std(ddof=1) / np.sqrt(3))


def test_a_wrong_file_is_one_sentence_and_no_traceback(tmp_path):
    path = small.write(tmp_path, small.TEXT.replace("replicates", "replicats"))
    done = subprocess.run(
        [sys.executable, "-m", "mtcool", "run", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.strip().endswith("unknown key replicats; did you mean replicates?")
    assert "Traceback" not in done.stderr


@pytest.fixture
def told(monkeypatch, capsys, undrawn):
    """Runs a command here, without its pictures, and returns what it prints."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["mtcool", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert not end.value.code
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("x", ["tasks.smoothness", "sigma", "time"])
def test_figures_are_the_same_bytes_for_the_same_numbers(x, tmp_path):
    at = {"tasks.smoothness": 1} if x == "time" else {}
    for name in ("one", "two"):
        draw(made_up(CLEAR), spec.Figure(x=x, at=at), tmp_path / name)
    for suffix in (".png", ".svg"):
        assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (0.0, 3, "0"),
        (999.7, 3, "1,000"),
        (150.0, 2, "150"),
        (99.7, 2, "100"),
        (-1234.6, 3, "-1,235"),
        (0.00123, 2, "0.0012"),
        (3e-7, 3, "3e-07"),
    ],
)
def test_numbers_are_written_as_people_do(number, digits, text):
    assert short(number, digits) == text


def test_all_points_of_a_figure_are_inside_its_axes(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(Canvas, "savefig", lambda canvas, *_, **__: drawn.append(canvas))
    wide = [[[0.011, 5], [0.012, 6]], [[90, 2], [95, 1]]]
    draw(made_up(wide), spec.Figure(x="tasks.smoothness"), tmp_path / "wide")
    (axes,) = drawn[0].axes
    low, high = axes.get_ylim()
    heights = np.concatenate([line.get_ydata() for line in axes.get_lines()])
    assert axes.get_yscale() == "log"
    assert low < heights.min() < heights.max() < high


def test_an_experiment_with_one_algorithm_and_odd_words_is_told(tmp_path, told):
    alone = small.TEXT.split("[[algorithm]]")
    text = alone[0].replace("replicates = 3", 'replicates = 1\ntitle = "[/tmp] [red]"')
    text += "[[algorithm]]" + alone[2] + '[[claim]]\ntext = "[/b] it is"\nbest = "i-FTRL"\n'
    out = told("run", small.write(tmp_path, text), "--output", tmp_path, *ALONE)
    assert "Holds: [/b] it is" in out
    assert (tmp_path / "small/differences.csv").read_text().startswith("algorithm,other,")


def test_the_theory_stands_next_to_the_measured_regret(finished):
    with open(finished[0] / "small/theory.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 3
    for row in rows:
        assert int(row["twice_independence"]) <= int(row["domination"]) <= int(row["independence"])
        if row["ceiling"]:
            assert float(row["measured"]) <= float(row["ceiling"])
            assert float(row["ratio"]) == pytest.approx(
                float(row["measured"]) / float(row["ceiling"])
            )
    assert {row["statement"] for row in rows if row["ceiling"]} == {"KT (theorem of Appendix C)"}
    assert "the bound holds in all" in finished[1]["small"]["theory"][0]


def test_a_bound_that_fails_is_shouted():
    facts = GraphFacts(2, 1, 2, 2, "1", "1", "1")
    row = Promise("A", 9.0, 3.0, "thm:any-G", 1.0)
    (first, _) = theory_words([PointPromises({"L": "1"}, facts, [row])])
    assert first.startswith("the bound FAILS in the one run that meets the assumptions")


def test_the_theory_says_which_replicates_it_speaks_of_and_calls_parameters_by_their_titles():
    facts = GraphFacts(2, 1, 2, 2, "1", "1", "1")
    rows = [
        Promise("A", 1.0, 4.0, "any graph (Theorem 3)", 1.0),
        Promise("A", 1.0, 4.0, "known rates, in expectation", 1.0),
    ]
    one, mean = (
        next(
            theory_words(
                [PointPromises({"tasks.sigma": "1"}, facts, [row])], {"tasks.sigma": "σ"}.get
            )
        )
        for row in rows
    )
    assert one.endswith("A at σ = 1: 1.00 of 4.00 in the first replicate, 0.25 of the bound.")
    assert "1.00 of 4.00 on average over the replicates, 0.25" in mean


def test_no_bound_is_shown_where_gradients_were_clipped(tmp_path, told):
    """The first gradients are longer than L = .001."""
    text = small.TEXT.replace("lipschitz = 2.0", "lipschitz = 0.001").replace("= 3", "= 1")
    path = small.write(tmp_path, text)
    out = told("theory", path, "--output", tmp_path / "out", *ALONE)
    assert "No algorithm here meets the assumptions of a theorem." in out
    with open(tmp_path / "out/small/runs.csv") as file:
        assert all(int(row["clipped"]) > 1 for row in csv.DictReader(file))
