"""A description that cannot work is refused in one sentence, before anything begins."""

import copy

import pytest

from mtcool.experiments.files.loading import make_experiment
from mtcool.experiments.running.runner import Task, jobs_of
from mtcool.live.config import described

EXPERIMENT = {"name": "demo", "algorithm": [{"name": "alone", "algorithm": "i_ftrl"}]}
GRAPH = {"kind": "edges", "edges": [["x", "y"]]}
TABLE = {
    "name": "pair",
    "graph": GRAPH,
    "learn": {"features": ["f", "g"]},
    "hosts": {
        "a": {"agents": ["x"], "listen": "127.0.0.1:7001"},
        "b": {"agents": ["y"], "listen": "127.0.0.1:7002"},
    },
}
SHARDS = {"hosts": {}, "graph": {"kind": "ring", "agents": 8}}


def changed(**changes):
    return copy.deepcopy(TABLE) | changes


def with_host(**keys):
    table = changed()
    table["hosts"]["a"].update(keys)
    return table


def named(name):
    table = changed()
    table["hosts"][name] = table["hosts"].pop("a")
    return table


def test_the_table_itself_is_taken():
    assert described(TABLE).home == {"x": "a", "y": "b"}


@pytest.mark.parametrize(
    "name", ["", "a/b", "..", "a b", "a*", "a$", "a#", "a?", "é", "a\n", "-a", "a" * 64]
)
def test_names_that_files_keys_or_certificates_cannot_bear_are_refused(name):
    with pytest.raises(ValueError, match="hosts must have names of") as said:
        described(named(name))
    assert repr(name) in str(said.value)


@pytest.mark.parametrize("name", ["authority", "Authority"])
def test_no_host_is_named_like_the_authority(name):
    with pytest.raises(ValueError, match=f"hosts must not be named .*, got '{name}'"):
        described(named(name))


@pytest.mark.parametrize("name", ["a.b-c_d", "0", "a" * 63, "authority2"])
def test_plain_names_of_hosts_are_taken(name):
    assert name in described(named(name)).places


def test_hosts_that_differ_in_capitals_alone_are_refused():
    with pytest.raises(ValueError, match="hosts must differ in more than capitals, got 'b' and"):
        described(named("B"))


NO_NAMES = [":1", "1.2.3.400:5", "::1:5", "[::g]:5", "a b:5", "-a:5", "a..b:5", "a#b:5", "a/b:5"]
NO_PORTS = ["", "rome", "rome:", "rome:x", "rome:65536", "rome:5\n", "rome:٣"]


@pytest.mark.parametrize("key", ["listen", "address", "http"])
@pytest.mark.parametrize("text", [*NO_NAMES, *NO_PORTS])
def test_addresses_are_a_name_and_a_port(key, text):
    with pytest.raises(ValueError, match=rf"hosts\.a\.{key} must be a name or") as said:
        described(with_host(**{key: text}))
    assert repr(text) in str(said.value)


@pytest.mark.parametrize(
    "text", ["10.0.0.1:1", "[::1]:7447", "rome:65535", "Rome.example.org:7447", "a_b-c.d:80"]
)
def test_addresses_of_all_kinds_are_taken(text):
    assert described(with_host(listen=text)).places["a"].address == text


