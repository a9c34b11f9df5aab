"""A saved network resumes to the bit, and nothing but a saved network is loaded."""

import os
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pytest
from tests.saved_files import forge, taken_apart

import mtcool
from mtcool.axes import state_arrays
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT
from mtcool.learners.two_phase import TwoPhase

WHEEL = nx.wheel_graph(5)
TRIANGLE = nx.complete_graph(3)
ESTIMATED = {"rates": "estimated", "q_min": 1 / 3, "horizon": 1}  # a first phase of 105 updates
Q = [0.1, 0.2, 0.3, 0.2, 0.2]

# Not ST-FTRL with MTFTRL: a minute of compilation for an algorithm that is FTRL there.
CASES = {
    "mt FTRL": lambda: mtcool.mt_co2ol(WHEEL, 2, learner=FTRL()),
    "mt KT": lambda: mtcool.mt_co2ol(WHEEL, 2, learner=KT()),
    "mt KT of the paper": lambda: mtcool.mt_co2ol(WHEEL, 2, learner=MTFTRLKT()),
    "mt Hedge": lambda: mtcool.mt_co2ol(WHEEL, 2),
    "pairwise FTRL": lambda: mtcool.pairwise(WHEEL, 2, learner=FTRL()),
    "pairwise KT": lambda: mtcool.pairwise(WHEEL, 2, learner=KT()),
    "pairwise KT of the paper": lambda: mtcool.pairwise(WHEEL, 2, learner=MTFTRLKT()),
    "pairwise Hedge": lambda: mtcool.pairwise(WHEEL, 2),
    "i FTRL": lambda: mtcool.i_ftrl(WHEEL, 2),
    "i KT": lambda: mtcool.i_ftrl(WHEEL, 2, learner=KT()),
    "i KT of the paper": lambda: mtcool.i_ftrl(WHEEL, 2, learner=MTFTRLKT()),
    "i Hedge": lambda: mtcool.i_ftrl(WHEEL, 2, learner=MTFTRL()),
    "st FTRL": lambda: mtcool.st_ftrl(WHEEL, 2),
    "st KT": lambda: mtcool.st_ftrl(WHEEL, 2, learner=KT()),
    "geometric experts": lambda: mtcool.mt_co2ol(WHEEL, 2, learner=MTFTRL(experts="geometric")),
    "given experts": lambda: mtcool.mt_co2ol(
        WHEEL, 2, learner=MTFTRL(experts=(0.0, 0.1, 1 / 3), free_last=True)
    ),
    "units": lambda: mtcool.mt_co2ol(
        WHEEL, 2, learner=MTFTRLKT(), radius=0.3, lipschitz=np.pi, on_excess="clip"
    ),
    "delegation": lambda: mtcool.mt_co2ol(WHEEL, 2, weights="delegation"),
    "proportional": lambda: mtcool.mt_co2ol(WHEEL, 2, learner=KT(), weights="proportional", q=Q),
    "stochastic": lambda: mtcool.mt_co2ol(WHEEL, 2, rates="stochastic", q=Q),
    "given weights": lambda: mtcool.mt_co2ol(
        WHEEL, 2, learner=FTRL(), weights=np.eye(5) / 3 + np.full((5, 1), 2 / 3) * np.eye(5)[0]
    ),
    "estimated FTRL": lambda: mtcool.mt_co2ol(TRIANGLE, 2, learner=FTRL(), **ESTIMATED),
    "estimated KT": lambda: mtcool.mt_co2ol(TRIANGLE, 2, learner=MTFTRLKT(), **ESTIMATED),
    "adaptive rates": lambda: mtcool.mt_co2ol(
        WHEEL, 2, learner=MTFTRLKT(), rates="adaptive", weights="delegation"
    ),
    "no L, Hedge": lambda: mtcool.mt_co2ol(WHEEL, 2, lipschitz="adaptive"),
    "no L, KT of the paper": lambda: mtcool.mt_co2ol(
        WHEEL, 2, learner=MTFTRLKT(), lipschitz="adaptive"
    ),
    "no L, i KT": lambda: mtcool.i_ftrl(WHEEL, 2, learner=KT(), lipschitz="adaptive"),
    "no L, st FTRL": lambda: mtcool.st_ftrl(WHEEL, 2, lipschitz="adaptive"),
    "NumPy numbers": lambda: mtcool.mt_co2ol(
        TRIANGLE,
        np.int64(2),
        learner=FTRL(),
        lipschitz=np.float32(1.5),
        rates="estimated",
        q_min=np.float64(0.2),
        horizon=np.int32(7),
    ),
}


