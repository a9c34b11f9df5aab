"""What regret costs in bytes or messages: every policy, and the frontier of those that pay."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mtcool.config import schema
from mtcool.experiments.files import spec
from mtcool.experiments.files.in_the_field import messages_of
from mtcool.experiments.report.results import Estimate, PointResults, Results
from mtcool.field import Messages
from mtcool.reports.numbers import short

MOST = 0.9  # of a gain: what one may be content with
FAMILIES = {
    "every": "only every so many rounds",
    "probability": "rounds at random",
    "partners": "random partners",
    "budget": "budget of messages",
    "budget_bytes": "budget of bytes",
    "bits": "bits for a number",
}
ALWAYS = "all neighbours in every round, exactly"


@dataclass(frozen=True)
class Spent:
    """One algorithm at one point."""

    name: str
    family: str
    """Policies that differ in a number only."""
    value: str
    """That number, or those."""
    told: str
    """The algorithm, and what the sweeps say of it."""
    point: PointResults
    cost: Estimate
    """Bytes, or messages, of a round."""
    regret: Estimate


def spent(results: Results, points: Sequence[PointResults], what: str) -> list[Spent]:
    """All algorithms at all points whose "bytes" or "messages" are known.

    One that a sweep does not touch is the same at all of its points, and there once.
    """
    found: dict[tuple[str, ...], Spent] = {}
    for point in points:
        described = results.experiment.points[results.experiment.values.index(point.values)]
        for one in (a for a in described.algorithm if a.name in point.names):
            swept = {k: v for k, v in point.values.items() if results.depends(one.name, k)}
            cost = point.traffic(one.name, what)
            if cost is not None and (one.name, *swept.values()) not in found:
                told = [f"{results.title_of(key)} = {value}" for key, value in swept.items()]
                found[one.name, *swept.values()] = Spent(
                    one.name,
                    *_family(results, described, one, swept),
                    f"{one.name} at {', '.join(told)}" if told else one.name,
                    point,
                    cost,
                    point.regret(one.name),
                )
    return list(found.values())


def _family(
    results: Results, described: spec.Point, one: schema.AlgorithmSpec, swept: Mapping[str, str]
) -> tuple[str, str]:
    """What an algorithm's policy is called, and its numbers."""
    others = [
        f"{results.title_of(name)} = {value}"
        for name, value in swept.items()
        if "messages" not in name.split(".")
    ]
    record = results.record_of(one.name)
    messages, plain = messages_of(described, one), Messages()
    keys = [key for key in FAMILIES if getattr(messages, key) != getattr(plain, key)]
    numbers = ", ".join(f"{getattr(messages, key):g}" for key in keys)
    if not record.changing:
        return "; ".join([one.name, *others]), ""
    words = [FAMILIES[key] for key in keys] or [ALWAYS]
    if messages.choose == "best":
        words = [word.replace("random", "best") for word in words]
    return "; ".join([", ".join(words), *others]), numbers


def frontier(policies: Sequence[Spent]) -> list[Spent]:
    """Those that have less regret than all others that cost no more, the cheapest first."""
    best: list[Spent] = []
    for one in sorted(policies, key=lambda one: (one.cost.mean, one.regret.mean)):
        if not best or one.regret.mean < best[-1].regret.mean:
            best.append(one)
    return best


def frontier_words(results: Results, points: Sequence[PointResults], what: str) -> Iterator[str]:
    """Who is on the frontier, what most of the gain costs, and which policies do not pay."""
    policies = spent(results, points, what)
    if not policies:
        return
    chain = ", ".join(
        f"{one.told} ({short(one.cost.mean)} {what}, regret {one.regret})"
        for one in frontier(policies)
    )
    yield f"the frontier, from cheap to dear, {what} of a round: {chain}."
    silent = [one for one in policies if one.cost.mean == 0.0]
    if not silent:
        return
    alone = min(silent, key=lambda one: one.regret.mean)
    best = min(policies, key=lambda one: one.regret.mean)
    gain = alone.regret.mean - best.regret.mean
    if gain > 0.0:
        enough = [one for one in policies if alone.regret.mean - one.regret.mean >= MOST * gain]
        cheap = min(enough, key=lambda one: one.cost.mean)
        share = cheap.cost.mean / best.cost.mean
        yield (
            f"{best.told} has the least regret; {short(100 * MOST, 2)} % of its gain over "
            f"{alone.name} cost {short(100.0 * share, 2)} % of its {what}, with {cheap.told}."
        )
    worse = [
        one.told
        for one in policies
        if one.cost.mean > 0.0
        and alone.name in one.point.names
        and one.point.difference(one.name, alone.name).certainty > 1.0
    ]
    if worse:
        yield f"clearly worse than {alone.name}, which sends nothing: {', '.join(worse)}."
