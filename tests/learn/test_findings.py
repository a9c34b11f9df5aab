"""The sentences of the report follow from the numbers, and claim no more than they show."""

import numpy as np
import pytest
from outcomes import outcome

from mtcool.learn.metrics.evaluation import Evaluation, Predicted
from mtcool.learn.report import findings


def headline(errors, **options):
    found = findings.verdict(outcome(errors, **options))
    return found.tone, found.headline, found.advice


def test_a_sure_gain_is_a_yes_with_its_size_and_interval():
    tone, said, advice = headline([0.9, 1.0, 1.5, 1.0])
    assert tone == "good"
    assert said.startswith("Yes. Sharing lowers the squared error by 19.0 % (95 % interval: ")
    assert advice.startswith("Share. One model for all agents would be worse")


def test_a_sure_gain_that_is_small_is_called_so():
    assert headline([0.998, 1.0, 1.5, 1.0])[1].startswith("Yes, but only a little.")


def test_a_sure_loss_is_a_no():
    tone, said, advice = headline([1.1, 1.0, 1.5, 1.0])
    assert (tone, advice) == ("bad", "Let every agent learn alone.")
    assert said.startswith("No. Sharing costs 21.0 %")


def mixed(seed=0):
    """Half of the agents gain as much as the others lose."""
    errors = np.ones((40, 4))
    errors[::2, 0], errors[1::2, 0] = 0.9, 1.0908
    return outcome(errors, agents=40, rows=20_000, seed=seed)


def test_what_covers_zero_is_no_clear_gain_and_what_hides_behind_it_is_told():
    found = findings.verdict(mixed())
    assert found.tone == "open"
    assert found.headline.startswith("No clear gain")
    assert "which covers zero" in found.headline
    assert "But agents differ: 20 gain clearly and 20 lose clearly" in found.advice


def test_a_wide_interval_is_not_called_equally_good():
    unsure = findings.Percent(-30.0, -73.0, 13.0)
    assert findings._until_sure(unsure).startswith("Learning alone is ahead so far, but not for")
    assert findings._until_sure(findings.Percent(0.1, -0.5, 0.7)).startswith("Learning alone is as")
    assert findings._until_sure(findings.Percent(3.0, -1.0, 7.0)).startswith("Sharing is ahead")


def test_nobody_gains_more_than_all_of_the_loss():
    assert findings.overall(outcome([0.01, 1.0, 1.5, 1.0]), "alone").high <= 100.0


def test_without_neighbours_nobody_shared():
    assert headline([1.0, 1.0, 1.5], network=None)[1].startswith("Nobody shared")
    said = list(findings.who_gains(outcome([0.9, 1.0, 1.5], network=None)))
    assert said == ["Nobody shared, so nobody gains or loses by it."]


def test_few_rows_tell_nothing():
    tone, said, _ = headline([0.1, 1.0, 1.5, 1.0], rows=16)
    assert tone == "open"
    assert "too few rows" in said


def test_pooling_that_is_better_still_is_told():
    _, said, advice = headline([0.9, 1.0, 0.5, 1.0])
    assert said.startswith("Yes.")
    assert advice.startswith("One model for all agents does better still")


@pytest.mark.parametrize(
    ("shuffled", "start"),
    [
        (1.2, "Yes: with the agents"),
        (0.9, "It makes no clear difference"),
        (0.7, "The graph is wor"),
    ],
)
def test_whether_the_graph_matters(shuffled, start):
    assert findings.graph_matters(outcome([0.9, 1.0, 1.5, shuffled])).startswith(start)


def test_a_complete_graph_cannot_be_shuffled():
    told = findings.graph_matters(outcome([0.9, 1.0, 1.5], network="complete"))
    assert told.startswith("Every agent is a neighbour of every other")


def test_agents_are_counted_and_the_best_and_worst_named():
    said = list(findings.who_gains(mixed()))
    assert said[0] == (
        "Of 40 agents with rows enough to tell, 20 gain clearly, 20 lose clearly, and 0 show no "
        "clear difference."
    )
    assert "by chance alone about 1 of them" in said[1]
    assert said[2].startswith("Those that gain most for sure: town ")


def test_agents_that_gain_nothing_seem_to_gain_about_as_rarely_as_promised():
    rng = np.random.default_rng(0)
    rows, agents = 60_000, 300
    target, no = rng.normal(size=rows), np.zeros(rows, bool)
    evaluation = Evaluation("regression", ("learned", "alone"))
    predictions = target[:, np.newaxis] + rng.normal(size=(rows, 2))
    who = rng.integers(agents, size=rows)
    evaluation.add(Predicted(who, np.arange(rows), target, predictions, no, no))
    assert 0.02 < evaluation.gains("alone").clear.mean() < 0.09


def test_rows_that_do_not_count_are_told():
    told = " ".join(findings.about_rows(outcome([0.9, 1, 2], skipped=1, strangers=("Zug", "Ulm"))))
    assert "1 bad row was skipped." in told
    assert "3 rows were predicted before any target had been seen in the neighbourhood" in told
    assert "7 rows were predicted before a target of the agent itself" in told
    assert "Not in the graph, so without neighbours: Zug, Ulm." in told


def test_what_was_sent_is_told_and_that_rows_stayed():
    assert findings.costs(outcome([1, 1, 1])) == (
        "Agents sent 100 messages with 12.3 kB in all, 2 bytes for each row. Rows stayed with "
        "their agents."
    )
