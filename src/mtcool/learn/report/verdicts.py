"""The answer at the top of the report: does sharing help, and what to do."""

from typing import Literal, NamedTuple

from mtcool.learn.report.percents import Percent, ahead, loss_of, overall
from mtcool.learn.running.outcome import LearnOutcome
from mtcool.reports.numbers import lower, many, percent

SMALL = 1.0
"""Percent below which a gain is small even if it is sure."""
ALIKE = 2.0
"""Percent within which the whole interval of a gain must lie for two to be called equally good."""


class LearnVerdict(NamedTuple):
    """The answer at the top of the report."""

    tone: Literal["good", "bad", "open"]
    headline: str
    advice: str


def verdict_on(outcome: LearnOutcome) -> LearnVerdict:
    """The answer to the question whether sharing helps, and what to do."""
    alone = overall(outcome, "alone")
    if not outcome.shares:
        return _nobody_shared(outcome)
    if not alone.known:
        return _nothing_to_tell(outcome)
    if alone.sign < 0:
        headline = f"No. Sharing costs {percent(-alone.mean)} in {loss_of(outcome)}"
        advice = f"{_instead_of_sharing(outcome)} {_no_better_than_the_mean(outcome)}".strip()
        return LearnVerdict("bad", f"{headline} ({alone.interval}).", advice)
    if alone.sign == 0:
        return LearnVerdict(
            "open",
            f"No clear gain: the {loss_of(outcome)} of sharing is {lower(alone.mean)} than that of "
            f"learning alone, which may be chance (gain: {percent(alone.mean)}, {alone.interval}, "
            "which covers zero).",
            f"{_until_sure(alone)}{_some(outcome)} {_other_models(outcome)}",
        )
    start = "Yes, but only a little." if alone.mean < SMALL else "Yes."
    useless = _no_better_than_the_mean(outcome)
    share = "" if useless or overall(outcome, "pooled").sign < 0 else "Share. "
    return LearnVerdict(
        "open" if useless else "good",
        f"{start} Sharing lowers the {loss_of(outcome)} by {percent(alone.mean)} "
        f"({alone.interval}) compared with every agent learning alone.",
        f"{share}{_other_models(outcome)}",
    )


def _instead_of_sharing(outcome: LearnOutcome) -> str:
    """What to do where sharing costs something: learn alone, or all in one place."""
    gain = overall(outcome, "alone", of="pooled")
    if gain.sign <= 0:
        return "Let every agent learn alone."
    return (
        f"If all rows may be brought to one place, use one model for all agents: it has "
        f"{percent(gain.mean)} less {loss_of(outcome)} than learning alone ({gain.interval}). "
        "If not, let every agent learn alone."
    )


def _nobody_shared(outcome: LearnOutcome) -> LearnVerdict:
    if outcome.with_rows == 1:
        return LearnVerdict(
            "open",
            "Nobody shared: there is only one agent.",
            "With rows of other agents one could see whether sharing helps.",
        )
    if outcome.network is None:
        return LearnVerdict(
            "open",
            "Nobody shared: every agent learned alone.",
            "Give a graph (--graph, --near) to see whether sharing would help.",
        )
    return LearnVerdict(
        "open",
        "Nobody shared: no two agents of the data are neighbours in the graph.",
        "Compare the names in the data with those in the graph.",
    )


def _nothing_to_tell(outcome: LearnOutcome) -> LearnVerdict:
    """The answer where no gain can be computed."""
    paid = {name: outcome.evaluation.loss(name) for name in ("learned", "alone")}
    if outcome.waiting == outcome.rows:
        return LearnVerdict(
            "open",
            f"No target has arrived yet: {outcome.waiting:,} wait.",
            "Go on with --resume once rows come after the targets have arrived.",
        )
    if outcome.cold == outcome.rows:
        return LearnVerdict(
            "open",
            "Every row was predicted before any target was known.",
            "Rows of one time are predicted together; rows at later times would tell.",
        )
    if paid["alone"] == 0.0:
        right = paid["learned"] == 0.0
        return LearnVerdict(
            "open",
            "All predict without error." if right else "Alone, every agent predicts without error.",
            "Learning alone is enough, and needs no messages.",
        )
    return LearnVerdict(
        "open",
        "There are too few rows to tell whether sharing helps.",
        "Come back with more rows; until then nothing here is sure.",
    )


def _no_better_than_the_mean(outcome: LearnOutcome) -> str:
    """A warning where neither sharing nor learning alone has learned anything."""
    useless = _useless(outcome)
    if not {"learned", "alone"} <= useless:
        return ""
    who = "No model" if "pooled" in useless else "Neither sharing nor learning alone"
    return f"{who} is better than predicting the mean: these features do not help."


def _useless(outcome: LearnOutcome) -> set[str]:
    """The predictors that are no better than predicting the mean."""
    found = outcome.evaluation.metrics()
    return {name for name, numbers in found.items() if numbers.get("nmse", 0.0) >= 1.0}


def _other_models(outcome: LearnOutcome) -> str:
    """What one model for all would do, unless no model does anything, and then that."""
    told = [_no_better_than_the_mean(outcome)]
    if not {"learned", "alone", "pooled"} <= _useless(outcome):
        told.insert(0, _if_pooled(outcome))
    return " ".join(filter(None, told))


def _until_sure(gain: Percent) -> str:
    """What to do while the interval covers zero; a wide one does not say that both are equal."""
    if max(-gain.low, gain.high) <= ALIKE:
        return "Learning alone is as good and needs no messages."
    better = "Sharing" if gain.mean > 0 else "Learning alone"
    return f"{better} is ahead so far, but not for sure; more rows would tell."


def _some(outcome: LearnOutcome) -> str:
    """What hides behind a total of nothing: agents that gain, and others that lose."""
    gains = outcome.evaluation.gains("alone")
    better, worse = (int((gains.clear & (sign * gains.mean > 0)).sum()) for sign in (1, -1))
    if not better + worse:
        return ""
    if not better or not worse:
        said = many(better, "gains", "gain") if better else many(worse, "loses", "lose")
        return f" Of the agents {said} clearly (see who gains)."
    return (
        f" But agents differ: {many(better, 'gains', 'gain')} clearly and "
        f"{many(worse, 'loses', 'lose')} clearly (see who gains)."
    )


def _if_pooled(outcome: LearnOutcome) -> str:
    """What one model for all would do: percentages are of whichever loss is larger."""
    gain, less = overall(outcome, "pooled"), ahead(outcome, "pooled")
    if less.sign > 0:
        return (
            f"One model for all agents would have {percent(less.mean)} less {loss_of(outcome)} "
            f"({less.interval}): the agents' tasks are much alike. If all rows may be brought to "
            "one place, use one model."
        )
    if gain.sign > 0:
        return (
            f"One model for all agents would be worse: sharing has {percent(gain.mean)} less "
            f"{loss_of(outcome)} ({gain.interval}), because agents differ."
        )
    paid = [outcome.evaluation.loss(name) for name in ("learned", "pooled")]
    if paid[0] == paid[1] or max(-gain.low, gain.high) <= ALIKE:
        return "One model for all agents does about as well."
    first, second, by = "One model for all agents", "sharing", less
    if gain.mean > 0:
        first, second, by = "Sharing", "one model for all agents", gain
    return (
        f"{first} is ahead of {second} so far ({percent(by.mean)} less {loss_of(outcome)}, "
        f"{by.interval}), but not for sure."
    )
