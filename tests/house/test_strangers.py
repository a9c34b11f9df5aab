"""Files from strangers: any bytes are refused with one ValueError, or are the network they were."""

import os
import resource
import zipfile

import networkx as nx
import numpy as np
import pytest
from tests.fuzz_load import MUTATIONS, fuzz
from tests.private import private_network
from tests.saved_files import forge, taken_apart

import mtcool
from mtcool.learners import FTRL, KT, MTFTRLKT
from mtcool.network import storage
from mtcool.privacy import BinaryTree, Doubling, SmoothTree

PATH = nx.path_graph(3)


def refused(path, match):
    """The one failure that there is: not a KeyError, not a crash."""
    with pytest.raises(ValueError, match=match) as caught:
        mtcool.load(path)
    assert caught.type is ValueError


@pytest.fixture
def plain(tmp_path):
    net = mtcool.mt_co2ol(PATH, 2, learner=MTFTRLKT())
    net.update(0, [1.0, 0.0])
    net.save(tmp_path / "net.npz")
    return tmp_path / "net.npz"


def saved_private(tmp_path, **settings):
    net = private_network(PATH, 1, **{"epsilon": 1.0, "horizon": 9, "seed": 1, **settings})
    for agent in (0, 1, 1, 1):
        net.update(agent, [1.0])
    net.save(tmp_path / "net.npz")
    return tmp_path / "net.npz"


@pytest.fixture
def private(tmp_path):
    return saved_private(tmp_path)


@pytest.mark.parametrize("name", ["seed", "test", "MT19937", "default_rng", "__class__", "", None])
def test_a_file_cannot_call_functions_of_numpy(name, private):
    """`numpy.random.seed` would reseed the process, `numpy.random.test` run another program."""
    header, arrays = taken_apart(private)
    header["noise"]["name"] = name
    before = np.random.get_state()  # noqa: NPY002 -- the generator that must not be reseeded
    forge(private, header, arrays)
    refused(private, "path must be a saved network")
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("state", "0" * 31),
        ("state", "g" * 32),
        ("state", "0" * 32 + "\n"),
        ("increment", "0" * 32),  # even
        ("has_uint32", 2),
        ("uinteger", -1),
        ("uinteger", 2**32),
        ("more", 1),
    ],
)
def test_the_state_of_a_generator_is_checked(key, value, private):
    header, arrays = taken_apart(private)
    header["noise"][key] = value
    forge(private, header, arrays)
    refused(private, "path must")


def test_functions_of_ours_that_are_no_learners_are_not_called_either(plain):
    header, arrays = taken_apart(plain)
    header["learner"] = {
        "name": "first_phase",
        "ours": True,
        "parameters": {"agents": 3, "q_min": 0.1, "horizon": 5},
    }
    forge(plain, header, arrays)
    refused(plain, "learner must be given to load a network of first_phase")


AGGREGATORS = [BinaryTree(), BinaryTree(completed=False), SmoothTree(), Doubling()]


@pytest.mark.parametrize("aggregator", AGGREGATORS, ids=repr)
@pytest.mark.parametrize("word", [-1, 0, 1, 2, 4, 2**61, 2**62, 2**63 - 1, -(2**63)])
def test_a_word_that_does_not_count_the_activations_is_refused(aggregator, word, tmp_path):
    """The tree looks for nodes where the word says they are: -1 would write beyond the array."""
    path = saved_private(tmp_path, aggregator=aggregator)
    header, arrays = taken_apart(path)
    right = int(arrays["state.aggregator.word"][1])
    arrays["state.aggregator.word"][1] = word
    forge(path, header, arrays)
    if word == right:
        assert mtcool.load(path).released == 4
    else:
        refused(path, r"(word|ones of a word|number of a word) must be")


@pytest.mark.parametrize("aggregator", AGGREGATORS, ids=repr)
def test_words_are_right_after_any_number_of_activations(aggregator, tmp_path):
    net = mtcool.dpmt_co2ol(PATH, 1, mtcool.Privacy(1.0, 40, aggregator=aggregator), seed=1)
    for _ in range(40):
        net.save(tmp_path / "net.npz")
        np.testing.assert_array_equal(mtcool.load(tmp_path / "net.npz").predict(0), net.predict(0))
        net.update(0, [1.0])


