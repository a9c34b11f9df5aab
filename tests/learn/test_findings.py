"""The sentences of the report follow from the numbers, and claim no more than they show."""

import dataclasses

import numpy as np
import pytest
from outcomes import outcome

from mtcool.graphs import Graph
from mtcool.learn.metrics.evaluation import Evaluation, PredictedRows
from mtcool.learn.report import findings, verdicts
from mtcool.learn.report.percents import Percent, overall
from mtcool.learn.report.verdicts import verdict_on


def headline(errors, **options):
    found = verdict_on(outcome(errors, **options))
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


def test_where_sharing_costs_one_model_for_all_is_advised_only_if_it_is_clearly_best():
    advice = verdict_on(outcome((1.2, 1.0, 0.5))).advice
    assert advice.startswith("If all rows may be brought to one place, use one model for all")
    assert advice.endswith("If not, let every agent learn alone.")
    for pooled in (1.0, 1.1):
        found = verdict_on(outcome((1.2, 1.0, pooled))).advice
        assert found.startswith("Let every agent learn alone.")


def mixed(seed=0):
    """Half of the agents gain as much as the others lose."""
    errors = np.ones((40, 4))
    errors[::2, 0], errors[1::2, 0] = 0.9, 1.0908
    return outcome(errors, agents=40, rows=20_000, seed=seed)


def test_what_covers_zero_is_no_clear_gain_and_what_hides_behind_it_is_told():
    found = verdict_on(mixed())
    assert found.tone == "open"
    assert found.headline.startswith("No clear gain")
    assert "which covers zero" in found.headline
    assert "But agents differ: 20 gain clearly and 20 lose clearly" in found.advice


def test_a_wide_interval_is_not_called_equally_good():
    unsure = Percent(-30.0, -73.0, 13.0)
    assert verdicts._until_sure(unsure).startswith("Learning alone is ahead so far, but not for")
    assert verdicts._until_sure(Percent(0.1, -0.5, 0.7)).startswith("Learning alone is as")
    assert verdicts._until_sure(Percent(3.0, -1.0, 7.0)).startswith("Sharing is ahead")


def test_nobody_gains_more_than_all_of_the_loss():
    assert overall(outcome([0.01, 1.0, 1.5, 1.0]), "alone").high <= 100.0


def independent(errors, rows, seed=0):
    """An outcome whose predictors err by chance, each by itself."""
    rng = np.random.default_rng(seed)
    target, no = rng.normal(size=rows), np.zeros(rows, bool)
    evaluation = Evaluation("regression", ("learned", "alone", "pooled"))
    predictions = target[:, np.newaxis] + np.array(errors) * rng.normal(size=(rows, 3))
    who, time = np.arange(rows) % 6, np.arange(rows, dtype=float)
    evaluation.add(PredictedRows(who, time, target, predictions, no, no))
    return dataclasses.replace(outcome([1, 1, 1], network="complete"), evaluation=evaluation)


def test_one_model_for_all_is_called_alike_only_where_the_interval_says_so():
    alike = verdicts._if_pooled(independent([1.0, 1.5, 1.0], rows=200_000))
    assert alike == "One model for all agents does about as well."
    ahead = verdicts._if_pooled(independent([1.0, 1.5, 0.95], rows=60))
    assert ahead.startswith("One model for all agents is ahead of sharing so far (")
    assert ahead.endswith("), but not for sure.")
    behind = verdicts._if_pooled(independent([0.95, 1.5, 1.0], rows=60, seed=1))
    assert behind.startswith("Sharing is ahead of one model for all agents so far (")


def test_the_change_over_time_weighs_stretches_by_what_they_cost():
    learned, alone = np.ones(40), np.ones(40)
    learned[0], alone[0] = 100.0, 200.0  # half of a large loss; three times a small one
    learned[1:4] = 3.0
    said = findings.over_time(outcome([1, 1, 1]), learned, alone)
    assert "In the first tenth of the rows its squared error is 46.3 % lower" in said
    assert said.startswith("Sharing is ahead of learning alone in 1 of 40 stretches")


def test_targets_that_nobody_has_seen_are_not_called_few():
    _, said, _ = headline([0.9, 1.0, 1.5, 1.0], rows=400, cold=400, waiting=400)
    assert said == "No target has arrived yet: 400 wait."
    _, said, _ = headline([0.9, 1.0, 1.5, 1.0], rows=400, cold=400)
    assert said == "Every row was predicted before any target was known."
    told = " ".join(findings.about_rows(outcome([1, 1, 1], waiting=1)))
    assert "1 row waits for its target; the model file keeps such rows." in told


def test_predictions_without_error_are_not_called_few():
    assert headline([0, 0, 0, 0])[1] == "All predict without error."
    assert headline([0.1, 0, 0, 0])[1] == "Alone, every agent predicts without error."


