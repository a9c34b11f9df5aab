"""What the numbers say besides the verdict, in sentences that are computed from them."""

from collections.abc import Iterator, Sequence

import numpy as np

from mtcool.learn.report.percents import ahead, loss_of, overall
from mtcool.learn.running.outcome import LearnOutcome
from mtcool.reports.numbers import lower, many, percent, size
from mtcool.types import Floats

NAMED, MORE_NAMED = 3, 10
"""Agents that a sentence names, and that it names where the figure has no room for names."""
DRAWN = 60
"""Agents that the figure has room to name."""


def who_gains(outcome: LearnOutcome) -> Iterator[str]:
    """Sentences on the agents: how many gain and lose for sure, and who most."""
    if not outcome.shares:
        yield "Nobody shared, so nobody gains or loses by it."
        return
    gains = outcome.evaluation.gains("alone")
    sure, told = gains.clear, np.isfinite(gains.margin)
    better, worse = sure & (gains.mean > 0), sure & (gains.mean < 0)
    judged = int(told.sum())
    few = outcome.with_rows - judged
    yield _counted(judged, int(better.sum()), int(worse.sum()))
    if few and judged:
        yield f"{many(few, 'agent has', 'agents have')} too few rows to tell."
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
            most = NAMED if judged <= DRAWN else MORE_NAMED
            order = order[np.argsort(-sign * share[order], kind="stable")][:most]
            names = [f"{outcome.agents[k]} ({percent(sign * share[k])})" for k in order]
            yield f"Those that {verb} most for sure: {', '.join(names)}."


def _counted(judged: int, better: int, worse: int) -> str:
    """How many of the agents that can be judged gain and lose."""
    if judged == 0:
        return "No agent has rows enough to tell whether it gains."
    if judged == 1:
        said = {1: "gains clearly", 0: "shows no clear difference", -1: "loses clearly"}
        return f"The one agent with rows enough to tell {said[better - worse]}."
    return (
        f"Of {judged:,} agents with rows enough to tell, "
        f"{many(better, 'gains', 'gain')} clearly, {many(worse, 'loses', 'lose')} clearly, and "
        f"{many(judged - better - worse, 'shows', 'show')} no clear difference."
    )


def over_time(outcome: LearnOutcome, learned: Floats, alone: Floats) -> str:
    """One sentence on when sharing pays: the first tenth of the rows against the last.

    `learned` and `alone` are what sharing and learning alone paid in all on each stretch.
    """
    if len(learned) < 20:
        return "There are too few rows to say how the gain changes over time."
    tenth = len(learned) // 10
    first, last = (
        100 * (1 - learned[part].sum() / paid) if (paid := alone[part].sum()) > 0 else 0.0
        for part in (slice(tenth), slice(-tenth, None))
    )
    wins = int((learned < alone).sum())
    return (
        f"Sharing is ahead of learning alone in {wins} of {len(learned)} stretches of the stream. "
        f"In the first tenth of the rows its {loss_of(outcome)} is {lower(first)}, in the last "
        f"tenth {lower(last)}."
    )


def graph_matters(outcome: LearnOutcome) -> str:
    """Whether these neighbours are better than any others."""
    if not outcome.shares:
        return "Without neighbours there is no graph to test."
    if outcome.network == "complete":
        return (
            "Every agent is a neighbour of every other, so there is no choice of neighbours to "
            "test. A graph of your own (--graph, --near) would show whether it matters who talks "
            "to whom."
        )
    gain = overall(outcome, "shuffled")
    if not gain.known:
        return "There are too few rows to tell whether the graph matters."
    if gain.sign == 0:
        return (
            "It makes no clear difference who talks to whom: with the agents of the graph shuffled "
            f"the {loss_of(outcome)} is about the same (this graph: {lower(gain.mean)}, "
            f"{gain.interval}, which covers zero).{_not_the_graph(outcome)}"
        )
    if gain.sign < 0:
        less = ahead(outcome, "shuffled")
        return (
            f"The graph is worse than chance: with its agents shuffled the {loss_of(outcome)} is "
            f"{percent(less.mean)} lower ({less.interval}). Neighbours are less alike than "
            "agents at large; try another graph, or `--graph complete`."
        )
    return (
        f"Yes: with the agents of the graph shuffled, the {loss_of(outcome)} is higher; this graph "
        f"saves {percent(gain.mean)} ({gain.interval}). Neighbours are more alike than others."
    )


def _not_the_graph(outcome: LearnOutcome) -> str:
    if overall(outcome, "alone").sign <= 0:
        return ""
    return " What sharing gains comes from sharing, not from this graph."


def costs(outcome: LearnOutcome) -> str:
    """What agents on machines of their own would have sent: here all of them are in one process."""
    if not outcome.messages:
        return "Agents on machines of their own would have sent no messages."
    each = outcome.message_bytes / max(outcome.rows, 1)
    what = {
        "gradients": "Rows stayed with their agents.",
        "rows": "Agents told their neighbours sums over their rows.",
    }
    return (
        f"Agents on machines of their own would have sent {outcome.messages:,} messages with "
        f"{size(outcome.message_bytes)} in all, {size(each)} for each row. {what[outcome.share]}"
    )


def about_rows(outcome: LearnOutcome) -> Iterator[str]:
    """Which rows count, and which do not."""
    earlier = f", {outcome.earlier:,} of them in earlier runs" if outcome.earlier else ""
    agents = many(outcome.with_rows, "agent", "agents")
    yield f"{many(outcome.rows, 'row', 'rows')} of {agents}{earlier}."
    if outcome.skipped:
        yield f"{many(outcome.skipped, 'bad row was', 'bad rows were')} skipped."
    if outcome.cold:
        yield (
            f"{many(outcome.cold, 'row was', 'rows were')} predicted before any target had been "
            "seen in the neighbourhood (cold); in no metric."
        )
    if outcome.first:
        yield (
            f"{many(outcome.first, 'row was', 'rows were')} predicted before a target of the "
            "agent itself had been seen: in the metrics, but not in the gains, because learning "
            "alone has nothing to go by there."
        )
    if outcome.waiting:
        yield (
            f"{many(outcome.waiting, 'row waits for its target', 'rows wait for their targets')}; "
            "the model file keeps such rows."
        )
    if outcome.strangers:
        names = _named(list(map(str, outcome.strangers)), NAMED)
        yield f"{outcome.apart[0].upper()}{outcome.apart[1:]}: {names}."
    if outcome.numbers:
        yield f"Predicted from numbers: {_named(outcome.numbers, MORE_NAMED)}."
    if outcome.categories:
        counted = [
            f"{name} ({many(count, 'category', 'categories')})"
            for name, count in outcome.categories.items()
        ]
        yield f"Predicted from texts, each of which is a category: {_named(counted, MORE_NAMED)}."


def _named(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
