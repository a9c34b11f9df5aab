"""Where sharing starts to pay: crossings of curves, and the words and marks made of them."""

import numpy as np
import pytest
import small
from matplotlib.figure import Figure as Canvas

import mtcool
from mtcool.config import schema
from mtcool.experiments.files import spec
from mtcool.experiments.report.cutoff import (
    PayingRange,
    payoff_words,
    payoffs,
    published_words,
    stretches,
)
from mtcool.experiments.report.figures import draw
from mtcool.experiments.report.findings import findings
from mtcool.experiments.report.results import PointResults, Results
from mtcool.experiments.running.cells import Cell, Run

KINDS = {"alone": "i_ftrl", "open": "mt_co2ol", "tree": "dpmt_co2ol"}


def made_up(parameter, regrets, kinds=KINDS, title=None):
    """Results with the given mean regrets: {value: [regret of each algorithm]}."""
    algorithms = [schema.AlgorithmSpec(name=name, algorithm=kind) for name, kind in kinds.items()]
    values = [{parameter: spec.label(value)} for value in regrets]
    sweep = spec.Sweep(parameter=parameter, values=list(regrets), title=title)
    experiment = spec.Experiment(
        head=spec.Head(name="made-up", sweep=[sweep]),
        points=[spec.Point(algorithm=algorithms) for _ in regrets],
        values=values,
    )
    points = []
    for labels, means in zip(values, regrets.values(), strict=True):
        cells = [
            Cell(
                0.1,
                [1, 10],
                [Run(n, [0.0, m * f], 0.0, 0.0, 1, 8, False, 1.0) for n, m in named],
                small.instance(),
            )
            for f in (0.99, 1.01)
            for named in [list(zip(kinds, means, strict=True))]
        ]
        points.append(PointResults.of(labels, cells))
    return Results(experiment, 2, points, [])


def ends(x, regret, rival):
    found = stretches(*(np.array(v, float) for v in (x, regret, rival)))
    return [(stretch.start, stretch.end) for stretch in found]


@pytest.mark.parametrize("power", [-2.0, -0.5, 1.5])
def test_power_laws_cross_where_they_do(power):
    """Straight in logarithms: the interpolation is exact, wherever the swept values lie."""
    x = np.array([0.03, 0.5, 20.0])
    ((start, end),) = ends(x, 7.0 * (x / 0.4) ** power, np.full(3, 7.0))
    assert (start if power < 0 else end) == pytest.approx(0.4)
    assert (end if power < 0 else start) is None


@pytest.mark.parametrize(
    ("regret", "want"),
    [
        ([1, 1, 1], [(None, None)]),
        ([9, 9, 9], []),
        ([2, 2, 2], []),
        ([4, 1, 4], [(pytest.approx(10**0.5), pytest.approx(10**1.5))]),
        ([1, 4, 1], [(None, pytest.approx(10**0.5)), (pytest.approx(10**1.5), None)]),
        ([4, 2, 1], [(pytest.approx(10), None)]),
    ],
)
def test_stretches_of_every_shape(regret, want):
    assert ends([1, 10, 100], regret, [2, 2, 2]) == want


def test_without_logarithms_curves_are_straight_as_they_are():
    assert ends([0, 10], [1, 4], [2, 2]) == [(None, pytest.approx(5.0))]
    assert ends([1, 3], [-1, 3], [1, 1]) == [(None, pytest.approx(3**0.5))]


def test_words_name_the_cutoff_of_every_algorithm_that_feels_the_axis():
    results = made_up("privacy.epsilon", {0.1: [2, 1, 4], 10.0: [2, 1, 1]}, title="ε")
    figure = spec.Figure(x="privacy.epsilon")
    assert list(payoff_words(results.points, figure.x, results)) == [
        "tree: sharing pays from ε = 1.0 on (against alone)."
    ]
    assert list(findings(results, figure)) == [
        "from ε = 0.1 to 10 the regret of tree is 1.00 to 4.00.",
        "tree: sharing pays from ε = 1.0 on (against alone).",
    ]


def test_along_the_rounds_all_that_share_are_told():
    results = made_up("rounds", {10: [1, 0.5, 4], 1000: [10, 5, 4]}, title="T")
    told = list(payoff_words(results.points, "rounds", results))
    assert told == [
        "open: sharing pays everywhere (against alone).",
        "tree: sharing pays from T = 160 on (against alone).",
    ]


