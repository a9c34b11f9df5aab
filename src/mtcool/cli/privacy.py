"""The commands under `mtcool privacy`: calibrate noise, compare mechanisms, audit them."""

import json
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from mtcool.cli.terminal import console, shown
from mtcool.privacy import AGGREGATORS, Privacy

if TYPE_CHECKING:  # slow to import
    from mtcool.audit.suite import Verdict
    from mtcool.graphs import Graph
    from mtcool.learners import MTFTRL

app = typer.Typer(
    help="Noise, mechanisms and audits of the private algorithm.", rich_markup_mode=None
)

Agents = Annotated[int, typer.Option(help="Agents of a random graph.")]
EdgeProbability = Annotated[float, typer.Option("--p", help="Probability of an edge.")]
Dim = Annotated[int, typer.Option(help="Dimension of the tasks.")]
Horizon = Annotated[int, typer.Option(help="The most activations of an agent.")]
GraphSeed = Annotated[int, typer.Option(help="Seed of the graph.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _noisy() -> list[str]:
    """The aggregators with noise, also those that were registered later."""
    return [name for name, kind in AGGREGATORS.items() if kind.laws != ("none",)]


@app.command()
def calibrate(
    epsilon: Annotated[float | None, typer.Option(help="Privacy level of each agent.")] = None,
    delta: Annotated[float | None, typer.Option(help="With it the noise is Gaussian.")] = None,
    rho: Annotated[float | None, typer.Option(help="Zero-concentrated privacy instead.")] = None,
    noise: Annotated[
        float | None,
        typer.Option(help="Noise over sensitivity: solve for the missing epsilon or delta."),
    ] = None,
    horizon: Horizon = 150_000,
    aggregator: Annotated[
        str, typer.Option(help=f"One of {', '.join(_noisy())}.")
    ] = Privacy.aggregator.name,
    experts: Annotated[str, typer.Option(help="paper, geometric, or one variance.")] = "paper",
    calibration: Annotated[str, typer.Option(help="tight, or paper.")] = "tight",
    adjacency: Annotated[str, typer.Option(help="replace, or zero-out.")] = "replace",
    agents: Agents = 30,
    p: EdgeProbability = 0.9,
    dim: Dim = 10,
    seed: GraphSeed = 0,
    as_json: AsJson = False,
) -> None:
    """The noise that a privacy level needs on a random graph, or the level that noise gives.

    With --noise no graph is needed: it solves for the one of epsilon, delta and noise that is not
    given.
    """
    if noise is not None and rho is not None:
        raise ValueError(f"rho has no meaning with noise, which tells it, got {rho}")
    if noise is not None:
        _tell(_solved(epsilon, delta, noise), as_json)
        return
    if epsilon is None and rho is None:
        raise ValueError("epsilon, rho or noise must be given, got none of them")
    from mtcool import validation
    from mtcool.algorithms import published_noise

    words: dict[str, Any] = {"calibration": calibration, "adjacency": adjacency}
    privacy = Privacy(
        epsilon,
        horizon,
        delta=delta,
        rho=rho,
        aggregator=AGGREGATORS[validation.one_of("aggregator", aggregator, tuple(_noisy()))](),
        **words,
    )
    noises = published_noise(_graph(agents, p, seed), dim, privacy, learner=_learner(experts))
    promised = _in_words_of(float(noises.promised.max()), delta, rho)
    told = {
        "std of a published gradient sum": float(noises.gradients.max()),
        "std of a published expert loss": float(noises.products.max()),
        "largest possible gradient sum": float(horizon),
        "true epsilon" if rho is None else "true rho": promised,
    }
    _tell(told, as_json)


@app.command()
def compare(
    epsilon: Annotated[float, typer.Option(help="Privacy level of each agent.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Delta of the Gaussian mechanisms.")] = 1e-6,
    horizon: Horizon = 150_000,
    agents: Agents = 30,
    p: EdgeProbability = 0.9,
    dim: Dim = 10,
    seed: GraphSeed = 0,
    as_json: AsJson = False,
) -> None:
    """The noise of every mechanism and grid of experts, against the paper's calibration."""
    from mtcool.algorithms import compare_mechanisms

    rows = list(compare_mechanisms(_graph(agents, p, seed), dim, epsilon, horizon, delta))
    if as_json:
        print(json.dumps([row._asdict() for row in rows], indent=1))
        return
    table = Table(title=f"Noise at epsilon = {epsilon:g}, T = {horizon}, d = {dim}, N = {agents}")
    for head in ("mechanism", "experts", "law", "std of gradient sums", "of expert losses", "gain"):
        numeric = head not in ("mechanism", "experts", "law")
        table.add_column(head, justify="right" if numeric else "left")
    for row in rows:
        numbers = (f"{row.gradients:,.0f}", f"{row.products:,.0f}", f"{row.gain:,.0f}")
        table.add_row(row.mechanism, row.experts, row.law, *numbers)
    console().print(table)


@app.command()
def audit(
    pairs: Annotated[int, typer.Option(help="Random pairs of worlds per mechanism.")] = 10,
    runs: Annotated[int, typer.Option(help="Runs of the black box audit.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Seed of losses, graphs and noise.")] = 0,
    exact: Annotated[bool, typer.Option("--exact", help="Audit OpenDP's noise as well.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run all audits on all mechanisms, and on planted bugs, which they must find.

    Ends with status 1 if right code fails or a bug is not found.
    """
    from mtcool.audit.suite import audit_suite
    from mtcool.simulation.progress import progress_bar

    checks: list[Callable[[], Verdict]] = list(audit_suite(pairs, runs, seed, exact))
    verdicts = []
    with progress_bar("audit", len(checks), show=True) as advance:
        for check in checks:
            verdicts.append(check())
            advance(1)
    if as_json:
        print(json.dumps([verdict._asdict() for verdict in verdicts], indent=1))
    else:
        _tell_audits(verdicts)
    if not all(verdict.as_it_should for verdict in verdicts):
        raise typer.Exit(1)


MEASURED = (
    "worst case, random pairs: the privacy loss between two runs that differ in one loss, given "
    "all that is published; its limit is what was promised (epsilon, or mu of Gaussian noise).",
    "law of noise: the mean size of the noise over the size that it should have.",
    "black box: the least epsilon that is consistent with many outputs.",
)


def _tell_audits(verdicts: "Sequence[Verdict]") -> None:
    """Print the mechanisms, the planted bugs, what was measured, and what follows from it."""
    screen = console()
    mechanisms = [one for one in verdicts if not one.bug]
    bugs = [one for one in verdicts if one.bug]
    for title, rows in (
        ("The mechanisms, which must stay within the limit", mechanisms),
        ("Planted bugs, which must be caught", bugs),
    ):
        table = Table(title=title, title_justify="left")
        for head in ("audit", "subject", "measured", "limit", "result"):
            table.add_column(head, justify="right" if head in ("measured", "limit") else "left")
        for one in rows:
            good, bad = ("caught", "MISSED") if one.bug else ("within", "EXCEEDED")
            result = f"[green]{good}[/green]" if one.as_it_should else f"[red]{bad}[/red]"
            law = one.audit == "law of noise"
            limit = f"1 ± {one.allowed - 1.0:.2g}" if law else f"{one.allowed:.4g}"
            subject = one.subject.removeprefix("bug: ")
            table.add_row(one.audit, subject, f"{one.found:.4g}", shown(limit), result)
        screen.print(table)
    for sentence in MEASURED:
        screen.print(sentence, markup=False)
    screen.print(_conclusion(mechanisms, bugs), markup=False, style="bold")


def _conclusion(mechanisms: "Sequence[Verdict]", bugs: "Sequence[Verdict]") -> str:
    exceeded = sum(not one.as_it_should for one in mechanisms)
    missed = sum(not one.as_it_should for one in bugs)
    if exceeded:
        return (
            f"{exceeded} of {len(mechanisms)} audits of the mechanisms exceed their limit: do not "
            "rely on the privacy of those mechanisms."
        )
    if missed:
        return (
            f"The mechanisms keep their promises as far as the audits can see, but {missed} of "
            f"{len(bugs)} planted bugs went unnoticed: the audits do not see enough."
        )
    return (
        f"The mechanisms keep their promises in all {len(mechanisms)} audits, and all {len(bugs)} "
        "planted bugs were caught."
    )


def _solved(epsilon: float | None, delta: float | None, noise: float) -> dict[str, float]:
    from mtcool.privacy import account

    pure = epsilon is None and delta is None
    level = account("laplace" if pure else "gaussian", epsilon=epsilon, delta=delta, noise=noise)
    return {
        "epsilon": level.epsilon,
        "delta": level.delta,
        "noise over sensitivity": level.noise,
        "rho": level.rho,
    }


def _in_words_of(promised: float, delta: float | None, rho: float | None) -> float:
    """Epsilon or rho of noise with this epsilon, if it is Laplace, or mu, if it is Gaussian."""
    from mtcool.privacy import gaussian_epsilon

    if rho is not None:
        return promised**2 / 2.0
    return promised if delta is None else gaussian_epsilon(promised, delta)


def _graph(agents: int, p: float, seed: int) -> "Graph":
    from mtcool import validation
    from mtcool.graphs import erdos_renyi
    from mtcool.graphs.edges import check_size

    agents = validation.count("agents", agents)
    p = validation.non_negative("p", p)
    check_size("agents", agents, agents, math.comb(agents, 2), p)
    return erdos_renyi(agents, p, seed=validation.count("seed", seed, least=0))


def _learner(experts: str) -> "MTFTRL":
    from mtcool.learners import MTFTRL

    if experts in ("paper", "geometric"):
        return MTFTRL(experts=experts)
    try:
        return MTFTRL(experts=(float(experts),))
    except ValueError:
        raise ValueError(
            f"experts must be paper, geometric or one variance, got {experts!r}"
        ) from None


def _tell(told: dict[str, float], as_json: bool) -> None:
    if as_json:
        print(json.dumps(told, indent=1))
        return
    width = max(map(len, told))
    for name, value in told.items():
        print(f"{name:{width}}  {value:.6g}")
