"""Agents with messages in between play as their model does, to the bit."""

import numpy as np
import pytest
from tests.learn.test_slow_panel import order_of, rows_of

import mtcool
from mtcool.agents.messages import Knowledge, Lesson, SumsRequest, decode, encode
from mtcool.learn import Model
from mtcool.learn.stored_predictions import RowPrediction

GRAPH = mtcool.graphs.erdos_renyi(6, 0.5, seed=3)
KEPT = ("number", "vector", "scatter", "mixer", "alone")
"""Arrays with a row for each agent."""


def ask(agents, me, learning=False):
    """The answers that an agent gets, through bytes; and how many bytes went to and fro."""
    answers, count = {}, 0
    for other, request in me.requests(learning=learning).items():
        sent = encode(request)
        back = encode(agents[other].receive(decode(sent)))
        answers[other] = decode(back)
        count += len(sent) + len(back)
    return answers, count


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("share", ["gradients", "rows"])
def test_agents_equal_their_model_to_the_bit(task, share):
    rng = np.random.default_rng(5)
    who, x, y = rows_of(rng, 6, 150, 3, task == "classification")
    model = Model(GRAPH, task=task, share=share)
    model.play(who[:30], x[:30], y[:30], ~np.arange(30))
    agents = {name: model.agent(name) for name in model.agents}
    before, messages, sent = (model.messages, model.message_bytes), 0, 0
    for i, row, target in zip(who[30:], x[30:], y[30:], strict=True):
        me = agents[i]
        answers, asked = ask(agents, me)
        said = me.predict(row, answers)
        again, learned = ask(agents, me, learning=True)
        lessons = me.learn(row, target, again, said)
        for other, lesson in lessons.items():
            agents[other].receive(decode(encode(lesson)))
        messages += 5 * len(lessons)
        sent += asked + learned + sum(len(encode(lesson)) for lesson in lessons.values())
        expected = model.play([i], [row], [target], [0, ~0]).prediction[0]
        found = 1 / (1 + np.exp(-said.score)) if task == "classification" else said.score
        assert found == expected
    assert (model.messages - before[0], model.message_bytes - before[1]) == (messages, sent)


@pytest.mark.parametrize("graph", [GRAPH, "complete", "none"])
@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("share", ["gradients", "rows"])
def test_agents_that_are_put_together_go_on_as_their_model_to_the_bit(graph, task, share):
    who, x, y = rows_of(np.random.default_rng(5), 6, 150, 3, task == "classification")
    model = Model(graph, task=task, share=share)
    model.learn_many(who[:60], x[:60], y[:60])
    order = model.agents[::-1]
    twin = Model.from_agents(model.agent(name) for name in order)
    assert (twin.agents, twin.task, twin.share) == (order, task, share)
    for one in (model, twin):
        one.learn_many(who[60:], x[60:], y[60:])
    np.testing.assert_array_equal(twin.predict_many(who, x), model.predict_many(who, x))
    for name in order:
        for field in ("link", "number", "vector", "scatter", "mixer", "alone"):
            found, want = (getattr(m.agent(name).panel, field) for m in (twin, model))
            np.testing.assert_array_equal(found, want)


def agents_of(**more):
    model = Model(mtcool.graphs.ring(4), **more)
    model.learn_one(0, [1.0], 1.0)
    return [model.agent(name) for name in model.agents]