REFUSED = {
    "two hosts at one address": (
        with_host(listen="localhost:7002"),
        r"hosts\.b\.listen must not take the place of hosts\.a\.listen, got '127\.0\.0\.1:7002'",
    ),
    "one at all addresses, one at one of them": (
        with_host(listen="0.0.0.0:7002", address="127.0.0.2:7002"),
        r"hosts\.b\.listen must not take the place of hosts\.a\.listen",
    ),
    "HTTP where it listens itself": (
        with_host(http="127.0.0.1:7001"),
        r"hosts\.a\.http must not take the place of hosts\.a\.listen, got '127\.0\.0\.1:7001'",
    ),
    "two hosts that are called alike": (
        with_host(listen="10.0.0.1:7002", address="127.0.0.1:7002"),
        r"hosts\.b\.address must not be that of a, got '127\.0\.0\.1:7002'",
    ),
    "nobody can call all addresses": (
        with_host(listen="0.0.0.0:7001"),
        r"hosts\.a\.address must say what others call it, got '0\.0\.0\.0:7001'",
    ),
    "agents alike in text": (
        changed(graph={"kind": "edges", "edges": [["x", 1], ["y", "1"]]}),
        r"agents must have names that differ as texts, got 1 and '1'",
    ),
    "accents in two spellings": (
        changed(graph={"kind": "edges", "edges": [["m\u00e9", "me\u0301"]]}),
        r"agents must have names that differ as texts",
    ),
    "a number for a text": (
        changed(graph={"kind": "edges", "edges": [["x", "y"], ["x", 1]]})
        | {"hosts": with_host(agents=["x", "1"])["hosts"]},
        r"hosts\.a\.agents must be in the graph, which has 1, got '1'",
    ),
    "a feature twice": (
        changed(learn={"features": ["f", "f"]}),
        r"learn\.features must be different, got \['f', 'f'\]",
    ),
    "a name with capitals": (
        changed(name="Pair"),
        "name must be small letters, digits and hyphens, got 'Pair'",
    ),
    "a wrong key of a host": (
        with_host(lisen="x"),
        r"hosts\.a: unknown key lisen; did you mean listen\?",
    ),
    "a wrong key": (changed(timing={"row": 1}), "unknown key timing.row; did you mean rows?"),
    "a wrong value of a host": (with_host(listen=7), r"hosts\.a: listen must be a text, got 7"),
    "a host that is none": (changed(hosts={"a": 7}), r"hosts\.a must be a table, got 7"),
    "more processes than ports": (
        changed(**SHARDS, shards={"count": 4, "port": 65533}),
        r"shards\.port must be at most 65532 for 4 processes, got 65533",
    ),
    "more endpoints than ports": (
        changed(**SHARDS, shards={"count": 4, "http": 65533}),
        r"shards\.http must be at most 65532 for 4 processes, got 65533",
    ),
    "ports of two kinds that meet": (
        changed(**SHARDS, shards={"count": 4, "port": 7001, "http": 7004}),
        r"shards\.http must be at least 4 away from shards\.port, got 7004 and 7001",
    ),
}


@pytest.mark.parametrize(("table", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_work_is_refused(table, words):
    with pytest.raises(ValueError, match=words):
        described(table)


def test_two_machines_may_listen_alike():
    """As behind tunnels: what others call them differs."""
    table = with_host(listen="127.0.0.1:7447", address="127.0.0.1:9001")
    table["hosts"]["b"].update(listen="127.0.0.1:7447", address="127.0.0.1:9002")
    assert described(table).places["b"].listen == "127.0.0.1:7447"


def test_a_whole_number_may_be_written_as_one_with_a_point():
    table = changed(graph={"kind": "ring", "agents": 3.0})
    table["hosts"] = {"a": {"agents": [0, 1.0, 2], "listen": "127.0.0.1:7001"}}
    assert described(table).agents_of("a") == (0, 1, 2)


def test_a_graph_in_a_file_is_read_and_refused_as_in_an_experiment(tmp_path):
    """In all formats, names as in the file; what is wrong names the key."""
    (tmp_path / "net.csv").write_text('source;target\n"x, the first";y\n')
    graph = {"kind": "file", "path": "net.csv"}
    shards = changed(hosts={}, shards={"count": 1}, graph=graph)
    assert set(described(shards, tmp_path).graph.labels) == {"x, the first", "y"}
    (tmp_path / "net.csv").write_text('x;y\n"z;y\n')
    for read in (
        lambda: described(shards, tmp_path),
        lambda: jobs_of(Task(make_experiment(EXPERIMENT | {"graph": graph}, tmp_path), 1, "")),
    ):
        with pytest.raises(ValueError, match=r"^graph\.path must be a list of edges, .* line 2 "):
            read()
    graph["path"] = "nowhere.csv"
    with pytest.raises(ValueError, match=r"^graph\.path must be a file, got .*nowhere\.csv"):
        described(shards, tmp_path)
