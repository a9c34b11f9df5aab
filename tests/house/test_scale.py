"""Numbers that the page of scale quotes are those of the benchmarks, but for their rounding."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "scale.md").read_text()
CLOSE, CLOSE_IN_BYTES = 0.25, 0.1
"""The benchmarks are measured again now and then, and time varies more than memory does."""
RING, SHARES = "Ring of 8 processes, one agent each", "8 processes with 32 agents each, on one ring"
KT, LEARN = "KT, d = 16", "`learn`, 16 features"
WHOLE, CSV = ("100,000 agents on 1,000 hosts, " + how for how in ("written out", "edges in CSV"))
TABLES = {
    "activations a second": (RING, SHARES),
    "processor time": (f"{RING}: processor time", f"{SHARES}: processor time"),
    "questions": (f"{RING}: questions", f"{SHARES}: questions"),
    "bytes": (f"{RING}: bytes", f"{SHARES}: bytes"),
    "memory of a process": (f"{RING}: memory of a process", f"{SHARES}: memory of a process"),
    "memory of an agent": (f"{KT}: memory", f"{LEARN}: memory"),
    "database of an agent": (f"{KT}: database", f"{LEARN}: database"),
    "state written": (f"{KT}: state in a transaction", f"{LEARN}: state in a transaction"),
}
"""The two cells of each row, by how the row begins."""
SENTENCES = {
    r"A connection to another host takes ([\d.]+) MB": "A connection to another host",
    r"take ([\d.]+) s and \d+ MB written out": f"{WHOLE}: reading",
    r"take [\d.]+ s and (\d+) MB written out": f"{WHOLE}: memory",
    r"([\d.]+) s and \d+ MB with the edges": f"{CSV}: reading",
    r"[\d.]+ s and (\d+) MB with the edges": f"{CSV}: memory",
    r"agents are made in ([\d.]+) s": f"{WHOLE}: making the agents of a host",
    r"process, connections \| (\d+) \+": f"{KT}: memory",  # a thousand agents, in MB
    r"process, connections \| \d+ \+ (\d+)": f"{KT}: a process with an agent",
    r"With `learn` agents take (\d+) MB": f"{LEARN}: memory",
    r"and databases (\d+) MB": f"{LEARN}: database",
}


class Measured(NamedTuple):
    value: float
    close: float
    """How far from it, over it, what is said of it may be."""


def number(text):
    found = re.match(r"\d[\d ,]*(\.\d+)?", text.strip())
    return float(re.sub(r"[ ,]", "", found[0]))


def rows(text):
    for line in text.splitlines():
        if line.startswith("|") and not set(line) <= set("|-: "):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def measured():
    """What was measured, by the first cell of its row; "The same" is what stood before it."""
    found, last = dict[str, Measured](), ""
    for what, *_, value, _ in rows((DOCS / "live-benchmarks.md").read_text()):
        if what == "what":
            continue
        if what.startswith("The same"):
            what = what.replace("The same", last, 1)
        else:
            last = what
        close = CLOSE_IN_BYTES if re.search(r"\b[kM]B\b", value) else CLOSE
        found[what] = Measured(number(value), close)
    return found


def cells():
    """Every number in the tables of what was measured, with its row in the benchmarks."""
    part = PAGE.partition("## Measured")[2].partition("\n## ")[0]
    for what, *values in rows(part):
        if what != "what":
            (names,) = [names for begin, names in TABLES.items() if what.startswith(begin)]
            for value, name in zip(values, names, strict=True):
                yield pytest.param(number(value), name, id=f"{what}: {value}")


def sentences():
    for words, name in SENTENCES.items():
        yield pytest.param(number(re.search(words, PAGE)[1]), name, id=words)


@pytest.mark.parametrize(("said", "name"), [*cells(), *sentences()])
def test_a_number_is_that_of_the_benchmarks(said, name):
    found = measured()[name]
    assert said == pytest.approx(found.value, rel=found.close)


def test_connections_of_a_large_host_are_as_many_times_one_of_them():
    connections = number(re.search(r"connections of a host \| up to (\d+)", PAGE)[1])
    memory = number(re.search(r"process, connections \| \d+ \+ \d+ \+ (\d+)", PAGE)[1])
    one = measured()["A connection to another host"]
    assert memory == pytest.approx(connections * one.value, rel=one.close)


def test_sharing_a_process_is_as_much_cheaper_as_the_page_says():
    assert "thirty-two agents in a process made an activation seven times cheaper" in PAGE
    alone, shared = (measured()[f"{one}: processor time"].value for one in (RING, SHARES))
    assert alone / shared == pytest.approx(7, rel=CLOSE)