def test_words_count_where_the_lead_is_clear():
    results = made_up("rounds", {10: [1, 0.5, 0.9], 1000: [10, 5, 9]}, title="T")
    results.points[0].curves[:, 2, -1] = [0.9, 0.7]  # leads of 0.09 and 0.31
    *_, told = payoff_words(results.points, "rounds", results)
    assert told == "tree: sharing pays everywhere (against alone; clear at 1 of 2 values)."


def test_a_lead_that_is_clear_nowhere_is_no_finding():
    results = made_up("rounds", {10: [1, 0.5, 0.9], 1000: [10, 5, 9]}, title="T")
    for point in results.points:
        point.curves[:, 2, -1] = point.curves[:, 0, -1] * [0.9, 1.05]
    *_, told = payoff_words(results.points, "rounds", results)
    assert told == "tree: no lead over alone is clear."


@pytest.mark.parametrize(
    ("parameter", "kinds"),
    [
        ("tasks.smoothness", KINDS),
        ("rounds", {"alone": "i_ftrl", "open": "mt_co2ol", "one": "st_ftrl"}),
        ("rounds", {"one": "st_ftrl", "open": "mt_co2ol", "tree": "dpmt_co2ol"}),
    ],
)
def test_other_figures_have_no_cutoff(parameter, kinds):
    results = made_up(parameter, {1: [2, 1, 4], 10: [2, 1, 1]}, kinds)
    assert list(payoffs(results.points, parameter, results)) == []


def test_marks_lie_on_the_line_of_learning_alone():
    results = made_up("rounds", {10: [1, 0.5, 4], 1000: [100, 5, 4]})
    _, tree = payoffs(results.points, "rounds", results)
    assert next(tree.marks()) == (pytest.approx(40.0), pytest.approx(4.0))
    assert PayingRange(None, None).cutoffs == []


def drawn(results, figure, folder, monkeypatch):
    """The axes of a figure, and its words at the bottom."""
    kept, save = [], Canvas.savefig

    def keep(canvas, *arguments, **settings):
        kept.append(canvas)
        save(canvas, *arguments, **settings)

    monkeypatch.setattr(Canvas, "savefig", keep)
    draw(results, figure, folder / "figure")
    return kept[0].axes[0], kept[0].get_supxlabel()


def test_algorithms_that_do_not_feel_privacy_are_dashed_lines(tmp_path, monkeypatch):
    results = made_up("privacy.epsilon", {0.1: [2, 1, 400], 10.0: [2, 1, 1]})
    axes, words = drawn(results, spec.Figure(x="privacy.epsilon"), tmp_path, monkeypatch)
    curves = [line for line in axes.lines if len(line.get_xdata()) == 2]
    assert [line.get_linestyle() for line in curves] == ["--", "--", "-"]
    assert [line.get_marker() for line in curves] == ["", "", "D"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert len(axes.lines) == 5
    assert words.endswith("where sharing starts or ceases to pay")


def test_figures_without_a_cutoff_say_nothing_of_it(tmp_path, monkeypatch):
    results = made_up("privacy.epsilon", {0.1: [2, 1, 4], 10.0: [2, 1, 3]})
    axes, words = drawn(results, spec.Figure(x="privacy.epsilon"), tmp_path, monkeypatch)
    assert len(axes.lines) == 3
    assert "sharing" not in words


def test_the_papers_cutoff_is_told_of_private_experiments_only():
    ring = schema.Ring(agents=4)
    tree = schema.AlgorithmSpec(name="tree", algorithm="dpmt_co2ol")
    alone = schema.AlgorithmSpec(name="alone", algorithm="i_ftrl")
    points = [spec.Point(rounds=t, graph=ring, algorithm=[tree]) for t in (4, 400)]
    (told,) = published_words(points, [mtcool.graphs.ring(4)] * 2)
    assert "8.1 to 81 here" in told
    # 4 / sqrt(3) s / (6 - 8 / sqrt(3)) with s = sqrt(8), and s / 10 = 1.4 sqrt(14) for T = 400
    assert "from epsilon = 4.7 to 8.8 on" in told
    assert list(published_words([spec.Point(algorithm=[alone])], [mtcool.graphs.ring(4)])) == []