def test_what_is_no_better_than_the_mean_is_not_advised():
    tone, said, advice = headline([1.1, 1.5, 2.0, 1.2])
    assert said.startswith("Yes. ")
    assert tone == "open"
    assert "Share." not in advice
    assert advice == "No model is better than predicting the mean: these features do not help."
    advice = headline([1.1, 1.5, 0.9, 1.2])[2]
    assert advice.startswith("One model for all agents would have 33.1 % less squared error")
    assert advice.endswith(
        "Neither sharing nor learning alone is better than predicting the mean: these features do "
        "not help."
    )
    assert "predicting the mean" not in headline([0.9, 1.5, 2.0, 1.2])[2]


def test_one_agent_is_called_one_and_has_nobody_to_share_with():
    alone = outcome([0.9, 1.0, 1.5], agents=3, network="complete", rows=300)
    who = np.zeros(300, int)
    rows, no = np.random.default_rng(0).normal(size=(300, 3)), np.zeros(300, bool)
    one = Evaluation("regression", ("learned", "alone", "pooled"))
    one.add(PredictedRows(who, np.arange(300.0), rows[:, 0], rows, no, no))
    alone = dataclasses.replace(alone, evaluation=one)
    assert verdict_on(alone).headline == "Nobody shared: there is only one agent."
    assert findings.graph_matters(alone) == "Without neighbours there is no graph to test."
    assert next(findings.about_rows(alone)) == "300 rows of 1 agent."


def test_agents_without_rows_share_nothing_and_are_not_counted():
    labels = ("rome", "milan", "turin", "Paris", "Oslo")
    graph = Graph.from_edges([("rome", "milan"), ("milan", "turin")], labels=labels[:3])
    found = outcome([0.9, 1.0, 1.5], agents=5, names=labels, network=graph)
    assert (found.shares, found.with_rows) == (True, 5)
    target, no = np.random.default_rng(0).normal(size=300), np.zeros(300, bool)
    ends = Evaluation("regression", ("learned", "alone", "pooled"))
    who = np.tile([0, 2, 3], 100)  # rome and turin are no neighbours, and Paris has none
    ends.add(PredictedRows(who, np.arange(300.0), target, np.zeros((300, 3)), no, no))
    found = dataclasses.replace(found, evaluation=ends)
    assert (found.shares, found.with_rows) == (False, 3)
    assert found.summary()["agents"] == 3
    assert verdict_on(found).headline == (
        "Nobody shared: no two agents of the data are neighbours in the graph."
    )


def test_one_agent_with_rows_enough_is_not_counted_as_of_many():
    found = outcome([0.9, 1.0, 1.5], agents=3, rows=300, network="complete")
    target, no = np.random.default_rng(0).normal(size=300), np.zeros(300, bool)
    evaluation = Evaluation("regression", ("learned", "alone", "pooled"))
    who = (np.arange(300) > 297).astype(int)
    evaluation.add(PredictedRows(who, np.arange(300.0), target, np.zeros((300, 3)), no, no))
    said = list(findings.who_gains(dataclasses.replace(found, evaluation=evaluation)))
    assert said == [
        "The one agent with rows enough to tell shows no clear difference.",
        "1 agent has too few rows to tell.",
    ]


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
    assert advice.startswith("One model for all agents would have 69.1 % less squared error (95 %")


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
    evaluation.add(PredictedRows(who, np.arange(rows), target, predictions, no, no))
    assert 0.02 < evaluation.gains("alone").clear.mean() < 0.09


def test_rows_that_do_not_count_are_told():
    told = " ".join(findings.about_rows(outcome([0.9, 1, 2], skipped=1, strangers=("Zug", "Ulm"))))
    assert "1 bad row was skipped." in told
    assert "3 rows were predicted before any target had been seen in the neighbourhood" in told
    assert "7 rows were predicted before a target of the agent itself" in told
    assert "Not in the graph, so without neighbours: Zug, Ulm." in told


def test_it_is_told_what_is_predicted_from_and_what_was_taken_for_categories():
    """So that numbers in a form that is not read are noticed: 1.2 mm, CHF 7."""
    few = outcome([1, 1, 1], numbers=("rain", "sun"), categories={"city": 1, "height": 58})
    assert list(findings.about_rows(few))[-2:] == [
        "Predicted from numbers: rain, sun.",
        "Predicted from texts, each of which is a category: city (1 category), height (58 "
        "categories).",
    ]
    many = outcome([1, 1, 1], numbers=tuple(f"x{k}" for k in range(12)))
    assert list(findings.about_rows(many))[-1].endswith("x8, x9 and 2 more.")


def test_what_would_be_sent_is_told_and_that_rows_stayed():
    """In one process nothing is."""
    assert findings.costs(outcome([1, 1, 1])) == (
        "Agents on machines of their own would have sent 100 messages with 12.3 kB in all, 2 bytes "
        "for each row. Rows stayed with their agents."
    )