def everything(network):
    return {name: array.tobytes() for name, array in state_arrays(network.peers.state)}


def play(network, rounds, seed):
    """Gradients that lean one way, so that models reach the ball; returns the predictions."""
    rng = np.random.default_rng(seed)
    agents, predictions = list(network.graph.labels), []
    growth = 1.1 if network.settings.adaptive else 1.0
    for t in range(rounds):
        agent = agents[rng.integers(len(agents))]
        g = rng.normal(size=network.settings.dim) + 0.5
        g *= growth**t * network.settings.gradient_unit / np.linalg.norm(g)
        predictions.append(network.predict(agent))
        # g=g: the function must not see the gradient of a later round.
        network.update(
            agent, (lambda x, g=g: g) if network.settings.algorithm.name == "st_ftrl" else g
        )
    return np.array(predictions)


def again(network, path):
    network.save(path)
    return mtcool.load(path)


@pytest.mark.parametrize("rounds", [0, 70, 150])
@pytest.mark.parametrize("case", CASES)
def test_a_loaded_network_goes_on_as_if_never_interrupted(case, rounds, tmp_path):
    network = CASES[case]()
    play(network, rounds, seed=1)
    loaded = again(network, tmp_path / "network.npz")
    assert loaded.settings == network.settings
    assert everything(loaded) == everything(network)
    np.testing.assert_array_equal(play(loaded, 70, seed=2), play(network, 70, seed=2))
    assert everything(loaded) == everything(network)


def test_both_phases_of_the_two_phase_strategy_are_covered_above():
    network = CASES["estimated KT"]()
    play(network, 70, seed=1)
    assert (network.peers.state.elapsed < network.peers.state.tau).all()
    play(network, 80, seed=2)
    assert (network.peers.state.elapsed == network.peers.state.tau).all()


@pytest.mark.parametrize("case", ["mt Hedge", "given experts", "stochastic", "delegation"])
def test_experts_on_the_ball_are_covered_above(case):
    network = CASES[case]()
    play(network, 70, seed=1)
    assert network.peers.state.cliques["clipped"].any()


def test_what_was_loaded_can_be_saved_and_loaded_again(tmp_path):
    network = CASES["estimated KT"]()
    play(network, 120, seed=1)
    twice = again(again(network, tmp_path / "one"), tmp_path / "two")
    assert everything(twice) == everything(network)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_saving_changes_nothing_and_loading_shares_nothing(tmp_path):
    network = CASES["mt Hedge"]()
    play(network, 30, seed=1)
    before = everything(network)
    loaded = again(network, tmp_path / "network.npz")
    assert everything(network) == before
    play(loaded, 10, seed=2)
    assert everything(network) == before


