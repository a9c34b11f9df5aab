"""Private algorithms in experiment files: noise that repeats, levels of the agents, refusals."""

import copy
import tomllib
from pathlib import Path

import msgspec
import numpy as np
import pytest
import small

from mtcool.config.algorithms import record_of
from mtcool.config.graphs import build_graph
from mtcool.experiments.files import spec
from mtcool.experiments.files.loading import make_experiment
from mtcool.experiments.report.promises import _too_long, promises
from mtcool.experiments.report.results import PointResults
from mtcool.experiments.running.build import (
    Replicate,
    build_settings,
    build_stream,
)
from mtcool.experiments.running.cells import Job, Run, run_cell
from mtcool.experiments.running.engines import Local, run_jobs
from mtcool.experiments.running.private import levels, most_activations
from mtcool.experiments.running.runner import jobs_of
from mtcool.experiments.running.suite import paper_tasks, task_of

TEXT = """
name = "private"
rounds = 200
replicates = 2
seed = 5

[graph]
kind = "erdos_renyi"
agents = 6
p = 0.5

[stream]
loss = "linear"
drift = 0.3

[[algorithm]]
name = "alone"
algorithm = "i_ftrl"

[[algorithm]]
name = "tree"
algorithm = "dpmt_co2ol"
experts = [0.05]

[[algorithm]]
name = "smooth"
algorithm = "dpmt_co2ol"
experts = [0.05]
aggregator = "smooth_tree"

[[sweep]]
parameter = "privacy.epsilon"
values = [0.5, 50.0]
"""
PRIVACY = ("privacy", "privacy-rounds", "privacy-few")


def jobs_in(folder, text=TEXT):
    return [job for point in jobs_of(task_of(small.write(folder, text))) for job in point]


def regrets(job):
    return {run.algorithm: run.regret for run in run_cell(job).runs}


def changed(job, **fields):
    return Job(msgspec.structs.replace(job.point, **fields), job.seed, job.replicate)


def test_a_private_cell_repeats_exactly(tmp_path):
    job = jobs_in(tmp_path)[0]
    assert run_cell(job) == run_cell(job)


def test_any_number_of_workers_gives_the_same_private_cells(tmp_path):
    jobs = jobs_in(tmp_path)
    one, two = (
        {job.key: cell for job, cell in run_jobs(jobs, Local(workers))} for workers in (1, 2)
    )
    assert len(one) == 4
    assert one == two


def test_replicates_and_algorithms_have_their_own_noise(tmp_path):
    jobs = jobs_in(tmp_path)
    twins = [
        msgspec.structs.replace(jobs[0].point.algorithm[1], name=name) for name in ("one", "two")
    ]
    found = regrets(changed(jobs[0], algorithm=twins))
    assert found["one"] != found["two"]
    assert regrets(jobs[0])["tree"] != regrets(jobs[1])["tree"]


def test_noise_does_not_depend_on_the_algorithms_beside(tmp_path):
    job = jobs_in(tmp_path)[0]
    alone = changed(job, algorithm=job.point.algorithm[2:])
    assert regrets(alone)["smooth"] == regrets(job)["smooth"]


def test_points_of_a_privacy_sweep_share_all_that_is_not_private(tmp_path):
    strict, _, relaxed, _ = map(regrets, jobs_in(tmp_path))
    assert strict["alone"] == relaxed["alone"]
    assert strict["tree"] != relaxed["tree"]


def test_private_algorithms_leave_the_replicates_of_others_alone(tmp_path):
    """Graph and stream come from the first two children, as without privacy."""
    job = jobs_in(tmp_path)[0]
    for_graph, for_stream = np.random.SeedSequence(5, spawn_key=(0,)).spawn(2)
    graph = build_graph(job.point.graph, np.random.default_rng(for_graph))
    stream = build_stream(job.point, graph, for_stream)
    sigma = run_cell(changed(job, algorithm=job.point.algorithm[:1], privacy=None)).sigma
    assert run_cell(job).sigma == sigma
    made, drawn, _ = job.seeds()
    assert build_graph(job.point.graph, np.random.default_rng(made)).idx.tolist() == (
        graph.idx.tolist()
    )
    assert build_stream(job.point, graph, drawn).agents.tolist() == stream.agents.tolist()


