"""Mutations of saved networks: `load` refuses them, or what it loads is a network like any other.

`make fuzz` tries ten thousand; `test_strangers.py` a few hundred. Some mutations carry a right
checksum, as a forger's would: then the network may be another one, but it must play on, keep to
its horizon, predict finite numbers and survive being saved. Uncompiled, where Python notices an
index that does not exist.
"""

import copy
import struct
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import msgspec
import networkx as nx
import numpy as np

import mtcool
from mtcool.axes import state_arrays
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT
from mtcool.network import storage
from mtcool.network.saved_field.arrays import field_arrays
from mtcool.peers.field.exchange import FieldExchange
from mtcool.privacy import BLT, BinaryTree, Doubling, NoNoise, PerGradient, SmoothTree
from tests.saved_files import forge, taken_apart

GRAPH = nx.path_graph(["a", "b", ("c", 1)])
Q = [0.2, 0.3, 0.5]


def private(aggregator, **levels):
    levels = mtcool.Privacy(horizon=[3, 40, 7], aggregator=aggregator, **levels)
    return lambda: mtcool.dpmt_co2ol(GRAPH, 2, levels, seed=1)


def field(learner, rates, messages=None, delays=None):
    """A network whose graph has changed; some of what was said and seen before is under way."""

    def make():
        stream = mtcool.streams.quadratic_stream(GRAPH, [[0.5, 0.1]] * 3, rounds=12, seed=1)
        net = mtcool.mt_co2ol(
            GRAPH,
            2,
            learner=learner,
            rates=rates,
            lipschitz=stream.lipschitz(radius=1.0),
            on_excess="clip",
            messages=messages,
            delays=delays or mtcool.Delays(),
            seed=1,
        )
        mtcool.simulate(net, stream)
        net.join("new", ["a", "b"])
        net.leave(("c", 1))
        net.disconnect("a", "b")
        net.join((4, 0.5), ["new", "b"])
        return net

    return make


ORIGINALS = {
    "mt FTRL": lambda: mtcool.mt_co2ol(GRAPH, 2, learner=FTRL()),
    "mt KT": lambda: mtcool.mt_co2ol(GRAPH, 2, learner=KT(), rates="stochastic", q=Q),
    "mt MTFTRLKT": lambda: mtcool.mt_co2ol(GRAPH, 2, learner=MTFTRLKT()),
    "mt Hedge": lambda: mtcool.mt_co2ol(GRAPH, 2, learner=MTFTRL(experts=[0.1, 0.5, 1.0])),
    "pairwise": lambda: mtcool.pairwise(GRAPH, 2, learner=MTFTRLKT()),
    "i FTRL": lambda: mtcool.i_ftrl(GRAPH, 2),
    "st KT": lambda: mtcool.st_ftrl(GRAPH, 2, learner=KT()),
    "estimated": lambda: mtcool.mt_co2ol(
        GRAPH, 2, learner=MTFTRLKT(), rates="estimated", q_min=1 / 3, horizon=1
    ),
    "binary tree": private(BinaryTree(), epsilon=1.0),
    "smooth tree": private(SmoothTree(), epsilon=[1.0, 2.0, 3.0]),
    "doubling": private(Doubling(), epsilon=1.0),
    "per gradient": private(PerGradient(), rho=0.5),
    "BLT": private(BLT(), epsilon=1.0, delta=1e-5),
    "no noise": private(NoNoise(), epsilon=1.0),
    "field KT": field(KT(), "adversarial"),
    "field late": field(
        FTRL(),
        "adaptive",
        mtcool.Messages(partners=1, choose="best", budget=200),
        mtcool.Delays(gradients=3, rows=mtcool.Delay(edges={("a", "b"): 2}), labels=9, lost=0.1),
    ),
    "field bits": field(
        MTFTRL(experts=[0.1, 0.5, 1.0]), "adaptive", mtcool.Messages(bits=3), mtcool.Delays(rows=4)
    ),
    "field gradients late": field(
        MTFTRLKT(), "adaptive", mtcool.Messages(), mtcool.Delays(gradients=4)
    ),
}

