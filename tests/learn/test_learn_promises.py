"""Sharing costs no more than the theorems of `docs/learning-promises.md` say."""

import numpy as np
import pytest
from tests.learn.adversary import ADVERSARIES, Contrary, Inflator, Traitor, TwoFaced
from tests.learn.ledger import LateLedger, Ledger

import mtcool
from mtcool.learn import Model
from mtcool.learn.neighbourhoods import Neighbourhoods
from mtcool.learn.stored_predictions import nothing_said
from mtcool.learners.panel import filters, guard
from mtcool.learners.panel import play as rounds
from mtcool.learners.panel.fields import BALANCE, LISTENS, WORST
from mtcool.learners.panel.lessons import receive_lesson
from mtcool.learners.panel.state import make_panel

AGENTS, FEATURES = 6, 2
GRAPH = mtcool.graphs.complete(AGENTS)
TASKS = ("regression", "classification")
SHARES = ("gradients", "rows")
COUNT = 400  # rows where the code runs uncompiled


def stream(seed, count, classes):
    """Rows of all agents, with targets that jump now and then."""
    rng = np.random.default_rng(seed)
    who, x = rng.integers(AGENTS, size=count), rng.normal(size=(count, FEATURES))
    y = 100 + 3 * x @ [1.0, -0.5] + rng.normal(size=count) + rng.normal(size=AGENTS)[who]
    y[rng.random(count) < 0.03] += 40.0
    return who, x, (y > 100).astype(float) if classes else y


def attacked(adversary, *, task, share="gradients", count=400, seed=0, play=rounds.play):
    """Play a stream in which hostile agents do not learn; keep the books of the honest ones."""
    classes = task == "classification"
    who, x, y = stream(seed, count, classes)
    ptr, idx = Neighbourhoods(GRAPH).entries(AGENTS)
    panel = make_panel(ptr, idx, FEATURES, logistic=classes, rows=share == "rows")
    books = {i: Ledger(panel, i) for i in range(AGENTS) if i not in adversary.hostile}
    said, out = nothing_said(count), np.full((count, 3), np.nan)
    unit = 2.0 if classes else np.std(y)
    for e in range(count):
        adversary.write(panel, (2 * y[e] - 1) * 8 if classes else y[e], out[e - 1, 1], unit)
        if who[e] in books:
            play(panel, who, x, y, np.array([e]), said, out)
            adversary.write(panel, (2 * y[e] - 1) * 8 if classes else y[e], out[e, 1], unit)
            play(panel, who, x, y, np.array([e]), said, out)
            assert np.isfinite(out[e]).all(), "a prediction is not finite"
            books[who[e]].book(panel, out[e, 0], out[e, 1], y[e])
            play(panel, who, x, y, np.array([~e]), said, out)
        else:
            for i in books:
                entry = ptr[i] + list(idx[ptr[i] : ptr[i + 1]]).index(who[e])
                receive_lesson(panel, i, entry, adversary.lesson(panel, unit))
    for book in books.values():
        book.agrees(panel)
    return who, x, y, out, books


def attacked_late(adversary, under_way, *, task, share="gradients", count=400, play=rounds.play):
    """The same with targets that come when their agent has predicted so many more rows."""
    classes = task == "classification"
    who, x, y = stream(0, count, classes)
    ptr, idx = Neighbourhoods(GRAPH).entries(AGENTS)
    panel = make_panel(ptr, idx, FEATURES, logistic=classes, rows=share == "rows")
    books = {i: LateLedger(panel, i) for i in range(AGENTS) if i not in adversary.hostile}
    said, out = nothing_said(count), np.full((count, 3), np.nan)
    unit, truth = 2.0 if classes else np.std(y), (2 * y - 1) * 8 if classes else y
    waiting = {i: [] for i in books}

    def learn(row):
        adversary.truth(panel, truth[row], unit)
        book = books[who[row]]
        if row not in book.promises:  # predicted before its agent's first: alone's error is kept
            now = np.empty((1, 3))
            play(panel, who[[row]], x[[row]], y[[row]], np.array([0]), nothing_said(1), now)
            book.predicted(panel, row, now[0, 1], now[0, 1])
        play(panel, who, x, y, np.array([~row]), said, out)
        book.learned(panel, row, y[row])

    for e in range(count):
        if who[e] in books:
            for _ in range(2):  # the second time it knows what learning alone predicts
                adversary.write(panel, truth[e], np.nan_to_num(out[e, 1]), unit)
                play(panel, who, x, y, np.array([e]), said, out)
            books[who[e]].predicted(panel, e, *out[e, :2])
            waiting[who[e]].append(e)
            if len(waiting[who[e]]) > under_way:
                learn(waiting[who[e]].pop(0))
    for rows in waiting.values():
        for row in rows:
            learn(row)
    for book in books.values():
        book.agrees(panel)
    return books