def test_levels_horizon_and_mechanism_are_those_of_the_file(tmp_path):
    text = TEXT.replace('aggregator = "smooth_tree"', 'aggregator = "blt"\nlaw = "gaussian"')
    table = "delta = 1e-5\nepsilon = 2.0\nstrict_agents = 2\nstrict_epsilon = 0.25\nhorizon = 90"
    job = jobs_in(tmp_path, text.replace("[stream]", f"[privacy]\n{table}\n\n[stream]"))[0]
    for_graph, for_stream, for_noise = job.seeds()
    graph = build_graph(job.point.graph, np.random.default_rng(for_graph))
    stream = build_stream(job.point, graph, for_stream)
    counts = np.bincount(stream.agents, minlength=graph.size)
    tree, blt = (
        build_settings(Replicate(job.point, graph, counts, for_noise), one).privacy
        for one in job.point.algorithm[1:]
    )
    assert sorted(tree.budget.epsilon) == [0.25] * 2 + [0.5] * 4
    assert (tree.budget.delta, blt.budget.delta) == (None, (1e-5,) * 6)
    assert (tree.horizon, blt.law) == ((90,) * 6, "gaussian")
    short = msgspec.structs.replace(job.point, privacy=spec.PrivacySpec())
    planned = build_settings(
        Replicate(short, graph, counts, for_noise), job.point.algorithm[1]
    ).privacy
    assert planned.horizon == (counts.max(),) * 6
    assert most_activations(np.array([1, 0])) == 2


def test_strict_agents_are_nested_and_drawn_by_the_replicate():
    def strict(number, seed=0):
        table = spec.PrivacySpec(epsilon=9.0, strict_agents=number, strict_epsilon=1.0)
        return set(np.flatnonzero(levels(table, 20, np.random.SeedSequence(seed)) == 1.0))

    assert [len(strict(number)) for number in (0, 3, 20)] == [0, 3, 20]
    assert strict(3) < strict(10)
    assert strict(3) != strict(3, seed=1)


def test_a_private_run_tells_how_many_gradients_were_clipped(tmp_path):
    job = jobs_in(tmp_path)[0]
    assert [run.clipped for run in run_cell(job).runs] == [0] * 3
    short = [msgspec.structs.replace(one, lipschitz=0.01) for one in job.point.algorithm]
    assert all(run.clipped > 1 for run in run_cell(changed(job, algorithm=short)).runs)


def test_a_private_run_has_no_bound_where_a_gradient_could_have_been_clipped():
    """Noise decides where it predicts, and the bound is a mean over all noise."""
    algorithm = (
        make_experiment({"name": "small", "algorithm": [{"name": "p", "algorithm": "dpmt_co2ol"}]})
        .points[0]
        .algorithm[0]
    )
    run = Run("p", [1.0], 1.0, 1.0, 1, 8, 0, 1.0)
    assert not _too_long(algorithm, run)
    assert _too_long(algorithm, msgspec.structs.replace(run, longest_gradient=1.1))


def test_private_algorithms_have_no_ceiling_where_tasks_vary_more_than_their_expert(tmp_path):
    job = jobs_in(tmp_path)[0]
    rows = promises(job, PointResults.of({"privacy.epsilon": "0.5"}, [run_cell(job)])).rows
    assert [row.ceiling is None for row in rows] == [False, True, True]
    assert rows[1].statement == "none: a local variance is above 0.05"


GOOD = tomllib.loads(TEXT)


def with_options(k=1, **options):
    """The private experiment with more keys for algorithm k; `privacy` and `sweep` are tables."""
    table = copy.deepcopy(GOOD)
    for name in ("privacy", "sweep"):
        if name in options:
            table[name] = options.pop(name)
    table["algorithm"][k] |= options
    return table


def without_private(**options):
    return with_options(**options) | {"algorithm": GOOD["algorithm"][:1]}


