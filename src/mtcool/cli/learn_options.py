"""The options of `mtcool learn` and `mtcool predict`."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV or Parquet file, - for CSV from standard input, or one of the built-in "
        "streams births, flights, schools, which need no options.",
    ),
]
AgentColumn = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with the agent of each row.")
]
TargetColumn = Annotated[str | None, typer.Option(metavar="COL", help="Column to predict.")]
TimeColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with the time of each row, a number or a date; must not go backwards. "
        "Rows of one time are all predicted before any is learned from.",
    ),
]
ArrivesColumn = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Column with the time when the target becomes known."),
]
FeatureColumns = Annotated[
    str | None,
    typer.Option(
        metavar="COLS",
        help="Columns to predict from, with commas; a name that has a comma in quotes.  "
        "[default: all others]",
    ),
]
CategoryColumns = Annotated[
    str | None,
    typer.Option(metavar="COLS", help="Columns of numbers that are names, such as postcodes."),
]
GraphName = Annotated[
    str | None,
    typer.Option(
        metavar="GRAPH",
        help="Who talks to whom: an edge list (.csv, .txt), .graphml, .gal and others; "
        "complete, or none.  [default: complete, up to 300 agents]",
    ),
]
PlaceColumns = Annotated[
    str | None,
    typer.Option(
        metavar="LAT,LON",
        help="Columns with the agents' places: the nearest are neighbours. They are no "
        "features, unless --features names them.",
    ),
]
Nearest = Annotated[
    int | None,
    typer.Option(metavar="N", help="How many are nearest, with --near.  [default: 5]"),
]
TaskName = Annotated[
    str | None,
    typer.Option(
        metavar="regression|classification",
        help="Predict a number, or the probability of 1.  [default: regression]",
    ),
]
ShareName = Annotated[
    str | None,
    typer.Option(
        metavar="gradients|rows",
        help="What neighbours are told. With gradients rows stay with their agents; with rows "
        "they tell sums over them too.  [default: gradients]",
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for the results.  [default: results/NAME]"),
]
SavedModel = Annotated[
    Path | None,
    typer.Option(
        metavar="MODEL",
        help="Go on with a saved model, which remembers columns and graph. Metrics and "
        "report are then about all rows since it was begun.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")]
OnBadRow = Annotated[
    str,
    typer.Option(
        "--on-bad",
        help="stop at the first bad row, or skip bad rows and count them.",
        metavar="skip|stop",
    ),
]