@pytest.mark.parametrize("under_way", [0, 1, 6])
@pytest.mark.parametrize("hostile", [(1,), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", [TwoFaced, Contrary, Traitor])
def test_predictions_that_were_really_made_are_promised(kind, task, share, hostile, under_way):
    attacked_late(kind(hostile), under_way, task=task, share=share)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("under_way", "part"), [(0, 0.99), (1, 0.7), (3, 0.4)])
def test_neighbours_with_two_faces_use_up_what_is_promised(task, under_way, part):
    books = attacked_late(TwoFaced((1, 2, 3, 4, 5)), under_way, task=task, count=3200)
    assert part < -books[0].won / books[0].bound


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("under_way", [0, 3])
def test_booking_what_would_be_said_now_is_caught(monkeypatch, task, under_way):
    monkeypatch.setattr(rounds, "judge", as_of_now)
    with pytest.raises(AssertionError, match="what was really said cost more than is promised"):
        attacked_late(TwoFaced((1, 2)), under_way, task=task, play=rounds.play.py_func)


def moments(play, *, task, share, count=400, together=24):
    """Rows of one moment are predicted together and learned from later; all agents are honest."""
    classes = task == "classification"
    who, x, y = stream(1, count, classes)
    if not classes:
        y = y + 20.0 * who  # levels are far apart
    ptr, idx = Neighbourhoods(GRAPH).entries(AGENTS)
    panel = make_panel(ptr, idx, FEATURES, logistic=classes, rows=share == "rows")
    books = [LateLedger(panel, i) for i in range(AGENTS)]
    said, out = nothing_said(count), np.full((count, 3), np.nan)
    for first in range(0, count, together):
        rows = range(first, min(first + together, count))
        for e in rows:
            play(panel, who, x, y, np.array([e]), said, out)
            books[who[e]].predicted(panel, e, *out[e, :2])
        for e in rows:
            book = books[who[e]]
            if e not in book.promises:  # predicted before its agent's first: alone's error is kept
                now = np.empty((1, 3))
                play(panel, who[[e]], x[[e]], y[[e]], np.array([0]), nothing_said(1), now)
                book.predicted(panel, e, now[0, 1], now[0, 1])
            play(panel, who, x, y, np.array([~e]), said, out)
            book.learned(panel, e, y[e])
    for book in books:
        book.agrees(panel)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("task", TASKS)
def test_rows_predicted_together_are_judged_by_what_was_said_of_each(task, share):
    moments(rounds.play, task=task, share=share)


@pytest.mark.parametrize("task", TASKS)
def test_judging_rows_of_one_moment_by_what_would_be_said_later_is_caught(monkeypatch, task):
    moments(rounds.play.py_func, task=task, share="gradients", count=120)  # nothing planted yet
    monkeypatch.setattr(rounds, "judge", as_of_now)
    with pytest.raises(AssertionError, match=r"cost more than is promised|Not equal"):
        moments(rounds.play.py_func, task=task, share="gradients", count=120)


def as_of_now(panel, agent, played, alone, wish, target, said):
    JUDGE(panel, agent, played, alone, wish, target, nothing_said(1)[0])


JUDGE = rounds.judge


@pytest.mark.parametrize("hostile", [(1,), (1, 2), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ADVERSARIES)
def test_both_theorems_hold_against_every_adversary(kind, task, share, hostile):
    who, x, y, out, books = attacked(kind(hostile), task=task, share=share)
    alone = Model(None, task=task)
    names = alone.index(range(AGENTS))
    events = np.stack([np.arange(len(y)), ~np.arange(len(y))], axis=1).ravel()
    expected = alone.play(names[who], x, y, events).alone
    found = 1 / (1 + np.exp(-out[:, 1])) if task == "classification" else out[:, 1]
    for i in books:
        own = np.flatnonzero(who == i)[1:]
        assert (found[own] == expected[own]).all(), "learning alone heard a neighbour"


def test_adversaries_use_up_the_credit_and_are_shut_out():
    books = attacked(Contrary((1, 2, 3, 4, 5)), task="classification", count=1600)[-1]
    assert books[0].excess == pytest.approx(guard.CREDIT, rel=1e-3)
    assert len(books[0].closed) == 5
    books = attacked(Contrary((1, 2)), task="regression")[-1]
    assert max(book.excess / book.bound for book in books.values()) > 0.99
    assert any(book.closed for book in books.values())


def test_a_neighbour_that_never_hears_the_target_is_bounded_too():
    """The own level of learning alone is right at once; neighbours of other tasks are useless."""
    rng = np.random.default_rng(3)
    who, x = np.tile(np.arange(3), 300), rng.normal(size=(900, FEATURES))
    y = rng.normal(size=900) + np.array([0.0, 500.0, -300.0])[who]
    model = Model(mtcool.graphs.complete(3))
    events = np.stack([np.arange(900), ~np.arange(900)], axis=1).ravel()
    played = model.play(model.index(who), x, y, events)
    for i in range(3):
        own = np.flatnonzero(who == i)[2:]
        cost = (played.prediction[own] - y[own]) ** 2 - (played.alone[own] - y[own]) ** 2
        assert cost.sum() <= 2 * guard.CREDIT * np.var(y[own])


def double_credit(panel, agent):
    return 2 * CREDIT_OF(panel, agent)


def no_worst(panel, agent, alone, played, target):
    SETTLE(panel, agent, alone, played, target)
    panel.number[agent, WORST] = 0.0


def no_balance(panel, agent, alone, played, target):
    SETTLE(panel, agent, alone, played, target)
    panel.number[agent, BALANCE] = 0.0


def not_charged(panel, entry, unit, played, contributed, target):
    """Nobody pays."""


def never_closed(panel, entry, unit, played, contributed, target):
    SETTLE_NEIGHBOUR(panel, entry, unit, played, contributed, target)
    panel.link[entry, LISTENS] = 1.0


def of_the_neighbours(panel, agent):
    return guard.CREDIT * UNIT_OF(panel, agent)


def no_limit(panel, agent, credit):
    return np.inf


CREDIT_OF, UNIT_OF = guard.credit_of, guard.unit_of
SETTLE, SETTLE_NEIGHBOUR = guard.settle, guard.settle_neighbour
MISTAKES = [
    (guard, "credit_of", double_credit, Contrary, "than the guard allows"),
    (guard, "credit_of", of_the_neighbours, Inflator, "decided what it may cost|guard allows"),
    (rounds, "settle", no_worst, Contrary, "guard allows|moved more"),
    (rounds, "settle", no_balance, Contrary, "than the guard allows"),
    (rounds, "settle_neighbour", not_charged, Contrary, "moved more|Not equal"),
    (rounds, "settle_neighbour", never_closed, Contrary, "closed account was used"),
    (filters, "most", no_limit, Contrary, "a neighbour moved more than it may"),
]


@pytest.mark.parametrize(("where", "name", "mistake", "kind", "message"), MISTAKES)
def test_a_planted_mistake_is_caught(monkeypatch, where, name, mistake, kind, message):
    hostile = (1, 2, 3, 4, 5)
    task = "classification" if mistake is never_closed else "regression"
    uncompiled = rounds.play.py_func
    attacked(kind(hostile), task=task, count=COUNT, play=uncompiled)  # nothing planted yet
    monkeypatch.setattr(where, name, mistake)
    with pytest.raises(AssertionError, match=message):
        attacked(kind(hostile), task=task, count=COUNT, play=uncompiled)