@pytest.mark.parametrize(
    ("agents", "words"),
    [
        (lambda: [], "agents must be at least one, got none"),
        (lambda: [*agents_of(), agents_of()[2]], "agents must have different names, got 2 twice"),
        (lambda: agents_of()[:3], "as neighbours, got 0 with the neighbour 3, which is not there"),
        (
            lambda: [*agents_of()[:3], agents_of(share="rows")[3]],
            "agents must have one task, one kind of sharing and as many features, got 3",
        ),
    ],
)
def test_agents_that_do_not_belong_together_are_refused(agents, words):
    with pytest.raises(ValueError, match=words):
        Model.from_agents(agents())


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("share", ["gradients", "rows"])
def test_agents_equal_their_model_to_the_bit_when_targets_come_late(task, share):
    rng = np.random.default_rng(6)
    who, x, y = rows_of(rng, 6, 300, 3, task == "classification")
    y = np.where(who == 0, 1 - y if task == "classification" else -3 * y, y)  # it misleads
    model = Model(GRAPH, task=task, share=share)
    model.play(who[:3], x[:3], y[:3], ~np.arange(3))  # some agents have no row yet
    agents = {name: model.agent(name) for name in model.agents}
    events, said, sent = order_of(rng, 300), {}, 0
    for e in events.tolist():
        me = agents[who[e if e >= 0 else ~e]]
        answers, asked = ask(agents, me, learning=e < 0)
        sent += asked
        if e >= 0:
            said[e] = me.predict(x[e], answers)
        else:
            for other, lesson in me.learn(x[~e], y[~e], answers, said[~e]).items():
                agents[other].receive(decode(encode(lesson)))
                sent += len(encode(lesson))
    before = model.message_bytes
    played = model.play(who, x, y, events)
    assert model.message_bytes - before == sent
    np.testing.assert_array_equal([said[row].numbers() for row in range(300)], played.said)
    for i, name in enumerate(model.agents):
        for part in KEPT:
            own = getattr(agents[name].panel, part)[0]
            assert np.array_equal(own, getattr(model._panel, part)[i])


def test_what_nobody_said_is_refused():
    agent = Model(mtcool.graphs.star(2)).agent(0)
    nine, unknown = (1.0,) * 9, (np.nan, *(1.0,) * 8)
    said = [(1.0, 0.0, ()), (np.inf, 0.0, nine), (1e200, 0.0, nine), (np.nan, 0.0, nine)]
    said += [(1.0, 0.0, unknown), (1.0, 0.0, (*nine, 1.0)), (1.0, 0.0, (np.inf, *nine[1:]))]
    for numbers in said:
        with pytest.raises(ValueError, match="said must"):
            agent.learn([], 1.0, {}, RowPrediction(*numbers))
    agent.learn([], 1.0, {}, RowPrediction(1.0, 0.0, nine))


def test_a_lesson_is_taken_once_and_strangers_are_refused():
    model = Model(mtcool.graphs.star(3))
    model.play([0, 1, 2, 0], [[1.0], [2.0], [3.0], [0.0]], [1.0, 2.0, 4.0, 0.0], ~np.arange(4))
    agents = {name: model.agent(name) for name in model.agents}
    lesson = agents[1].learn([2.0], 9.0, {})[0]
    fresh = encode(agents[0].receive(agents[1].requests()[0]))
    agents[0].receive(lesson)
    kept = encode(agents[0].receive(agents[1].requests()[0]))
    agents[0].receive(lesson)
    assert encode(agents[0].receive(agents[1].requests()[0])) == kept != fresh
    with pytest.raises(ValueError, match="sender must be a neighbour of agent 2, got 1"):
        agents[2].receive(lesson)


@pytest.mark.parametrize("numbers", [np.zeros(3), np.zeros((2, 4)), np.zeros(0)])
def test_wrong_numbers_are_refused_and_change_nothing(numbers):
    model = Model(mtcool.graphs.star(2))
    model.play([0, 1], [[1.0], [2.0]], [1.0, 2.0], ~np.arange(2))
    agent = model.agent(0)
    before = [part.copy() for part in agent.panel[:-2] if isinstance(part, np.ndarray)]
    with pytest.raises(ValueError, match="message must have"):
        agent.receive(Lesson(1, 2.0, numbers))
    with pytest.raises(ValueError, match="message must have"):
        agent.predict([1.0], {1: Knowledge(1, numbers)})
    after = [part for part in agent.panel[:-2] if isinstance(part, np.ndarray)]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


