"""Speed: rows a second on births, with everything on, in turns with River and Vowpal Wabbit.

mtcool predicts and learns each row in three learners: shared, alone and pooled. River runs its
pipeline of each state, Vowpal Wabbit one model, both called from Python. Parsing is left out: the
rows are dictionaries for River and texts for Vowpal Wabbit before the clock starts.
"""

from benchmarks.learn import ours
from benchmarks.learn.problem import AS_THEY_ARE, Problem, problems
from benchmarks.learn.rivals import river_models, vowpal
from benchmarks.learn.score import say
from benchmarks.result import Result, at_least
from benchmarks.timing import Run, fastest

ROWS = 96_000
TARGETS = {"River per agent": 3.0, "Vowpal Wabbit": 2.0}


def run(quick: bool) -> list[Result]:
    """Speed over that of each rival, with gradients shared; with rows for information."""
    problem = problems("births", quick)[0].first(ROWS)
    dictionaries, texts, labels = (
        make(problem) for make in (river_models.dictionaries, vowpal.texts, vowpal.labels)
    )
    say("speed: mtcool, River and Vowpal Wabbit in turns")
    contestants = {
        "gradients": lambda: _everything(problem, "gradients"),
        "rows": lambda: _everything(problem, "rows"),
        "River per agent": lambda: lambda: river_models.play(problem, dictionaries, AS_THEY_ARE),
        "Vowpal Wabbit": lambda: lambda: vowpal.play(problem, texts, labels, ""),
    }
    best = fastest(contestants, repetitions=1 if quick else 3)
    micro = {name: 1e6 * seconds / len(problem.target) for name, seconds in best.items()}
    return [
        Result(
            f"births, {1e6 / micro['gradients']:,.0f} rows a second, alone and pooled included: "
            f"speed over {rival}",
            f"{micro[rival]:.1f} µs a row over {micro['gradients']:.1f} µs; "
            f"{micro['rows']:.1f} µs with rows shared",
            best[rival] / best["gradients"],
            target=at_least(target),
        )
        for rival, target in TARGETS.items()
    ]


def _everything(problem: Problem, share: ours.Share) -> Run:
    def play() -> None:
        ours.play(problem, share)
        ours.play_pooled(problem)

    return play