LABELS = {
    "texts": ["roof", "yård", ""],
    "numbers": [5, -(2**63), 2**63 - 1],
    "floats": [0.1, -1e300, 2.5],
    "tuples": [(0, 1), ("a", (1.5, ("b",))), ()],
    "mixed": ["1", 1, (1,)],
    "truth values": [True, False, 2],
    "NumPy numbers": [np.int64(4), np.float64(0.5), np.str_("a")],
    "counted": [0, 1, 2],
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_come_back_as_they_were(kind, tmp_path):
    names = LABELS[kind]
    network = mtcool.i_ftrl(nx.path_graph(names), 1)
    for step, name in enumerate(names):
        network.update(name, [0.1 * (step + 1)])
    loaded = again(network, tmp_path / "network.npz")
    assert list(loaded.graph.labels) == names
    for name in names:
        assert loaded.predict(name) == network.predict(name)


BAD_LABELS = {
    "frozenset": frozenset([1]),
    "bytes": b"a",
    "complex": 1j,
    "function": len,
    "large number": 2**63,
    "date": np.datetime64("2024-01-01", "ns"),
    "duration": np.timedelta64(5, "ns"),
    "inside a tuple": (1, (b"a",)),
    "a number that equals nothing": float("nan"),
    "broken text": "\ud800",
}


@pytest.mark.parametrize("kind", BAD_LABELS)
def test_labels_that_cannot_be_saved_are_refused_before_anything_is_written(kind, tmp_path):
    label = BAD_LABELS[kind]
    path = tmp_path / "network.npz"
    path.write_text("precious")
    network = mtcool.i_ftrl(nx.path_graph(["a", label]), 1)
    with pytest.raises(ValueError, match=r"labels must be|surrogates not allowed"):
        network.save(path)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["network.npz"]


def fail(*_, **__):
    raise OSError("no space left on device")


@pytest.mark.parametrize("broken", ["numpy.savez", "os.fsync", "os.replace"])
def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(
    broken, tmp_path, monkeypatch
):
    network, path = CASES["i FTRL"](), tmp_path / "network.npz"
    play(network, 10, seed=1)
    network.save(path)
    old = path.read_bytes()
    play(network, 10, seed=2)
    monkeypatch.setattr(broken, fail)
    with pytest.raises(OSError, match="no space left"):
        network.save(path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["network.npz"]


def test_an_interrupt_while_writing_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    network, path = CASES["i FTRL"](), tmp_path / "network.npz"
    network.save(path)

    def interrupted(file, **arrays):
        file.write(b"half a file")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        network.save(path)
    assert os.listdir(tmp_path) == ["network.npz"]
    assert mtcool.load(path).settings == network.settings


def test_saving_replaces_an_older_file(tmp_path):
    network, path = CASES["i FTRL"](), tmp_path / "network.npz"
    network.save(path)
    play(network, 10, seed=1)
    assert everything(again(network, path)) == everything(network)


def test_saving_into_a_missing_folder_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        CASES["i FTRL"]().save(tmp_path / "no" / "network.npz")


@pytest.mark.skipif(os.name != "posix", reason="permission bits")
def test_a_saved_file_is_as_readable_as_any_other_new_file(tmp_path):
    (tmp_path / "other").touch()
    CASES["i FTRL"]().save(tmp_path / "network.npz")
    modes = {(tmp_path / name).stat().st_mode for name in ("other", "network.npz")}
    assert len(modes) == 1


@pytest.mark.parametrize("name", ["network", "network.npz", "net.work.bin", "n" * 250])
def test_the_file_has_exactly_the_name_that_was_asked_for(name, tmp_path):
    CASES["i FTRL"]().save(str(tmp_path / name))
    assert os.listdir(tmp_path) == [name]
    assert mtcool.load(str(tmp_path / name)).graph.size == 5


def test_a_missing_file_is_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npz"):
        mtcool.load(tmp_path / "nowhere.npz")


def arrays_of(path):
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def foreign_file(kind, path, saved):
    header, arrays = taken_apart(saved)
    if kind == "text":
        path.write_text("not a network\n")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "array":
        with open(path, "wb") as file:
            np.save(file, np.zeros(3))
    elif kind == "folderless zip":
        path.write_bytes(b"PK\x05\x06" + bytes(18))
    elif kind in ("no header", "no checksum", "header of noise"):
        whole = arrays_of(saved)
        if kind == "header of noise":
            whole["header"] = np.arange(9)
        else:
            whole.pop(kind.removeprefix("no "))
        with open(path, "wb") as file:
            np.savez(file, **whole)
    else:
        if kind == "header of another program":
            header = {"version": 3}
        elif kind == "header not a record":
            header = [1, 2]
        elif kind == "header without labels":
            header.pop("labels")
        elif kind == "header with more":
            header["more"] = 1
        elif kind == "no graph":
            arrays.pop("idx")
        elif kind == "no state":
            arrays.pop("state.total")
        elif kind == "state of another shape":
            arrays["state.n"] = arrays["state.n"][:1]
        elif kind == "state of another type":
            arrays["state.n"] = arrays["state.n"].astype(float)
        elif kind == "more state":
            arrays["state.more"] = np.zeros(2)
        forge(path, header, arrays)


FOREIGN = (
    "text",
    "empty",
    "array",
    "folderless zip",
    "no header",
    "no checksum",
    "header of noise",
    "header of another program",
    "header not a record",
    "header without labels",
    "header with more",
    "no graph",
    "no state",
    "state of another shape",
    "state of another type",
    "more state",
)


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_not_a_saved_network_is_refused(kind, tmp_path):
    CASES["i FTRL"]().save(tmp_path / "good")
    foreign_file(kind, tmp_path / "bad", tmp_path / "good")
    with pytest.raises(ValueError, match=r"(path|learner) must"):
        mtcool.load(tmp_path / "bad")


def test_a_file_of_a_future_format_is_refused_by_name(tmp_path):
    path = tmp_path / "network.npz"
    CASES["i FTRL"]().save(path)
    header, arrays = taken_apart(path)
    forge(path, {"format": "mtcool-network-99"}, {})  # nothing else is known of it
    with pytest.raises(ValueError, match=r"path must hold .*, got 'mtcool-network-99'"):
        mtcool.load(path)
    forge(path, header | {"format": "mtcool-network-1"}, arrays)
    with pytest.raises(ValueError, match=r"path must hold .*, got 'mtcool-network-1'"):
        mtcool.load(path)


def test_a_damaged_file_is_refused_or_harmless(tmp_path):
    network, path = CASES["i FTRL"](), tmp_path / "network.npz"
    play(network, 10, seed=1)
    network.save(path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    damaged = [whole[:end] for end in range(0, len(whole), 97)]
    for at in rng.integers(len(whole), size=150):
        damaged.append(whole[:at] + rng.bytes(2) + whole[at + 2 :])
    refused = 0
    for content in damaged:
        path.write_bytes(content)
        try:
            assert everything(mtcool.load(path)) == everything(network)
        except ValueError:
            refused += 1
    assert refused > 100


EXPLOSIONS = []


def explode():
    EXPLOSIONS.append("unpickled")


class Bomb:
    """Unpickling it leaves a trace."""

    def __reduce__(self):
        return explode, ()


def test_loading_never_unpickles(tmp_path):
    path = tmp_path / "network.npz"
    CASES["i FTRL"]().save(path)
    arrays = arrays_of(path)
    arrays["state.total"] = np.array([Bomb()], object)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="path must be a saved network"):
        mtcool.load(path)
    assert not EXPLOSIONS
    with np.load(path, allow_pickle=True) as file:
        file["state.total"]
    assert EXPLOSIONS  # the file was dangerous


@pytest.mark.parametrize("case", CASES)
def test_saving_never_pickles(case, tmp_path):
    CASES[case]().save(tmp_path / "network.npz")
    assert all(array.dtype != object for array in arrays_of(tmp_path / "network.npz").values())


class MeanState(NamedTuple):
    total: Any
    n: Any
    rate: Any


@dataclass(frozen=True)
class Mean:
    """A learner from outside the package."""

    gain: float = 1.0

    def make_state(self, cliques, dim):
        count = len(cliques.rate)
        return MeanState(np.zeros((count, dim)), np.zeros(count, np.int64), cliques.rate.copy())


class Plain:
    """A learner that is not even a dataclass."""

    make_state = Mean().make_state


def used_by_hand(learner):
    """Not a prediction: it would compile the foreign learner in every run of the tests."""
    network = mtcool.mt_co2ol(WHEEL, 2, learner=learner)
    network.peers.state.total[:] = np.arange(10.0).reshape(5, 2)
    return network


@pytest.mark.parametrize("learner", [Mean(gain=0.5), Plain()])
def test_a_learner_from_outside_must_be_given_to_load(learner, tmp_path):
    network, path = used_by_hand(learner), tmp_path / "network.npz"
    network.save(path)
    name = type(learner).__name__
    with pytest.raises(ValueError, match=f"learner must be given to load a network of {name}"):
        mtcool.load(path)
    loaded = mtcool.load(path, learner=learner)
    assert everything(loaded) == everything(network)
    assert loaded.settings.learner is learner


def test_a_learner_from_outside_is_not_taken_for_ours_of_the_same_name(tmp_path):
    namesake = type("FTRL", (Plain,), {})()
    network, path = used_by_hand(namesake), tmp_path / "network.npz"
    network.save(path)
    with pytest.raises(ValueError, match="learner must be given to load a network of FTRL"):
        mtcool.load(path)
    assert mtcool.load(path, learner=namesake).settings.learner is namesake


@pytest.mark.parametrize(
    ("saved", "given"),
    [
        (KT(), FTRL()),  # the state of FTRL is a part of that of KT
        (FTRL(), KT()),
        (MTFTRL(), MTFTRL(free_last=True)),
        (MTFTRL(), MTFTRL(experts="geometric")),
        (Mean(gain=0.5), Mean(gain=0.6)),
        (Mean(), FTRL()),
    ],
    ids=repr,
)
def test_a_learner_other_than_the_saved_one_is_refused(saved, given, tmp_path):
    path = tmp_path / "network.npz"
    mtcool.mt_co2ol(WHEEL, 2, learner=saved).save(path)
    with pytest.raises(ValueError, match=re.escape(f"got {given!r}")):
        mtcool.load(path, learner=given)


@pytest.mark.parametrize("learner", [MTFTRL(experts=(0.5, 1.0)), KT(), Mean(gain=2.0)], ids=repr)
def test_the_saved_learner_may_always_be_given(learner, tmp_path):
    path = tmp_path / "network.npz"
    mtcool.mt_co2ol(WHEEL, 2, learner=learner).save(path)
    assert mtcool.load(path, learner=learner).settings.learner == learner


def test_a_learner_with_parameters_that_a_file_cannot_hold_is_refused(tmp_path):
    network = mtcool.i_ftrl(WHEEL, 2, learner=TwoPhase(FTRL(), np.ones(5), 3))
    with pytest.raises(ValueError, match="learner and settings must be plain values to be saved"):
        network.save(tmp_path / "network.npz")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("learner", [MTFTRL(), MTFTRLKT()], ids=repr)
def test_a_file_holds_no_scratch_and_nothing_twice(learner, tmp_path):
    network = mtcool.mt_co2ol(WHEEL, 2, learner=learner)
    network.save(tmp_path / "net.npz")
    with np.load(tmp_path / "net.npz") as archive:
        names = set(archive.files)
    assert not any(".work" in name for name in names)
    assert {"state.cliques", "state.n", "state.rate"} - names == {"state.n", "state.rate"}


def test_bets_too_small_for_all_their_digits_are_loaded(tmp_path):
    """Denormal numbers have few digits: a bet then differs from what its coin says by a part."""
    net = mtcool.mt_co2ol(nx.path_graph(3), 2, learner=MTFTRLKT())
    rng = np.random.default_rng(0)
    for _ in range(20):  # the twelfth bet is the smallest number that there is
        net.update(int(rng.integers(3)), rng.uniform(-1.0, 1.0, 2) * 1e-161)
        net.save(tmp_path / "net.npz")
        np.testing.assert_array_equal(mtcool.load(tmp_path / "net.npz").predict(1), net.predict(1))