@pytest.mark.parametrize("count", [-1, -5, 10, 2**40, -(2**63)])
def test_activations_out_of_range_are_refused(count, private):
    """Negative ones allowed updates beyond the horizon."""
    header, arrays = taken_apart(private)
    arrays["state.aggregator.activations"][0] = count
    if count > 0:
        arrays["state.aggregator.word"][0] = count
    forge(private, header, arrays)
    refused(private, "activations must be")


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("state.aggregator.node", 3.5),  # three leaves of at most one
        ("state.aggregator.node", np.nan),
        ("state.aggregator.prefix", np.inf),
        ("state.aggregator.padding", 1e200),
        ("state.aggregator.published", -np.inf),
        ("weights", -0.5),
        ("weights", 1.5),
        ("weights", np.nan),
        ("weights", 1e308),
        ("weights", 1e-200),
        ("ptr", -1),
        ("ptr", 2**62),
        ("idx", -1),
        ("idx", 3),
    ],
)
def test_numbers_out_of_range_are_refused(array, value, private):
    header, arrays = taken_apart(private)
    arrays[array][-1] = value
    forge(private, header, arrays)
    refused(private, "path must hold a network")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["total", "gradients"])
def test_a_learner_that_is_not_finite_is_refused(field, value, plain):
    header, arrays = taken_apart(plain)
    arrays[f"state.{field}"][0, 0] = value
    forge(plain, header, arrays)
    refused(plain, f"{field} must be")


SETTINGS = [
    ("algorithm", "dpmt_co2ol"),
    ("algorithm", "i_ftrl"),
    ("algorithm", "system"),
    ("dim", 0),
    ("dim", 2.0),
    ("dim", 3),
    ("dim", 2**60),
    ("lipschitz", 0.0),
    ("radius", float("nan")),
    ("on_excess", "ignore"),
    ("rates", "stochastic"),
    ("rates", "estimated"),
    ("q", [1.0, 0.0]),
    ("q", [2.0, 0.0, -1.0]),
    ("horizon", 5),
    ("privacy", {}),
]


@pytest.mark.parametrize(("key", "value"), SETTINGS)
def test_settings_that_no_network_has_are_refused(key, value, plain):
    header, arrays = taken_apart(plain)
    header["setup"][key] = value
    forge(plain, header, arrays)
    refused(plain, "path must")


PRIVATE_SETTINGS = [
    ("epsilon", [1.0, 1.0]),
    ("epsilon", [1.0, 1.0, -1.0]),
    ("epsilon", [2.0, 2.0, 2.0]),  # of other noise
    ("epsilon", None),
    ("delta", [0.5, 0.5, 2.0]),
    ("rho", [1.0, 1.0, 1.0]),
    ("horizon", [9, 9, -1]),
    ("horizon", [9, 9, 2**50]),
    ("horizon", [9, 2, 9]),  # one is spent beyond it
    ("aggregator", {"name": "BLT", "ours": True, "parameters": {}}),
    ("aggregator", {"name": "Aggregator", "ours": True, "parameters": {}}),
    ("aggregator", {"name": "BinaryTree", "ours": True, "parameters": {"completed": 1}}),
    ("aggregator", {"name": "BinaryTree", "ours": True, "parameters": {"strange": 1}}),
    ("calibration", "loose"),
    ("adjacency", "zero-out"),
    ("split", 7.0),
    ("noise", "exact"),
]


@pytest.mark.parametrize(("key", "value"), PRIVATE_SETTINGS)
def test_private_settings_that_no_network_has_are_refused(key, value, private):
    header, arrays = taken_apart(private)
    header["setup"]["privacy"][key] = value
    forge(private, header, arrays)
    refused(private, "path must")


@pytest.mark.parametrize("place", [(), ("setup",), ("learner",), ("setup", "privacy"), ("scales",)])
def test_every_key_must_be_there_and_no_other(place, private):
    header, arrays = taken_apart(private)

    def inside(whole):
        for key in place:
            whole = whole[key]
        return whole

    for key in inside(header):
        changed, _ = taken_apart(private)
        del inside(changed)[key]
        forge(private.with_name("less"), changed, arrays)
        refused(private.with_name("less"), "path must be a saved network")
    inside(header)["strange"] = 1
    forge(private.with_name("more"), header, arrays)
    refused(private.with_name("more"), "path must be a saved network")


