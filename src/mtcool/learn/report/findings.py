"""What the numbers say, in sentences that are computed from them."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from mtcool.learn.metrics.batch_means import Estimates
from mtcool.learn.model import Task
from mtcool.learn.running.outcome import Outcome
from mtcool.types import Integers

LOSS: dict[Task, str] = {"regression": "squared error", "classification": "log loss"}
OTHERS = {
    "alone": "every agent learning alone",
    "pooled": "one model for all agents",
    "shuffled": "the same graph with its agents shuffled",
}
SMALL = 1.0
"""Percent below which a gain is small even if it is sure."""
ALIKE = 2.0
"""Percent within which the whole interval of a gain must lie for two to be called equally good."""
NAMED = 3


class Verdict(NamedTuple):
    """The answer at the top of the report."""

    tone: Literal["good", "bad", "open"]
    headline: str
    advice: str


class Percent(NamedTuple):
    """A gain in percent of the loss of the other one, with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether there were rows enough for an interval."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    @property
    def sign(self) -> int:
        """1 for a sure gain, -1 for a sure loss, 0 where the interval covers zero."""
        return int(self.low > 0) - int(self.high < 0) if self.known else 0

    @property
    def interval(self) -> str:
        """The interval in words."""
        low, high = (self.low, self.high) if self.sign >= 0 else (-self.high, -self.low)
        return f"95 % interval: {percent(low)} to {percent(high)}"


def percent(value: float) -> str:
    """A percentage with as many digits as one reads.

    Examples
    --------
    >>> percent(4.23), percent(-0.034), percent(312.7)
    ('4.2 %', '-0.03 %', '313 %')
    """
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 1 else 2
    return f"{value:.{digits}f} %"


def overall(outcome: Outcome, other: str) -> Percent:
    """What sharing gains on another predictor, over all rows."""
    return _percent(outcome.evaluation.gain(other), outcome.evaluation.loss(other))


def verdict(outcome: Outcome) -> Verdict:
    """The answer to the question whether sharing helps, and what to do."""
    alone, pooled = overall(outcome, "alone"), overall(outcome, "pooled")
    if not outcome.shares:
        return Verdict(
            "open",
            "Nobody shared: every agent learned alone.",
            "Give a graph (--graph, --near) to see whether sharing would help.",
        )
    if not alone.known:
        return Verdict(
            "open",
            "There are too few rows to tell whether sharing helps.",
            "Come back with more rows; until then nothing here is sure.",
        )
    if alone.sign < 0:
        headline = f"No. Sharing costs {percent(-alone.mean)} in {_loss(outcome)}"
        return Verdict("bad", f"{headline} ({alone.interval}).", "Let every agent learn alone.")
    if alone.sign == 0:
        return Verdict(
            "open",
            f"No clear gain: the {_loss(outcome)} of sharing is {_lower(alone.mean)} than that of "
            f"learning alone, which may be chance (gain: {percent(alone.mean)}, {alone.interval}, "
            "which covers zero).",
            f"{_until_sure(alone)}{_some(outcome)} {_if_pooled(pooled, outcome)}",
        )
    start = "Yes, but only a little." if alone.mean < SMALL else "Yes."
    return Verdict(
        "good",
        f"{start} Sharing lowers the {_loss(outcome)} by {percent(alone.mean)} ({alone.interval}) "
        "compared with every agent learning alone.",
        ("Share. " if pooled.sign >= 0 else "") + _if_pooled(pooled, outcome),
    )


def _until_sure(gain: Percent) -> str:
    """What to do while the interval covers zero; a wide one does not say that both are equal."""
    if max(-gain.low, gain.high) <= ALIKE:
        return "Learning alone is as good and needs no messages."
    better = "Sharing" if gain.mean > 0 else "Learning alone"
    return f"{better} is ahead so far, but not for sure; more rows would tell."