STRANGE = (
    None, True, 0, -1, 1, 2, 3, 2**31, 2**40, 2**63 - 1, -(2**63), 2**64 - 1, 0.0, -0.0, -1.5, 0.5,
    1e-310, 1e155, 1e308, float("nan"), float("inf"), "", "seed", "test", "PCG64", "MTFTRL",
    "exact", [], [[]], {}, {"a": 1}, [0.5, 0.5], b"bytes", "0" * 32,
)  # fmt: skip


class Original:
    """A saved network, and what it does next."""

    def __init__(self, name, folder):
        self.name, self.path = name, folder / "original.npz"
        self.network = ORIGINALS[name]()
        play(self.network, 2)
        self.network.save(self.path)
        self.content = self.path.read_bytes()
        self.header, self.arrays = taken_apart(self.path)
        self.state = everything(self.network)


def everything(network):
    """All that decides what a network does next."""
    arrays = dict(state_arrays(network.peers.state))
    if isinstance(network.exchange, FieldExchange):
        arrays = field_arrays(network.exchange, network.settings)
    state = {name: array.tobytes() for name, array in arrays.items()}
    noise = None if network.sanitiser is None else network.sanitiser.noise.state()
    return network.settings, network.names.labels, network.weights.tobytes(), noise, state


def play(network, rounds):
    """Every agent in turn, as often as its horizon allows."""
    bound = network.settings.lipschitz / np.sqrt(network.settings.dim)
    for _ in range(rounds):
        for agent in network.graph.labels:
            x = network.predict(agent)
            g = np.where(x > 0.0, bound, -0.5 * bound)
            private = network.sanitiser is not None
            if private and network.ledger()[agent].remaining == 0:
                continue
            single = network.settings.algorithm.name == "st_ftrl"
            network.update(agent, (lambda x, g=g: g) if single else g)


def mutate_bytes(original, rng, path):
    content = bytearray(original.content)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(content) + 1))
        size = int(rng.choice([1, 1, 2, 8, 200]))
        kind = rng.integers(5)
        if kind == 0:
            content = content[:at]
        elif kind == 1:
            content[at:at] = rng.bytes(size)
        elif kind == 2:
            del content[at : at + size]
        elif kind == 3 and at < len(content):
            content[at] ^= 1 << int(rng.integers(8))
        else:
            content[at : at + size] = rng.bytes(size)
    path.write_bytes(bytes(content))


def mutate_header_bytes(original, rng, path):
    content = bytearray(msgspec.msgpack.encode(original.header))
    for _ in range(rng.integers(1, 3)):
        content[int(rng.integers(len(content)))] = int(rng.integers(256))
    whole = {"header": np.frombuffer(bytes(content), np.uint8), **original.arrays}
    whole["checksum"] = np.frombuffer(storage.checksum(whole), np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **whole)


def mutate_header(original, rng, path):
    header = copy.deepcopy(original.header)
    places = list(_places(header))
    for _ in range(rng.integers(1, 3)):
        inside, key = places[int(rng.integers(len(places)))]
        if (key not in inside) if isinstance(inside, dict) else (key >= len(inside)):
            continue  # gone with an earlier change
        kind = rng.integers(6)
        if kind == 0:
            del inside[key]
        elif kind == 1 and isinstance(inside, dict):
            inside[str(_strange(rng))] = _strange(rng)
        elif kind == 1:
            inside.insert(key, _strange(rng))
        elif kind == 2:
            other, there = places[int(rng.integers(len(places)))]
            if there in other if isinstance(other, dict) else there < len(other):
                inside[key] = copy.deepcopy(other[there])
        else:
            inside[key] = _strange(rng)
    forge(path, header, original.arrays)


def _places(value):
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _strange(rng):
    return STRANGE[int(rng.integers(len(STRANGE)))]


