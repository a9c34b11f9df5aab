"""Forged databases of live hosts: they are refused, or a host and a replay go on with them.

`make fuzz-databases` tries ten thousand, and some more compiled, in processes of their own that a
wrong index ends by a signal; `tests/live/test_forged.py` tries two hundred of each kind. Values are
changed, and the digests made right again: what is not refused must not reach an index that does not
exist, predict what is no number, hang, or refuse what it has written itself. Uncompiled, Python
notices the index.
"""

import collections
import concurrent.futures
import contextlib
import copy
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import msgspec
import numpy as np

import mtcool
from mtcool.live.agents import GradientDriver
from mtcool.live.config import described, drivers_of
from mtcool.live.config.stored import kept_description
from mtcool.live.host import HostLimits
from mtcool.live.journal import entry_bytes, entry_in
from mtcool.live.journals import read_journal, replay_files
from mtcool.live.replay import replay
from mtcool.live.residents import HEAD
from mtcool.live.resuming import resume
from mtcool.live.snapshots import kept_in, snapshot_of
from mtcool.live.store import Store
from mtcool.live.transactions import Replied
from mtcool.streams.kinds import kind_of
from tests.fuzz_load import STRANGE, _places, _word
from tests.live.forging import forging

AGENTS, ROUNDS = 4, 3
SECONDS = 60
"""For one database, uncompiled on a busy machine: it takes a hundredth of that."""
BETWEEN = 3.0
"""Seconds between two lines that say how far it is."""


def gradients(**table):
    return {"algorithm": {"dim": 2, "loss": "squared", "lipschitz": 4.0} | table}


def private(aggregator, law="laplace", **table):
    level = {"epsilon": 1.0, "horizon": 40, "noise": "simulated"}
    own = {"algorithm": "dpmt_co2ol", "aggregator": aggregator, "law": law}
    return gradients(**own, **table) | {"privacy": level}


CASES = {
    "i-FTRL": gradients(algorithm="i_ftrl"),
    "ST-FTRL": gradients(algorithm="st_ftrl"),
    "ST-FTRL adaptive": gradients(algorithm="st_ftrl", lipschitz="adaptive"),
    "pairwise KT": gradients(algorithm="pairwise", learner="MTFTRLKT"),
    "Hedge": gradients(weights="delegation"),
    "Hedge on the line": gradients(weights="delegation", dim=1),
    "FTRL": gradients(weights="delegation", learner="FTRL"),
    "KT": gradients(weights="delegation", learner="KT"),
    "adaptive": gradients(lipschitz="adaptive"),
    "adaptive KT": gradients(lipschitz="adaptive", learner="MTFTRLKT"),
    "field Hedge": gradients(),
    "field Hedge adaptive": gradients(rates="adaptive", experts="geometric"),
    "field FTRL": gradients(learner="FTRL"),
    "field KT adaptive": gradients(learner="MTFTRLKT", rates="adaptive"),
    "field KT": gradients(learner="KT", dim=1),
    "binary tree": private("binary_tree"),
    "smooth tree": private("smooth_tree", experts="geometric"),
    "BLT": private("blt", law="gaussian", dim=1),
    "doubling": private("doubling"),
    "per gradient": private("per_gradient", law="gaussian"),
    "tables": {"learn": {"features": ["a", "b"]}},
    "tables rows": {"learn": {"features": ["a", "b"], "share": "rows"}},
    "tables classes": {"learn": {"features": ["a"], "task": "classification"}},
    "two phases": None,
}
"""Networks of all algorithms; None for those that no description has."""
COMPILED = ("Hedge", "field KT adaptive", "binary tree", "adaptive KT", "tables")
"""Those that are played compiled, too: one in so many of all that are tried."""
SHARE = 10


def network(name):
    """A description, how to make agents, and what a row of theirs is."""
    table = CASES[name] or gradients()
    ring = {"kind": "ring", "agents": AGENTS}
    table = table | {"name": "forged", "graph": ring, "shards": {"count": 2}, "journal": True}
    found = described(table)
    if CASES[name] is not None:
        return found, drivers_of(found)
    graph, squared = mtcool.graphs.ring(AGENTS), kind_of("squared")
    settings = {"rates": "estimated", "q_min": 0.25, "horizon": 1}
    block = mtcool.mt_co2ol(graph, 2, learner=mtcool.learners.MTFTRLKT(), **settings)
    return found, lambda agent: GradientDriver(block.agent(agent), squared)