LIES = [np.nan, np.inf, -np.inf, -1.0, 1e308, -1e308, 0.5, 1e100, 5e-324]


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("rows", [0, 1, 2, 40])
def test_lies_of_a_neighbour_leave_an_agent_finite(task, rows):
    rng = np.random.default_rng(rows)
    model = Model(mtcool.graphs.star(3), task=task, share="rows")
    who, x, y = rows_of(rng, 3, 50, 2, task == "classification")
    model.play(who, x, y, ~np.arange(rows))
    refused, believed = 0, 0
    for lie in LIES:
        me, liar = model.agent(0), model.agent(1)
        honest = liar.receive(SumsRequest(0)).numbers
        for place in range(len(honest)):
            told = honest.copy()
            told[place] = lie
            try:
                me.learn(x[0], y[0], {1: Knowledge(1, told)})
                believed += 1
            except ValueError:
                refused += 1
            assert np.isfinite(me.predict(x[0], {}).score)
            assert np.isfinite(me.panel.number[0, 3:]).all()
            for part in KEPT[1:]:
                assert np.isfinite(getattr(me.panel, part)[0]).all()
    assert min(refused, believed) > 100


@pytest.mark.parametrize("lie", [np.nan, np.inf, -1e308, 1e308])
def test_lessons_that_no_agent_sends_are_refused(lie):
    model = Model(mtcool.graphs.star(2))
    model.play([0, 1], [[1.0], [2.0]], [1.0, 2.0], ~np.arange(2))
    agent, before = model.agent(0), model.agent(0)
    for place in range(8):
        numbers = np.zeros(8)
        numbers[place] = lie
        with pytest.raises(ValueError, match="of a message must be"):
            agent.receive(Lesson(1, 2.0, numbers))
    numbers = np.array([0.0, 0.0, -1.0, -1.0] * 2)  # information is not negative
    with pytest.raises(ValueError, match="information of a message must be"):
        agent.receive(Lesson(1, 2.0, numbers))
    assert np.array_equal(agent.panel.vector, before.panel.vector)


def test_sums_that_no_rows_have_are_refused():
    model = Model(mtcool.graphs.star(2), share="rows")
    model.play([0, 1], [[1.0], [2.0]], [1.0, 2.0], ~np.arange(2))
    model.play([1, 1], [[3.0], [5.0]], [1.0, 5.0], ~np.arange(2))
    agent, told = model.agent(0), model.agent(1).receive(SumsRequest(0)).numbers
    agent.predict([1.0], {1: Knowledge(1, told)})
    before = agent.panel.scatter.copy()
    for lie in (2.0, -2.0, np.nan):
        wrong = np.append(told[:-1], lie * told[-1])
        with pytest.raises(ValueError, match="products of a message must be"):
            agent.predict([1.0], {1: Knowledge(1, wrong)})
    assert np.array_equal(agent.panel.scatter, before)


def test_lessons_from_before_an_agent_was_cut_out_are_not_taken_again():
    model = Model(mtcool.graphs.star(2))
    model.play([0, 1, 1], [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], ~np.arange(3))
    agent = model.agent(0)
    before = agent.panel.vector.copy()
    agent.receive(Lesson(1, 2.0, np.ones(8)))
    assert np.array_equal(agent.panel.vector, before)
    agent.receive(Lesson(1, 3.0, np.ones(8)))
    assert not np.array_equal(agent.panel.vector, before)
    assert agent.heard[1].last == 3  # and nothing is remembered beyond it
    assert not agent.heard[1].beyond


def test_a_target_whose_square_overflows_is_refused_by_an_agent():
    agent = Model(mtcool.graphs.star(2)).agent(0)
    with pytest.raises(ValueError, match=r"target must be at most 1e\+100 in size"):
        agent.learn([], 1e200, {})
