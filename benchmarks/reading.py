"""Reading a table: a CSV file of 14 columns, checked and encoded, next to pandas' `read_csv`.

The file is as large as the births of all states: 349 296 rows of a text, a time and 12 numbers with
17 digits. mtcool looks for bad rows, names agents and makes the matrix of the features; pandas
parses.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.result import Result, at_most
from benchmarks.timing import fastest
from mtcool.learn import Columns, Encoder, read_batches

ROWS = 349_296
COLUMNS = Columns(agent="state", target="births", time="day")


def run(quick: bool) -> list[Result]:
    """Microseconds for a row."""
    rows = ROWS // 10 if quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        _table(rows).to_csv(path, index=False)
        best = fastest(
            {
                "mtcool": lambda: lambda: _read(path),
                "pandas": lambda: lambda: pd.read_csv(path),
            },
            repetitions=2 if quick else 5,
        )
    micros = {name: seconds / rows * 1e6 for name, seconds in best.items()}
    return [
        Result(
            "Reading a CSV file: checked, encoded rows",
            f"{micros['pandas']:.2f} µs a row for pandas' read_csv",
            micros["mtcool"],
            unit="µs a row",
            target=at_most(1.5),
        )
    ]


def _table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(rows, 11)), columns=[f"x{k}" for k in range(11)])
    table.insert(0, "state", [f"state {k % 48}" for k in range(rows)])
    table.insert(1, "day", np.arange(rows) // 48)
    table["births"] = rng.normal(size=rows)
    return table


def _read(path: Path) -> None:
    for _ in read_batches(path, COLUMNS, Encoder()):
        pass
