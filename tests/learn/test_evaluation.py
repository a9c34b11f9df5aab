"""Metrics in constant memory are those of the whole stream, and leave out what they should."""

import numpy as np
import pytest
from scipy.stats import rankdata

from mtcool.learn.metrics.evaluation import COMPARED, Evaluation, PredictedRows
from mtcool.learn.metrics.over_time import BUCKETS
from mtcool.learn.metrics.ranking import Ranking

NAMES = ("learned", "alone", "pooled")


def stream(task, rows=3000, offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.normal(size=rows) + offset
    predictions = target[:, np.newaxis] + rng.normal(size=(rows, 3)) * [0.3, 0.5, 0.8]
    if task == "classification":
        target = (rng.random(rows) < 0.3).astype(float)
        predictions = 1 / (
            1 + np.exp(-(3 * target[:, np.newaxis] - 2) - rng.normal(size=(rows, 3)))
        )
    agents = rng.integers(7, size=rows)
    cold, first = np.arange(rows) < 40, np.arange(rows) < 90
    return PredictedRows(agents, np.arange(rows, dtype=float), target, predictions, cold, first)


def evaluate(task, rows, step=None):
    evaluation = Evaluation(task, NAMES)
    size = rows.agents.size
    for start in range(0, size, step or size):
        evaluation.add(PredictedRows(*(column[start : start + (step or size)] for column in rows)))
    return evaluation


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_regression_metrics_are_those_of_all_rows_but_the_cold_ones(offset):
    rows = stream("regression", offset=offset)
    found = evaluate("regression", rows).metrics()
    warm = ~rows.cold
    for k, name in enumerate(NAMES):
        miss = (rows.predictions[:, k] - rows.target)[warm]
        wanted = {
            "nmse": (miss**2).mean() / rows.target[warm].var(),
            "rmse": np.sqrt((miss**2).mean()),
            "mae": np.abs(miss).mean(),
        }
        assert found[name] == pytest.approx(wanted, rel=1e-8)


def test_classification_metrics_are_those_of_all_rows_but_the_cold_ones():
    rows = stream("classification")
    found = evaluate("classification", rows).metrics()
    warm = ~rows.cold
    target = rows.target[warm]
    for k, name in enumerate(NAMES):
        p = rows.predictions[warm, k]
        ones = int(target.sum())
        area = (rankdata(p)[target == 1].sum() - ones * (ones + 1) / 2) / ones / (p.size - ones)
        wanted = {
            "logloss": -np.log(np.where(target == 1, p, 1 - p)).mean(),
            "accuracy": ((p >= 0.5) == (target == 1)).mean(),
        }
        assert {key: found[name][key] for key in wanted} == pytest.approx(wanted)
        assert found[name]["auc"] == pytest.approx(area, abs=1e-3)


def test_probabilities_of_zero_and_one_cost_much_and_not_infinitely():
    rows = stream("classification")
    rows.predictions[100:200] = np.round(rows.predictions[100:200])
    found = evaluate("classification", rows).metrics()["learned"]
    assert all(np.isfinite(value) for value in found.values())


def test_the_area_is_exact_where_no_two_rows_share_a_bin():
    odds = np.linspace(-10, 10, 200)
    target = (np.arange(200) % 3 == 0).astype(float)
    ranking = Ranking(1)
    ranking.add(target, (1 / (1 + np.exp(-odds)))[:, np.newaxis])
    ones = target.sum()
    area = (rankdata(odds)[target == 1].sum() - ones * (ones + 1) / 2) / ones / (200 - ones)
    assert ranking.area()[0] == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("step", [1, 97, 1024])
def test_metrics_do_not_depend_on_the_size_of_batches_in_any_bit(task, step):
    rows = stream(task, rows=1500)
    whole, parts = evaluate(task, rows), evaluate(task, rows, step)
    assert whole.metrics() == parts.metrics()
    kept = parts.arrays()
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(array, kept[name], err_msg=name)


def test_gains_are_paired_and_leave_out_first_rows():
    rows = stream("regression")
    rows.predictions[rows.first, 1] += 1e6  # alone has nothing to go by there
    evaluation = evaluate("regression", rows)
    used = ~rows.cold & ~rows.first
    loss = (rows.predictions - rows.target[:, np.newaxis])[used] ** 2
    gain = evaluation.gain("alone")
    assert gain.mean[0] == pytest.approx((loss[:, 1] - loss[:, 0]).mean())
    of_agent = loss[rows.agents[used] == 5]
    assert evaluation.gains("pooled").mean[5] == pytest.approx(
        (of_agent[:, 2] - of_agent[:, 0]).mean()
    )
    assert evaluation.loss("alone") == pytest.approx(loss[:, 1].mean())
    assert evaluation.metrics()["alone"]["rmse"] > 1e4  # in the metrics they count


def test_stretches_of_the_stream_add_up_to_the_whole():
    rows = stream("regression", rows=5000)
    evaluation = evaluate("regression", rows, 333)
    times, counts, metrics = evaluation.over_time(COMPARED)
    assert BUCKETS / 2 <= len(counts) <= BUCKETS
    assert counts.sum() == (~rows.cold & ~rows.first).sum()
    squares = np.nansum(counts * metrics["learned"]["rmse"] ** 2)
    assert squares / counts.sum() == pytest.approx(evaluation.loss("learned"))
    assert (times[1:, 0] > times[:-1, 1]).all()


def test_stretches_of_an_agent_are_its_rows_in_order():
    rows = stream("regression", rows=2000)
    agents, counts, times, metrics = evaluate("regression", rows, 77).agents_over_time()
    mine = np.flatnonzero((rows.agents == 3) & ~rows.first)
    start = 0
    for k in np.flatnonzero(agents == 3):
        part = mine[start : start + counts[k]]
        miss = rows.predictions[part, 1] - rows.target[part]
        assert times[k] == pytest.approx(rows.time[part].mean())
        assert metrics["alone"]["mae"][k] == pytest.approx(np.abs(miss).mean())
        start += counts[k]
    assert start == mine.size


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_saved_evaluation_goes_on_to_the_bit(task):
    rows = stream(task)
    half = [PredictedRows(*(c[part] for c in rows)) for part in (slice(0, 1500), slice(1500, None))]
    first = evaluate(task, half[0])
    other = Evaluation.from_arrays(task, NAMES, first.arrays())
    for evaluation in (first, other):
        evaluation.add(half[1])
    assert first.metrics() == other.metrics()
    np.testing.assert_array_equal(first.gains("alone").error, other.gains("alone").error)
    arrays = first.arrays()
    with pytest.raises(ValueError, match="tallies must be float64"):
        Evaluation.from_arrays(task, NAMES, arrays | {"tallies": arrays["tallies"][:, :, :4]})


def test_memory_does_not_grow_with_the_stream():
    evaluation = evaluate("classification", stream("classification", 2000), 100)
    size = sum(array.nbytes for array in evaluation.arrays().values())
    evaluation.add(stream("classification", 50_000, seed=1))
    assert sum(array.nbytes for array in evaluation.arrays().values()) == size


def test_agents_without_rows_have_no_gain():
    rows = stream("regression")
    evaluation = Evaluation("regression", NAMES)
    evaluation.add(rows._replace(agents=rows.agents + 3))
    assert np.isnan(evaluation.gains("alone").mean[:3]).all()
    assert not evaluation.gains("alone").clear[:3].any()