@pytest.mark.parametrize("labels", [[0, 0, 1], ["a", "b"], [[], {}, 1], [b"a", 1, 2], "abc", 3])
def test_labels_that_could_not_be_saved_are_refused(labels, plain):
    header, arrays = taken_apart(plain)
    header["labels"] = labels
    forge(plain, header, arrays)
    refused(plain, "path must")


def test_nested_labels_without_end_are_refused(plain):
    header, arrays = taken_apart(plain)
    deep = "a"
    for _ in range(400):
        deep = [deep]
    header["labels"] = [deep, 1, 2]
    forge(plain, header, arrays)
    assert mtcool.load(plain).graph.size == 3  # deep, and a name like any other
    content, arrays, _ = storage.read(plain)
    start = content.index(b"\x91" * 400)
    content = content[:start] + b"\x91" * 10**6 + content[start:]
    whole = {"header": np.frombuffer(content, np.uint8), **arrays}
    whole["checksum"] = np.frombuffer(storage.checksum(whole), np.uint8)
    with open(plain, "wb") as file:
        np.savez(file, **whole)
    refused(plain, "path must be a saved network")


def test_a_changed_byte_is_noticed_by_the_checksum(plain):
    """Also where NumPy's own archives would not notice: their sums are the forger's to mend."""
    whole = dict(np.load(plain))
    whole["state.total"][0, 0] += 1e-9
    with open(plain, "wb") as file:
        np.savez(file, **whole)
    refused(plain, "path must hold what was saved, got .* with another checksum")


def test_compressed_files_are_refused_before_they_are_unpacked(plain, tmp_path):
    """A million million zeros are a small file, compressed."""
    with zipfile.ZipFile(plain) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "bomb", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    refused(tmp_path / "bomb", "path must be a saved network")


def described(text):
    """The bytes of an .npy file with this description, and nothing behind it."""
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "description",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9999999999999999999)}",
        "{'descr': '<f8', 'fortran_order': True, 'shape': (0,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '|V999999999999', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False}",
        "__import__('os')",
        "(" * 90,
        "'\\d'",
    ],
)
def test_arrays_are_not_larger_than_their_bytes(description, plain, tmp_path):
    with zipfile.ZipFile(plain) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["state.total.npy"] = described(description)
    with zipfile.ZipFile(tmp_path / "large", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    refused(tmp_path / "large", "path must")


@pytest.mark.parametrize("learner", [FTRL(), KT(), MTFTRLKT(), None], ids=repr)
@pytest.mark.parametrize("make", [mtcool.mt_co2ol, mtcool.pairwise])
def test_settings_that_ask_for_more_memory_than_the_file_has_get_none(make, learner, tmp_path):
    path = tmp_path / "net.npz"
    make(nx.star_graph(300), 2, learner=learner).save(path)
    header, arrays = taken_apart(path)
    header["setup"]["dim"] = 10**8
    forge(tmp_path / "wide", header, arrays)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(tmp_path / "wide", "state must hold .* vectors of dim 100000000")
    if learner is None:
        header["setup"]["dim"] = 2
        header["learner"]["parameters"]["experts"] = np.linspace(0.0, 1.0, 100_000).tolist()
        forge(tmp_path / "expert", header, arrays)
        refused(tmp_path / "expert", "state must hold .* experts")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # of 1 kB


def test_a_file_larger_than_memory_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.npz"
    with path.open("wb") as file:
        file.truncate(2**43)  # sparse: it takes no space on the disk
    refused(path, r"path must fit into memory, got '.*huge.npz', which needs about 8.8 TB")


@pytest.mark.parametrize("path", [None, 0, b"net.npz", ["net.npz"]])
def test_what_is_no_path_is_refused(path):
    refused(path, "path must be the path of a file, got ")


def test_a_file_that_cannot_be_opened_is_an_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        mtcool.load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        mtcool.load(tmp_path)
    if os.getuid():
        (tmp_path / "closed").touch(0o000)
        with pytest.raises(PermissionError):
            mtcool.load(tmp_path / "closed")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_mutated_files_are_refused_or_play_on(mutation):
    """A tenth of a second each way; `make fuzz` is the same with ten thousand files."""
    outcomes, failures = fuzz(150, seed=1, mutations=(mutation,))
    assert [failure[:4] for failure in failures] == []
    assert sum(count for (_, outcome), count in outcomes.items() if outcome == "refused") >= 75
