"""Write docs/fidelity.md: python -m fidelity."""

import importlib
from pathlib import Path

from fidelity.statements import STATEMENTS, Statement

ROOT = Path(__file__).parents[1]
HEAD = """# Fidelity

Written by `make fidelity`. Every definition, algorithm, lemma, theorem, corollary, remark and
figure of the paper: where it is in the code, the test or experiment that checks it, what was
measured, and where the paper needs a correction. The measured ratios come from small runs made when
this page was written; those of the figures from the full run whose tables are in `docs/data`. What
the paper remarks without a proof is proved in `docs/bounds.md`.

| statement | what | code | checked by | measured | correction |
|---|---|---|---|---|---|
"""


def row(statement: Statement, *, measured: bool = True) -> str:
    """A line of the table; every name in it must exist."""
    for name in statement.code:
        resolve(name)
    found = statement.measured() if measured and statement.measured else ""
    cells = (
        statement.label,
        statement.what,
        "<br>".join(f"`{name}`" for name in statement.code),
        "<br>".join(f"`{check.split('/')[-1]}`" for check in statement.checks),
        found,
        statement.erratum,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def resolve(name: str) -> object:
    """The object behind a dotted name."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def main() -> None:
    """Measure and write the page."""
    rows = [row(statement) for statement in STATEMENTS]
    (ROOT / "docs" / "fidelity.md").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