def mutate_arrays(original, rng, path):
    arrays = {name: array.copy() for name, array in original.arrays.items()}
    names = list(arrays)
    for _ in range(rng.integers(1, 3)):
        name = names[int(rng.integers(len(names)))]
        if name not in arrays:
            continue
        array = arrays[name]
        kind = rng.integers(12)
        if kind == 0:
            del arrays[name]
        elif kind == 1:
            arrays[name + ".more"] = array
        elif kind == 2:
            arrays[name] = array[:-1]
        elif kind == 3:
            arrays[name] = np.concatenate((array, array))
        elif kind == 4:
            arrays[name] = array.reshape(-1, 1)
        elif kind == 5 and array.dtype.names is None:
            with np.errstate(all="ignore"):
                arrays[name] = array.astype(rng.choice([np.float32, np.int64, np.float64]))
        elif kind == 6:
            arrays[name] = array[::-1].copy()
        elif array.size:
            flat = array.reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize)
            chosen = flat[int(rng.integers(len(flat)))]
            words = chosen.view(f"<u{min(8, len(chosen))}")
            words[int(rng.integers(len(words)))] = _word(rng, words, array.dtype.kind == "f")
    forge(path, original.header, arrays)


def _word(rng, words, floats):
    """Bits that hurt: counts out of range, numbers that are none, one bit turned."""
    top = 8 * words.dtype.itemsize
    if rng.integers(3) == 0:
        return int(words[0]) ^ (1 << int(rng.integers(top)))
    if floats or rng.integers(3) == 0:
        number = float(rng.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 2.0, 1e308, -1e200, 1e-310]))
        return struct.unpack("<Q", struct.pack("<d", number))[0] % 2**top
    return int(rng.choice([-1, 0, 1, 2, 3, 41, 2**30, 2**62, -(2**63)])) % 2**top


MUTATIONS = {
    mutate_bytes: False,
    mutate_header_bytes: True,
    mutate_header: True,
    mutate_arrays: True,
}


def judge(original, path, forged):
    """A word for what came of a mutated file."""
    try:
        network = mtcool.load(path)
    except ValueError:
        return "refused"
    if everything(network) == original.state:
        return "same"
    if not forged:
        return "CHANGED without notice"
    if network.graph.size > 100 or network.settings.dim > 100:
        return "LARGE"
    play(network, 3)
    found = np.array([network.predict(agent) for agent in network.graph.labels])
    if not np.isfinite(found).all():
        return "not finite"
    network.save(path)
    return "other" if everything(mtcool.load(path)) == everything(network) else "NOT THE SAME AGAIN"


def fuzz(number, seed, originals=tuple(ORIGINALS), mutations=tuple(MUTATIONS)):
    """Counts of outcomes by mutation, and the failures: all that `load` must never do."""
    rng = np.random.default_rng(seed)
    outcomes, failures = Counter(), []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")  # from reading a file not even a warning
        warnings.filterwarnings("ignore", module="mtcool.learners")  # NumPy's, uncompiled
        warnings.filterwarnings("ignore", module="mtcool.peers.protocol")
        files = [Original(name, Path(folder)) for name in originals]
        path = Path(folder) / "mutated.npz"
        for k in range(number):
            original, mutation = files[k % len(files)], mutations[k // len(files) % len(mutations)]
            mutation(original, rng, path)
            content = path.read_bytes()
            try:
                outcome = judge(original, path, MUTATIONS[mutation])
            except Exception as error:
                outcome = f"{type(error).__name__.upper()}: {error}"
            outcomes[mutation.__name__, outcome.split(":")[0]] += 1
            if outcome not in ("refused", "same", "other"):
                failures.append((k, original.name, mutation.__name__, outcome, content))
    return outcomes, failures


def main():
    number, seed = (int(word) for word in (*sys.argv[1:], "10000", "0")[:2])
    outcomes, failures = fuzz(number, seed)
    for (mutation, outcome), count in sorted(outcomes.items()):
        print(f"{mutation:20} {outcome:30} {count:7,}")
    for k, name, mutation, outcome, content in failures[:50]:
        print(k, name, mutation, outcome)
        Path(tempfile.gettempdir(), f"mtcool-fuzz-{k}.npz").write_bytes(content)
    print(f"{number:,} mutations, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
