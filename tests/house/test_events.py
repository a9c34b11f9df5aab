"""The guide has every event that a live network logs, and no other."""

import ast
import re
from pathlib import Path

import mtcool

LIVE = Path(mtcool.__file__).parent / "live"
GUIDE = Path(__file__).parents[2] / "docs" / "live-page.md"


def logged():
    """The first words of all calls of a reporter's `tell`, and of the log itself."""
    for path in LIVE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                what, of, words = node.func.attr, ast.unparse(node.func.value), node.args[:1]
                told = what == "tell" and (of.endswith("report") or path.name == "reporting.py")
                if told or of == "LOG":
                    yield from (word.value for word in words if isinstance(word, ast.Constant))


def test_the_guide_lists_the_events_that_there_are():
    table = GUIDE.read_text().partition("| event |")[2].partition("\n\n")[0]
    firsts = [line.split("|")[1] for line in table.splitlines()[2:]]
    listed = re.findall(r"`(\w+)`", "".join(firsts))
    assert len(listed) == len(set(listed)) >= 10
    assert set(listed) == set(logged())