class Original:
    """Two hosts that have played, their databases, and what the one hears from the other next."""

    def __init__(self, name, folder):
        self.name, self.network = name, network(name)[0]
        self.make = network(name)[1]
        self.folder = folder / name.replace(" ", "-")
        self.folder.mkdir()
        self.stores = {host: self.store(self.folder, host) for host in self.network.places}
        self.hosts = {host: self.begin(host, None) for host in self.network.places}
        for host in self.hosts:
            self.commit(host)
        self.greet()
        for _ in range(ROUNDS):
            for agent in self.network.home:
                self.play(agent)
        for agent in self.network.home:  # of these some messages wait
            self.play(agent, deliver=False)
        for store in self.stores.values():
            store._base.execute("pragma wal_checkpoint(truncate)")
        self.content = (self.folder / "host0.db").read_bytes()
        heard = [self.hosts["host1"].batch("host0")]
        asked = self.hosts["host1"].begin(AGENTS - 1, self.row(0))
        self.heard = [one for one in (*heard, asked.questions.get("host0")) if one is not None]

    def store(self, folder, host="host0"):
        store = Store(folder / f"{host}.db", host, self.network.number)
        store.describe(kept_description(self.network))
        return store

    def begin(self, host, kept):
        share, change = self.network.share(host), self.network.change(host)
        found = resume(share, change, self.make, kept, limits=HostLimits(), journal=True)
        for link in found.links.values():
            link.greeted = True  # private agents wait for it
        return found

    def greet(self):
        for host in self.hosts:
            self.deliver(host)

    def row(self, k):
        numbers = [0.3, -0.5] if k % 2 else [-0.2, 0.9]
        learn = self.network.file.learn
        dim = self.network.file.algorithm.dim if learn is None else len(learn.features)
        return np.array(numbers[:dim])

    def feedback(self, k):
        return float(k % 2)

    def commit(self, host):
        changes = self.hosts[host].changes()
        self.stores[host].write(changes)
        return self.hosts[host].committed(changes)

    def ask(self, sender, to, content):
        self.hosts[to].receive(sender, content, "asked")
        effects = self.hosts[to].ready() or self.commit(to)
        return next(one.content for one in effects if isinstance(one, Replied))

    def play(self, agent, deliver=True):
        name = self.network.home[agent]
        host = self.hosts[name]
        asked = host.begin(agent, self.row(agent))
        replies = {to: self.ask(name, to, one) for to, one in asked.questions.items()}
        host.predict(asked.number, replies)
        host.learn(asked.number, self.feedback(agent + host.rounds), None)
        self.commit(name)
        if deliver:
            self.deliver(name)

    def deliver(self, name):
        for other in self.hosts[name].links:
            while (batch := self.hosts[name].batch(other)) is not None:
                self.hosts[name].delivered(other, self.ask(name, other, batch))


# --- mutations ------------------------------------------------------------------------------------


def change_value(value, rng):
    """Change one or two values somewhere within nested lists and tables; bytes by words."""
    places = list(_places(value))
    for _ in range(rng.integers(1, 3)):
        inside, key = places[int(rng.integers(len(places)))]
        if (key not in inside) if isinstance(inside, dict) else (key >= len(inside)):
            continue  # gone with an earlier change
        there, kind = inside[key], rng.integers(10)
        if isinstance(there, bytes) and there and kind < 8:
            inside[key] = change_bytes(there, rng)
        elif kind == 0:
            del inside[key]
        elif kind == 1 and isinstance(inside, list):
            inside.insert(key, copy.deepcopy(there))
        elif kind == 2:
            other, place = places[int(rng.integers(len(places)))]
            if place in other if isinstance(other, dict) else place < len(other):
                inside[key] = copy.deepcopy(other[place])
        elif isinstance(there, float):
            inside[key] = float(rng.choice([np.nan, np.inf, -1.0, 0.0, 2.0, 1e308, -1e200, 1e-310]))
        else:
            inside[key] = STRANGE[int(rng.integers(len(STRANGE)))]


