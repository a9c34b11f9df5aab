"""The fidelity page speaks of code and tests that exist, and is that of the statements."""

import re
from pathlib import Path

import pytest
from fidelity.__main__ import HEAD, resolve
from fidelity.statements import STATEMENTS

ROOT = Path(__file__).parents[2]
NAMES = [statement.label for statement in STATEMENTS]


@pytest.mark.parametrize("statement", STATEMENTS, ids=NAMES)
def test_code_and_checks_exist(statement):
    for name in statement.code:
        assert resolve(name) is not None
    for check in statement.checks:
        path, _, function = check.partition("::")
        text = (ROOT / path).read_text()
        assert not function or f"def {function}(" in text
    assert statement.code, "every statement of the paper is built"
    assert statement.checks


def test_the_page_is_that_of_the_statements():
    page = (ROOT / "docs/fidelity.md").read_text()
    assert "not built yet" not in page
    assert page.startswith(HEAD)
    rows = [line.split(" | ") for line in page.removeprefix(HEAD).splitlines()]
    assert [row[0].removeprefix("| ") for row in rows] == NAMES
    for row, statement in zip(rows, STATEMENTS, strict=True):
        assert re.findall(r"`([\w.]+)`", row[2]) == list(statement.code)
        assert bool(row[4].strip()) == (statement.measured is not None)
        assert row[5].removesuffix(" |").replace("\\|", "|") == statement.erratum