BAD = {
    "aggregator without use": (
        with_options(0, aggregator="binary_tree"),
        "alone: aggregator applies only to dpmt_co2ol, got 'binary_tree'",
    ),
    "calibration without use": (
        with_options(0, calibration="tight"),
        "alone: calibration applies only to dpmt_co2ol, got 'tight'",
    ),
    "law without noise": (
        with_options(aggregator="none", law="gaussian"),
        "tree: law has no meaning without noise, got 'gaussian'",
    ),
    "BLT with Laplace noise": (
        with_options(aggregator="blt"),
        "tree: law must be gaussian for blt, got 'laplace'",
    ),
    "the paper's noise for another tree": (
        with_options(2, calibration="paper"),
        "smooth: aggregator must be binary_tree for calibration paper, got 'smooth_tree'",
    ),
    "the paper's noise with another law": (
        with_options(calibration="paper", law="gaussian"),
        "tree: law must be laplace for calibration paper, got 'gaussian'",
    ),
    "another learner": (
        GOOD | {"algorithm": [{"name": "a", "algorithm": "dpmt_co2ol", "learner": "KT"}]},
        "a: learner must be MTFTRL for dpmt_co2ol, got 'KT'",
    ),
    "estimated rates": (
        with_options(rates="estimated"),
        "tree: rates must be adversarial or stochastic for dpmt_co2ol, got 'estimated'",
    ),
    "an unknown aggregator": (
        with_options(aggregator="tree"),
        "algorithm 2.aggregator must be one of binary_tree, blt, doubling, none, per_gradient, smo",
    ),
    "privacy of nobody": (
        without_private(privacy={"epsilon": 2.0}, sweep=[]),
        "privacy has no meaning without an algorithm dpmt_co2ol",
    ),
    "a sweep of nobody's privacy": (
        without_private(),
        "privacy has no meaning without an algorithm dpmt_co2ol",
    ),
    "delta without use": (
        with_options(privacy={"delta": 1e-5}),
        "privacy.delta has no meaning without a gaussian law, got 1e-05",
    ),
    "delta of one": (
        with_options(privacy={"delta": 1.0}),
        "privacy.delta must be a number below 1, got 1.0",
    ),
    "epsilon of zero": (
        with_options(privacy={"epsilon": 0.0}, sweep=[]),
        "privacy.epsilon must be a number above 0, got 0.0",
    ),
    "strict agents without a level": (
        with_options(privacy={"strict_agents": 2}),
        "privacy.strict_epsilon is missing for strict_agents = 2",
    ),
    "a level for no strict agents": (
        with_options(privacy={"strict_epsilon": 2.0}),
        "privacy.strict_epsilon has no meaning without strict_agents, got 2.0",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_one_sentence(kind):
    table, words = BAD[kind]
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        make_experiment(table)
    assert str(refusal.value).startswith(words)
    assert "\n" not in str(refusal.value)


def test_more_strict_agents_than_agents_are_refused_before_anything_runs(tmp_path):
    table = "[privacy]\nstrict_agents = 7\nstrict_epsilon = 1.0\n\n[stream]"
    with pytest.raises(
        ValueError, match=r"tree: privacy\.strict_agents must be at most the 6 agents, got 7"
    ):
        jobs_in(tmp_path, TEXT.replace("[stream]", table))


def test_a_horizon_that_is_too_short_is_refused(tmp_path):
    text = TEXT.replace("[stream]", "[privacy]\nhorizon = 3\n\n[stream]")
    with pytest.raises(ValueError, match=r"horizon"):
        run_cell(jobs_in(tmp_path, text)[0])


def test_the_example_of_the_documents_is_a_private_experiment():
    page = (Path(__file__).parents[2] / "docs/experiments.md").read_text()
    block = next(b for b in page.split("```toml\n")[1:] if b.startswith("[privacy]"))
    (point,) = make_experiment(tomllib.loads(block.split("```")[0]) | {"name": "example"}).points
    assert (point.privacy.strict_agents, record_of(point.algorithm[0]).private) == (3, True)


def test_the_papers_experiments_hold_those_on_privacy():
    found = {task.experiment.head.name: task for task in paper_tasks()}
    assert set(PRIVACY) <= set(found)
    points = found["privacy"].experiment.points
    assert [point.privacy.epsilon for point in points] == [0.03, 0.1, 0.3, 1, 3, 10, 30, 100]
