"""Agents with messages in between play as their model does, to the bit."""

import numpy as np
import pytest
from tests.learn.test_slow_panel import rows_of

import mtcool
from mtcool.agents.messages import Knowledge, Lesson, decode, encode
from mtcool.learn import Model

GRAPH = mtcool.graphs.erdos_renyi(6, 0.5, seed=3)


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
        score = me.predict(row, answers)
        again, learned = ask(agents, me, learning=True)
        lessons = me.learn(row, target, again)
        for other, lesson in lessons.items():
            agents[other].receive(decode(encode(lesson)))
        messages += 5 * len(lessons)
        sent += asked + learned + sum(len(encode(lesson)) for lesson in lessons.values())
        expected = model.play([i], [row], [target], [0, ~0]).prediction[0]
        found = 1 / (1 + np.exp(-score)) if task == "classification" else score
        assert found == expected
    assert (model.messages - before[0], model.message_bytes - before[1]) == (messages, sent)


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


@pytest.mark.parametrize(
    "numbers", [np.zeros(3), np.full(8, np.nan), np.zeros((2, 4)), np.zeros(0)]
)
def test_wrong_numbers_are_refused_and_change_nothing(numbers):
    model = Model(mtcool.graphs.star(2))
    model.play([0, 1], [[1.0], [2.0]], [1.0, 2.0], ~np.arange(2))
    agent = model.agent(0)
    before = [part.copy() for part in agent.panel[:-2] if isinstance(part, np.ndarray)]
    with pytest.raises(ValueError, match="message must have"):
        agent.receive(Lesson(1, 1.0, numbers))
    with pytest.raises(ValueError, match="message must have"):
        agent.predict([1.0], {1: Knowledge(1, numbers)})
    after = [part for part in agent.panel[:-2] if isinstance(part, np.ndarray)]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
