"""What users of `mtcool.learn.Model` meet."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.learn.test_slow_panel import rows_of

import mtcool
from mtcool.learn import Model, capacity, load
from mtcool.learners.panel.play import play

GRAPH = mtcool.graphs.ring(4)


def trained(share="gradients", task="regression", graph=GRAPH):
    rng = np.random.default_rng(2)
    who, x, y = rows_of(rng, 4, 80, 2, task == "classification")
    model = Model(graph, task=task, share=share)
    model.play(model.index(who), x, y, ~np.arange(80))
    return model, who, x, y


def state_of(model):
    panel = model._panel
    return [part.copy() for part in panel[:-1] if isinstance(part, np.ndarray)]


def same(a, b):
    return all(np.array_equal(p, q) for p, q in zip(a, b, strict=True))


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_prediction_changes_nothing(task):
    model, who, x, _ = trained(task=task)
    before = state_of(model)
    first = model.predict_many(who, x)
    assert same(before, state_of(model))
    np.testing.assert_array_equal(first, model.predict_many(who, x))


def test_rows_one_by_one_are_rows_at_once():
    model, who, x, y = trained()
    one = Model(GRAPH)
    for i, row, target in zip(who, x, y, strict=True):
        one.play([i], [row], [target], [~0])
    assert same(state_of(model), state_of(one))


@pytest.mark.parametrize("share", ["gradients", "rows"])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_calls_for_one_row_do_as_calls_for_many(share, task, monkeypatch):
    many, one = (Model(GRAPH, task=task, share=share) for _ in range(2))
    rng = np.random.default_rng(2)
    who, x, y = rows_of(rng, 4, 80, 2, task == "classification")
    assert np.isnan(x).any()
    for model in (many, one):
        model.learn_many(who[:1], x[:1], y[:1])  # from here on its features are known
    for i, row, target in zip(who.tolist(), x, y.tolist(), strict=True):
        want = many.predict_many([i], [row])[0]
        many.learn_many([i], [row], [target])
        with monkeypatch.context() as patched:
            patched.setattr(Model, "_run", None)  # which takes three times as long
            assert one.predict_one(i, row) == want
            one.learn_one(i, row, target)
    assert same(state_of(many), state_of(one))
    assert (one.messages, one.message_bytes) == (many.messages, many.message_bytes)


def test_calls_for_one_row_do_as_calls_for_many_where_the_first_lacks_a_feature():
    _, who, x, y = trained()
    x[0, 0] = np.nan
    many, one = Model(GRAPH), Model(GRAPH)
    many.learn_many(who, {"b": x[:, 0], "a": x[:, 1]}, y)
    for i, row, target in zip(who.tolist(), x.tolist(), y.tolist(), strict=True):
        one.learn_one(i, {"b": row[0], "a": row[1]}, target)
    assert one.encoder.names == many.encoder.names == ("b", "a")
    assert same(state_of(many), state_of(one))


def test_rows_at_once_let_agents_join_when_rows_one_by_one_do():
    _, who, x, y = trained()
    names = [f"agent {k}" for k in np.minimum(who, np.arange(80) // 15)]
    at_once, one = Model("complete"), Model("complete")
    at_once.learn_many(names, x, y)
    for name, row, target in zip(names, x, y, strict=True):
        one.learn_many([name], [row], [target])
    assert one.agents == at_once.agents
    assert one.messages == at_once.messages
    np.testing.assert_array_equal(one.predict_many(names, x), at_once.predict_many(names, x))


def test_features_that_can_only_be_read_are_compiled_for_no_more_than_others():
    model, who, x, y = trained()
    compiled, frozen = len(play.signatures), x.copy()
    frozen.flags.writeable = False
    model.play(model.index(who), frozen, y, np.arange(80))
    assert len(play.signatures) == compiled > 0


def test_joining_a_complete_network_seldom_lays_it_out_anew():
    model, layouts = Model("complete"), set()
    for agent in range(200):
        model.learn_one(agent, [1.0], 2.0)
        layouts.add(len(model._panel.idx))
    assert len(layouts) <= 10


def test_a_complete_network_is_the_complete_graph():
    _, who, x, y = trained()
    word, graph = Model("complete"), Model(mtcool.graphs.complete(4))
    word.index(range(4))
    for model in (word, graph):
        model.play(who, x, y, ~np.arange(80))
    assert (word.messages, word.message_bytes) == (graph.messages, graph.message_bytes)
    for agent in range(4):
        assert same(*([*model.agent(agent).panel[:-3]] for model in (word, graph)))


@pytest.mark.parametrize("share", ["gradients", "rows"])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_saved_model_goes_on_to_the_bit(tmp_path, share, task):
    model, who, x, y = trained(share, task)
    model.learn_one("later", {"sun": 1.0, "sky": "blue"}, 1.0)
    model.save(tmp_path / "model.npz")
    copy = load(tmp_path / "model.npz")
    for one in (model, copy):
        one.learn_one("new", {"sun": 2.0, "sky": "grey", "wind": 3}, 0.0)
        one.play(one.index(who), x, y, ~np.arange(80))
    assert copy.agents == model.agents
    assert copy.encoder.names == model.encoder.names
    assert (copy.messages, copy.message_bytes) == (model.messages, model.message_bytes)
    assert same(state_of(model), state_of(copy))


def refused(path):
    """What is said of a file that is refused, or nothing."""
    try:
        load(path)
    except ValueError as error:
        return str(error)
    return ""


def test_damaged_and_forged_files_are_refused(tmp_path):
    path = tmp_path / "model.npz"
    trained()[0].save(path)
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    for _ in range(60):
        broken = content.copy()
        broken[rng.integers(len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(broken)
        refusal = refused(path)
        # A bit that no reader looks at does no harm.
        assert refusal.startswith("path must be a saved") or load(path).agents == (0, 1, 2, 3)
    mtcool.mt_co2ol(GRAPH, 2).save(path)
    with pytest.raises(ValueError, match="path must be a saved model"):
        load(path)


def test_a_file_whose_agents_do_not_listen_to_themselves_is_refused(tmp_path):
    model = trained()[0]
    model._panel.link[0, 0] = 0.0
    model.save(tmp_path / "model.npz")
    assert "link must say that agents listen to themselves" in refused(tmp_path / "model.npz")


def test_a_file_of_a_complete_network_with_other_neighbours_is_refused(tmp_path):
    model = trained()[0]  # on a ring
    model._places.complete = True
    model._places.entries = lambda room: (model._panel.ptr, model._panel.idx)
    model.save(tmp_path / "model.npz")
    assert "idx must name all agents as neighbours" in refused(tmp_path / "model.npz")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: m.learn_one(0, [1.0, 2.0], np.nan), "y must be finite"),
        (lambda m: m.learn_one(0, [np.inf, 2.0], 1.0), "x must be finite or NaN, got an entry inf"),
        (lambda m: m.predict_one(0, [np.nan, -np.inf]), "finite or NaN, got an entry -inf"),
        (lambda m: m.learn_one(0, {"sun": np.inf}, 1.0), "sun"),
        (lambda m: m.learn_one([0], [1.0, 2.0], 1.0), "agent must be a number, a string or"),
        (lambda m: m.predict_one([0], [1.0, 2.0]), "agent must be a number, a string or"),
        (lambda m: m.learn_one(0, [1.0, 2.0], 10**101), "y must be at most 1e\\+100 in size"),
        (lambda m: m.learn_one(0, [1.0, 2.0], "7"), "y must be an array of numbers"),
        (lambda m: m.play([9], [[1.0, 2.0]], [1.0], [~0]), "agents must be from 0 to 3, got 9"),
        (lambda m: m.play([0], [[1.0, 2.0]], [1.0], [1]), "events must be from -1 to 0, got 1"),
        (lambda m: m.play([0], [[1.0, np.inf]], [1.0], [~0]), "features must be finite or NaN"),
        (lambda m: m.play([0], [1.0, 2.0], [1.0], [~0]), "features must be a matrix"),
        (lambda m: m.play([0.5], [[1.0, 2.0]], [1.0], [~0]), "agents must be a list of whole"),
        (lambda m: m.learn_many([0], [[1.0, 2.0]] * 2, [1.0]), "agents must have 2 names, got 1"),
        (lambda m: m.predict_many("rome", [[1.0, 2.0]]), "agents must be a sequence"),
        (lambda m: m.join(0, [0]), "neighbours must be other agents"),
        (lambda m: m.agent("nobody"), "name must be one of 4 known agents"),
        (lambda m: Model("nonsense"), "graph must be a graph, 'complete', 'none' or None"),
        (lambda m: Model(task="ranking"), "task must be one of"),
        (lambda m: Model(share="all"), "share must be one of"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(call, words):
    model = trained()[0]
    before, agents, names = state_of(model), model.agents, model.encoder.names
    with pytest.raises(ValueError, match=words):
        call(model)
    assert same(before, state_of(model))
    assert (model.agents, model.encoder.names) == (agents, names)


NO_NAMES = [
    np.nan,
    b"rome",
    frozenset("a"),
    ("rome", np.nan),
    ("rome", b""),
    ([],),
    2**63,
    "\ud800",
]


@pytest.mark.parametrize("name", NO_NAMES, ids=repr)
@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("agent", lambda m, name: m.learn_one(name, [1.0, 2.0], 1.0)),
        ("agent", lambda m, name: m.predict_one(name, [1.0, 2.0])),
        ("agent", lambda m, name: m.join(name, [0])),
        ("neighbours", lambda m, name: m.join(0, [name])),
        ("agents", lambda m, name: m.index([0, name])),
        ("agents", lambda m, name: m.learn_many([0, name], [[1.0, 2.0]] * 2, [1.0, 1.0])),
        ("agents", lambda m, name: m.predict_many([0, name], [[1.0, 2.0]] * 2)),
    ],
)
def test_a_name_that_no_file_holds_is_refused_at_once(argument, call, name):
    model = trained()[0]
    with pytest.raises(ValueError, match=f"^{argument} must be a number( of 64 bits)?, a string"):
        call(model, name)
    assert model.agents == (0, 1, 2, 3)


def test_a_graph_with_names_that_no_file_holds_is_refused():
    with pytest.raises(ValueError, match="each label of graph must be a number, a string or"):
        Model(nx.path_graph([frozenset("a"), frozenset("b")]))


@pytest.mark.parametrize("name", [None, True, -1.5, "", "Zürich", ("rome", (1, None)), np.int64(7)])
def test_whoever_is_accepted_can_be_saved(name, tmp_path):
    model = Model(None)
    model.learn_one(name, [1.0], 2.0)
    model.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").agents == (name,)


def test_classes_are_zero_and_one():
    with pytest.raises(ValueError, match="y must be 0 or 1 in classification, got 2"):
        Model(task="classification").learn_one("a", [1.0], 2.0)


def test_results_do_not_depend_on_units():
    rng = np.random.default_rng(4)
    who, x, y = rows_of(rng, 4, 200, 3, False)
    x, events = np.nan_to_num(x), np.stack([np.arange(200), ~np.arange(200)], axis=1).ravel()
    plain = Model(GRAPH).play(who, x, y, events).prediction[1:]
    other = Model(GRAPH).play(who, x * [1e3, 1e-3, 7.0] + 5.0, 1e-3 * y - 8.0, events)
    np.testing.assert_allclose(other.prediction[1:], 1e-3 * plain - 8.0, rtol=1e-6, atol=1e-6)


def test_results_do_not_depend_on_the_order_of_the_agents():
    rng = np.random.default_rng(6)
    who, x, y = rows_of(rng, 4, 120, 2, False)
    turned = np.array([2, 0, 3, 1])
    edges = [(turned[i], turned[(i + 1) % 4]) for i in range(4)]
    graph = mtcool.Graph.from_edges(edges, size=4)
    events = np.stack([np.arange(120), ~np.arange(120)], axis=1).ravel()
    first = Model(GRAPH).play(who, x, y, events).prediction
    second = Model(graph).play(turned[who], x, y, events).prediction
    np.testing.assert_allclose(first, second, rtol=1e-9)


def test_who_joins_later_starts_from_its_neighbours():
    model, _, x, y = trained()
    model.join("new", [0, 1])
    near = [model.predict_one(i, np.nan_to_num(x[0])) for i in (0, 1)]
    started = model.predict_one("new", np.nan_to_num(x[0]))
    assert min(near) - np.std(y) < started < max(near) + np.std(y)
    assert model.predict_one("stranger", np.nan_to_num(x[0])) == 0.0
    assert "stranger" not in model.agents


def test_unknown_agents_of_a_complete_network_know_what_all_know():
    model, _, x, y = trained(graph="complete")
    assert abs(model.predict_one("new", np.nan_to_num(x[0])) - y.mean()) < 3 * np.std(y)
    assert "new" not in model.agents


@pytest.mark.parametrize("share", ["gradients", "rows"])
@pytest.mark.parametrize("graph", ["complete", "none", GRAPH])
def test_unknown_agents_predict_as_if_they_joined_now_and_change_nothing(graph, share, monkeypatch):
    model, _, x, _ = trained(share, graph=graph)
    joined = trained(share, graph=graph)[0]
    joined.index(["new", "newer"])
    names, before = ["new", 1, "newer"], state_of(model)
    wide = np.hstack([x[:3], np.ones((3, 2))])  # two features that the model has not met
    want = joined.play(joined.index(names), wide, np.zeros(3), np.arange(3)).prediction
    # Copies are too slow for a model of many agents.
    monkeypatch.setattr(Model, "__deepcopy__", lambda *_: pytest.fail("copied"), raising=False)
    np.testing.assert_array_equal(model.predict_many(names, wide), want)
    assert same(before, state_of(model))
    assert len(model.agents) == 4


def test_growing_features_leave_known_ones_as_they_are():
    narrow, wide = Model(GRAPH), Model(GRAPH)
    rng = np.random.default_rng(7)
    who, x, y = rows_of(rng, 4, 60, 2, False)
    for model, rows in ((narrow, x), (wide, np.hstack([x, np.full((60, 2), np.nan)]))):
        model.play(who, rows, y, ~np.arange(60))
    np.testing.assert_allclose(narrow.predict_many(who, x), wide.predict_many(who, x), rtol=1e-12)


def taught_new_categories(share, task):
    model, rng = Model(GRAPH, share=share, task=task), np.random.default_rng(9)
    widths = set()
    for i in range(120):
        x = {"sun": rng.normal(), "sky": f"sky {rng.integers(1 + i // 2)}"}
        model.learn_one(i % 4, x, float(rng.integers(2)))
        model.predict_one((i + 1) % 4, {**x, "sky": f"sky {i}"})
        widths.add(model._panel.vector.shape[2])
    return model, widths


@pytest.mark.parametrize("share", ["gradients", "rows"])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_spare_columns_of_large_models_change_no_number(share, task, tmp_path, monkeypatch):
    exact, widths = taught_new_categories(share, task)
    monkeypatch.setattr(capacity, "LARGE", 0)
    spare, steps = taught_new_categories(share, task)
    assert len(steps) < len(widths) / 2
    assert spare._panel.vector.shape[2] > exact._panel.vector.shape[2]
    assert (spare.messages, spare.message_bytes) == (exact.messages, exact.message_bytes)
    x = np.random.default_rng(1).normal(size=(40, exact.encoder.width + 3))
    for agent in (*range(4), "stranger"):
        assert_array_equal(spare.predict_many([agent] * 40, x), exact.predict_many([agent] * 40, x))
        assert spare.predict_one(agent, x[0]) == exact.predict_one(agent, x[0])
    for agent in range(4):
        assert same(*(model.agent(agent).panel[:-3] for model in (spare, exact)))
    for model in (spare, exact):
        model.save(tmp_path / "model.npz")
        assert same(state_of(load(tmp_path / "model.npz")), state_of(exact))


def test_a_constant_target_and_constant_features_are_no_trouble():
    model = Model(GRAPH)
    for _ in range(30):
        for agent in range(4):
            model.learn_one(agent, [1.0, 0.0], 7.0)
    assert model.predict_one(0, [1.0, 0.0]) == pytest.approx(7.0)
    assert np.isfinite(model.predict_one(0, [1e6, -1e6]))


@pytest.mark.parametrize("share", ["gradients", "rows"])
def test_batches_of_any_size_give_the_same_model(share):
    rng = np.random.default_rng(8)
    who, x, y = rows_of(rng, 6, 90, 2, False)
    names = np.sort(who)  # agents appear one after the other
    whole, parts = Model("complete", share=share), Model("complete", share=share)
    whole.learn_many(names, x, y)
    for first in range(0, 90, 7):
        parts.learn_many(names[first : first + 7], x[first : first + 7], y[first : first + 7])
    np.testing.assert_array_equal(
        whole.predict_many(names, x), parts.predict_many(names, x), strict=True
    )


def test_agents_share_unless_it_is_said_that_they_do_not():
    _, who, x, y = trained()
    found = {}
    for graph in ("complete", "none", None):
        model = Model(graph)
        model.learn_many(who, x, y)
        found[graph] = model.predict_many(who, x)
    default = Model()
    default.learn_many(who, x, y)
    np.testing.assert_array_equal(default.predict_many(who, x), found["complete"])
    np.testing.assert_array_equal(found["none"], found[None])
    assert not np.array_equal(found["complete"], found["none"])


def test_a_complete_network_of_many_agents_warns_once():
    model = Model()
    model.learn_many(range(300), np.ones((300, 1)), np.ones(300))
    with pytest.warns(UserWarning, match="more than 300 agents are all neighbours"):
        model.learn_one("another", [1.0], 1.0)
    model.learn_one("one more", [1.0], 1.0)  # a second warning would be an error