def _some(outcome: Outcome) -> str:
    """What hides behind a total of nothing: agents that gain, and others that lose."""
    gains = outcome.evaluation.gains("alone")
    better, worse = (int((gains.clear & (sign * gains.mean > 0)).sum()) for sign in (1, -1))
    if not better + worse:
        return ""
    if not better or not worse:
        said = _many(better, "gains", "gain") if better else _many(worse, "loses", "lose")
        return f" Of the agents {said} clearly (see who gains)."
    return (
        f" But agents differ: {_many(better, 'gains', 'gain')} clearly and "
        f"{_many(worse, 'loses', 'lose')} clearly (see who gains)."
    )


def _if_pooled(pooled: Percent, outcome: Outcome) -> str:
    if pooled.sign < 0:
        return (
            f"One model for all agents does better still, by {percent(-pooled.mean)} of its "
            f"{_loss(outcome)} ({pooled.interval}): the agents' tasks are much alike. If all rows "
            "may be brought to one place, use one model."
        )
    if pooled.sign > 0:
        return (
            f"One model for all agents would be worse: sharing has {percent(pooled.mean)} less "
            f"{_loss(outcome)} ({pooled.interval}), because agents differ."
        )
    return "One model for all agents does about as well, as far as one can tell."


def who_gains(outcome: Outcome) -> Iterator[str]:
    """Sentences on the agents: how many gain and lose for sure, and who most."""
    if not outcome.shares:
        yield "Nobody shared, so nobody gains or loses by it."
        return
    gains = outcome.evaluation.gains("alone")
    sure, told = gains.clear, np.isfinite(gains.margin)
    better, worse = sure & (gains.mean > 0), sure & (gains.mean < 0)
    judged = int(told.sum())
    few = len(gains.mean) - judged
    counted = (
        f"Of {_many(judged, 'agent', 'agents')} with rows enough to tell, "
        f"{_many(int(better.sum()), 'gains', 'gain')} clearly, "
        f"{_many(int(worse.sum()), 'loses', 'lose')} clearly, and "
        f"{_many(judged - int(sure.sum()), 'shows', 'show')} no clear difference."
    )
    yield counted if judged else "No agent has rows enough to tell whether it gains."
    if few and judged:
        yield f"{_many(few, 'agent has', 'agents have')} too few rows to tell."
    if judged >= 20:
        yield (
            "Each is judged with 95 % confidence: by chance alone about "
            f"{max(round(judged * 0.025), 1):,} of them would seem to gain and as many to lose."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 100 * gains.mean / outcome.evaluation.agent_losses("alone")
    for chosen, verb, sign in ((better, "gain", 1), (worse, "lose", -1)):
        if chosen.any():
            order = np.flatnonzero(chosen)
            order = order[np.argsort(-sign * share[order], kind="stable")][:NAMED]
            names = [f"{outcome.agents[k]} ({percent(sign * share[k])})" for k in order]
            yield f"Those that {verb} most for sure: {', '.join(names)}."


def over_time(outcome: Outcome, rows: Integers, gains: "np.typing.NDArray[np.float64]") -> str:
    """One sentence on when sharing pays: the first tenth of the rows against the last.

    `gains` is the gain of each stretch in percent of the loss of alone.
    """
    if len(gains) < 20:
        return "There are too few rows to say how the gain changes over time."
    tenth = max(len(gains) // 10, 1)
    start = np.average(gains[:tenth], weights=np.maximum(rows[:tenth], 1))
    end = np.average(gains[-tenth:], weights=np.maximum(rows[-tenth:], 1))
    ahead = int((gains > 0).sum())
    return (
        f"Sharing is ahead of learning alone in {ahead} of {len(gains)} stretches of the stream. "
        f"In the first tenth of the rows its {_loss(outcome)} is {_lower(start)}, in the last "
        f"tenth {_lower(end)}."
    )


def graph_matters(outcome: Outcome) -> str:
    """Whether these neighbours are better than any others."""
    if outcome.network == "complete":
        return (
            "Every agent is a neighbour of every other, so there is no choice of neighbours to "
            "test. A graph of your own (--graph, --near) would show whether it matters who talks "
            "to whom."
        )
    if "shuffled" not in outcome.evaluation.names:
        return "Without neighbours there is no graph to test."
    gain = overall(outcome, "shuffled")
    if not gain.known:
        return "There are too few rows to tell whether the graph matters."
    if gain.sign == 0:
        return (
            "It makes no clear difference who talks to whom: with the agents of the graph shuffled "
            f"the {_loss(outcome)} is about the same (this graph: {_lower(gain.mean)}, "
            f"{gain.interval}, which covers zero).{_not_the_graph(outcome)}"
        )
    if gain.sign < 0:
        return (
            f"The graph is worse than chance: with its agents shuffled the {_loss(outcome)} is "
            f"{percent(-gain.mean)} lower ({gain.interval}). Neighbours are less alike than "
            "agents at large; try another graph, or `--graph complete`."
        )
    return (
        f"Yes: with the agents of the graph shuffled, the {_loss(outcome)} is higher; this graph "
        f"saves {percent(gain.mean)} ({gain.interval}). Neighbours are more alike than others."
    )


def _not_the_graph(outcome: Outcome) -> str:
    if overall(outcome, "alone").sign <= 0:
        return ""
    return " What sharing gains comes from sharing, not from this graph."


def costs(outcome: Outcome) -> str:
    """What was sent."""
    if not outcome.messages:
        return "No messages were sent."
    each = outcome.message_bytes / max(outcome.rows, 1)
    what = {
        "gradients": "Rows stayed with their agents.",
        "rows": "Agents told their neighbours sums over their rows.",
    }
    return (
        f"Agents sent {outcome.messages:,} messages with {size(outcome.message_bytes)} in all, "
        f"{size(each)} for each row. {what[outcome.share]}"
    )


def about_rows(outcome: Outcome) -> Iterator[str]:
    """Which rows count, and which do not."""
    earlier = f", {outcome.earlier:,} of them in earlier runs" if outcome.earlier else ""
    yield f"{outcome.rows:,} rows of {len(outcome.evaluation.counts):,} agents{earlier}."
    if outcome.skipped:
        yield f"{_many(outcome.skipped, 'bad row was', 'bad rows were')} skipped."
    if outcome.cold:
        yield (
            f"{_many(outcome.cold, 'row was', 'rows were')} predicted before any target had been "
            "seen in the neighbourhood (cold); in no metric."
        )
    if outcome.first:
        yield (
            f"{_many(outcome.first, 'row was', 'rows were')} predicted before a target of the "
            "agent itself had been seen: in the metrics, but not in the gains, because learning "
            "alone has nothing to go by there."
        )
    if outcome.strangers:
        names = ", ".join(map(str, outcome.strangers[:NAMED]))
        more = len(outcome.strangers) - NAMED
        names += f" and {more:,} more" if more > 0 else ""
        yield f"Not in the graph, so without neighbours: {names}."


def size(count: float) -> str:
    """A number of bytes as people read it.

    Examples
    --------
    >>> size(12), size(123_456), size(2_500_000_000)
    ('12 bytes', '123 kB', '2.5 GB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:.{0 if count >= 100 * unit else 1}f} {name}"
    return f"{count:.0f} bytes"


def _percent(gain: Estimates, loss: float) -> Percent:
    mean, margin = float(gain.mean[0]), float(gain.margin[0])
    if not loss > 0:
        return Percent(0.0, np.nan, np.nan)
    # No loss is below zero, so nobody gains more than all of it, whatever the margin.
    high = min(100 * (mean + margin) / loss, 100.0)
    return Percent(100 * mean / loss, 100 * (mean - margin) / loss, high)


def _loss(outcome: Outcome) -> str:
    return LOSS[outcome.evaluation.task]


def _lower(value: float) -> str:
    return f"{percent(abs(value))} {'lower' if value >= 0 else 'higher'}"


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"