def change_bytes(content, rng):
    """Another word, most of all; sometimes another length."""
    content = bytearray(content)
    if rng.integers(10) == 0:
        at = int(rng.integers(len(content)))
        return bytes(content[:at] if rng.integers(2) else content + content[at:])
    if len(content) >= 8 and rng.integers(8):
        words = np.frombuffer(bytes(content[: len(content) // 8 * 8]), "<u8").copy()
        words[int(rng.integers(len(words)))] = _word(rng, words, bool(rng.integers(2)))
        return words.tobytes() + bytes(content[len(words) * 8 :])
    content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    return bytes(content)


def change_packed(content, rng):
    """Change a value in something that is packed."""
    try:
        value = [msgspec.msgpack.decode(content)]
    except msgspec.DecodeError:  # it was changed before
        return content[:-1]
    change_value(value, rng)
    try:
        return msgspec.msgpack.encode(value[0]) if value else b""
    except (TypeError, OverflowError):
        return content[:-1]


def change_state(state, rng):
    """Change what is kept of an agent: most often in its arrays."""
    value = msgspec.msgpack.decode(state[HEAD:])
    arrays = [place for place in _places(value) if isinstance(place[0][place[1]], bytes)]
    if arrays and rng.integers(3):
        inside, key = arrays[int(rng.integers(len(arrays)))]
        if inside[key]:
            inside[key] = change_bytes(inside[key], rng)
        return state[:HEAD] + msgspec.msgpack.encode(value)
    return state[:HEAD] + change_packed(state[HEAD:], rng)


def states(base, rng):
    """An agent's state."""
    found = base.execute("select name, state from agent order by name").fetchall()
    name, state = found[int(rng.integers(len(found)))]
    base.execute("update agent set state = ? where name = ?", (change_state(state, rng), name))


def beginnings(base, rng):
    """An agent's state at the beginning of the journal."""
    content = base.execute("select entry from journal where number = 1").fetchone()[0]
    started = entry_in(content)
    if rng.integers(2):  # as if it was pruned before anything happened
        started = snapshot_of(kept_in(started), started.host, started.network)
        k = int(rng.integers(len(started.agents)))
        name, state = started.agents[k]
        started.agents[k] = name, change_state(state, rng)
        changed = entry_bytes(started)
        if rng.integers(2):
            changed = change_packed(changed, rng)
        base.execute("update journal set entry = ? where number = 1", (changed,))
        return
    k = int(rng.integers(len(started.agents)))
    name, state = started.agents[k]
    started.agents[k] = name, change_state(bytes(HEAD) + state, rng)[HEAD:]
    base.execute("update journal set entry = ? where number = 1", (entry_bytes(started),))


def entries(base, rng):
    """Entries of the journal."""
    for _ in range(rng.integers(1, 3)):
        found = base.execute("select number, entry from journal order by number").fetchall()
        number, content = found[int(rng.integers(len(found)))]
        kind = rng.integers(12)
        if kind == 0:
            base.execute("delete from journal where number = ?", (number,))
        elif kind == 1:
            base.execute("insert into journal (entry) values (?)", (content,))
        elif kind == 2:
            content = change_bytes(content, rng)
        else:
            content = change_packed(content, rng)
        base.execute("update journal set entry = ? where number = ?", (content, number))


def rows(base, rng):
    """What a database says of its host, of links, and of who lives there."""
    table, column = [
        ("host", "version"), ("host", "rounds"), ("link", "sent"), ("link", "taken"),
        ("link", "dropped"), ("link", "heard"), ("link", "after"), ("link", "history"),
        ("outbox", "number"), ("outbox", "receiver"), ("outbox", "content"), ("lives", "content"),
        ("lives", "content"), ("agent", "state"), ("agent", "name"),
    ][int(rng.integers(15))]  # fmt: skip
    found = base.execute(f"select {column} from {table}").fetchall()
    if not found:
        return
    (value,) = found[int(rng.integers(len(found)))]
    if isinstance(value, int):
        new = int(rng.choice([-1, 0, 1, value - 1, value + 1, 2**40, 2**63 - 1, -(2**63)]))
    else:
        new = change_bytes(value, rng) if rng.integers(3) == 0 else value
        with contextlib.suppress(ValueError):
            new = new if table == "agent" else change_packed(value, rng)
    with contextlib.suppress(Exception):  # two rows of one key
        base.execute(f"update {table} set {column} = ? where {column} = ?", (new, value))


def descriptions(base, rng):
    """What a database says of its network: replays believe that, and open nothing."""
    (content,) = base.execute("select content from description").fetchone()
    table = json.loads(content)
    places = [(inside, key) for inside, key in _places(table) if inside is not table]
    inside, key = places[int(rng.integers(len(places)))]
    moderate = [
        one for one in STRANGE if not isinstance(one, bytes | int | float) or one in range(9)
    ]
    if rng.integers(4) == 0:
        inside, key = table, "graph"
        paths = "/dev/zero", "/etc/passwd", "graph.csv"
        inside[key] = {"kind": "file", "path": paths[int(rng.integers(3))]}
    elif isinstance(inside, list) or rng.integers(4):
        inside[key] = moderate[int(rng.integers(len(moderate)))]
    else:
        del inside[key]
    new = json.dumps(table).encode()
    base.execute("update description set content = ?", (new,))
    with contextlib.suppress(Exception):
        base.execute("update host set network = ?", (described(table).number,))


def bits(base, rng):
    """A flipped bit, anywhere in the file, which no digest is made right for."""


KINDS = (states, beginnings, entries, rows, descriptions, bits)


# --- what must come of it -------------------------------------------------------------------------


def start(original, folder):
    """A word for what comes of a host that begins on the database."""
    try:
        return play(original, folder)
    except OSError as error:  # a flipped bit can lie where nothing is read before it is written
        return check_sentence(error)


def play(original, folder):
    """The same; an OSError says that it could not be written later."""
    try:
        store = original.store(folder)
    except (ValueError, OSError) as error:
        return check_sentence(error)
    with store:
        try:
            kept = store.read()
            if kept is None:
                return "new"
            host = original.begin("host0", kept)
            write(store, host)
        except (ValueError, OSError) as error:
            return check_sentence(error)
        for content in original.heard:
            host.receive("host1", content, "asked")
            write(store, host)
        for agent in list(host.drivers):
            for k in range(2):
                try:
                    asked = host.begin(agent, original.row(k))
                    said = host.predict(asked.number, {})
                    if not np.isfinite(said.value).all():
                        return f"NOT FINITE: {said}"
                    host.learn(asked.number, original.feedback(k), None)
                except ValueError as error:
                    # Horizons are over, a neighbour remembers something else, or its last row is
                    # as large as any that it may send, and so is the gradient.
                    expected = "horizon", "gradient must have norm at most"
                    if not host.trouble and not any(words in str(error) for words in expected):
                        return f"REFUSED LATE: {error}"
        for other in host.links:
            host.batch(other)
        write(store, host)
        try:
            again = original.begin("host0", store.read())
        except (ValueError, OSError) as error:
            return f"NOT READ AGAIN: {error}"
        if any(again.kept(agent) != host.kept(agent) for agent in host.drivers):
            return "NOT THE SAME AGAIN"
    return "played"


def write(store, host):
    store.write(changes := host.changes())
    host.committed(changes)


def check_sentence(error):
    """A refusal names the database, or what is wrong with it."""
    named = str(error).startswith(("database ", "'", "agent ", "revision "))
    return "refused" if named else f"SAYS: {error}"


def replayed(original, file, whole):
    """A word for what comes of a replay."""
    try:
        if whole:
            again = replay_files([file])
        else:
            journal = read_journal(file)
            again = replay([journal.entries], original.make, agents={"host0": journal.agents})
    except ValueError:
        return "refused"
    return "the same" if not again.differences else "differences"


def check_goes_on(original, folder):
    """Refuse an original that is itself refused: forgeries of it would tell nothing."""
    file = folder / "host0.db"
    file.write_bytes(original.content)
    again = replayed(original, file, CASES[original.name] is not None)
    if (again, outcome := start(original, folder)) != ("the same", "played"):
        raise AssertionError(f"{original.name} unchanged: {again} and {outcome}")


def judge(original, kind, rng, folder):
    """Forge a database, and say what comes of it."""
    file = folder / "host0.db"
    for old in folder.iterdir():
        old.unlink()
    content = original.content
    if kind is bits:
        content = bytearray(content)
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    file.write_bytes(content)
    if kind is not bits:
        with forging(file) as base:
            kind(base, rng)
    if kind in (beginnings, entries, descriptions):
        return replayed(original, file, kind is descriptions and CASES[original.name] is not None)
    return start(original, folder)


class Hangs(BaseException):
    """It takes far too long."""


def too_long(*_):
    raise Hangs


def fuzz(number, seed, kinds=KINDS, cases=tuple(CASES), tell=print, first=0, before=None):
    """Counts of outcomes by kind, and failures: all that must never come of a database.

    `before` is told the number of each before it is tried.
    """
    outcomes, failures, last = collections.Counter(), [], time.monotonic()
    signal.signal(signal.SIGALRM, too_long)
    # Nothing here outlives a power cut, and waiting for the disk would take most of the time.
    quick = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=quick) as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, uncompiled
        folder, originals = Path(place) / "forged", {}
        folder.mkdir()
        for k in range(first, first + number):
            case, kind = cases[k % len(cases)], kinds[k // len(cases) % len(kinds)]
            if case not in originals:
                originals[case] = Original(case, Path(place))
                check_goes_on(originals[case], folder)
            if before is not None:
                before(k)
            signal.alarm(SECONDS)
            try:
                outcome = judge(originals[case], kind, np.random.default_rng([seed, k]), folder)
            except (Exception, Hangs) as error:
                outcome = f"{type(error).__name__.upper()}: {error}"
            finally:
                signal.alarm(0)
            outcomes[kind.__name__, outcome.split(":")[0]] += 1
            if any(letter.isupper() for letter in outcome.split(":")[0]):
                failures.append((k, case, kind.__name__, outcome))
                tell(f"seed {seed}, {k}: {case}, {kind.__name__}: {outcome}")
            if time.monotonic() > last + BETWEEN:
                last = time.monotonic()
                tell(f"{k + 1 - first:,} of {number:,} databases, {len(failures)} failures")
    return outcomes, failures


def fuzz_compiled(number, seed, tell=print):
    """The same, compiled, in a process of its own, and another one where that was ended."""
    first, failures, tried = 0, [], 0
    while first < number:
        command = [sys.executable, "-m", "tests.fuzz_databases", "compiled"]
        child = subprocess.Popen(
            [*command, str(number - first), str(seed), str(first)],
            env=os.environ | {"NUMBA_DISABLE_JIT": "0"},
            stdout=subprocess.PIPE,
            text=True,
        )
        at = first
        for line in child.stdout:
            if line.startswith("at "):
                at, tried = int(line[3:]), tried + 1
            else:
                tell(f"compiled: {line.rstrip()}")
                if line.startswith("seed "):
                    failures.append(line.rstrip())
        if child.wait() == 0:
            break
        failures.append(f"seed {seed}, {at}: the process was ended by {child.returncode}")
        tell(f"compiled: {failures[-1]}")
        first = at + 1
    return tried, failures


def compiled(number, seed, first):
    """What runs in such a process."""
    say = functools.partial(print, flush=True)
    kinds = states, beginnings, entries
    fuzz(number, seed, kinds, COMPILED, say, first, before=lambda k: say("at", k))


def main():
    if sys.argv[1:2] == ["compiled"]:
        compiled(*map(int, sys.argv[2:]))
        return 0
    only = sys.argv[1:2] == ["uncompiled"]
    number, seed = (int(word) for word in (*sys.argv[1 + only :], "10000", "0")[:2])
    print(f"seed {seed}", flush=True)
    say = functools.partial(print, flush=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        beside = pool.submit(fuzz_compiled, 0 if only else number // SHARE, seed, say)
        outcomes, failures = fuzz(number, seed, tell=say)
        tried, ended = beside.result()
    for (kind, outcome), count in sorted(outcomes.items()):
        print(f"{kind:14} {outcome:24} {count:7,}")
    print(f"{number:,} databases uncompiled, {len(failures)} failures")
    print(f"{tried:,} databases compiled, {len(ended)} failures")
    return 1 if failures or ended else 0


if __name__ == "__main__":
    sys.exit(main())
