"""Command line of the pictures."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from . import PICTURES
from .drawing import write

EXPLAIN = Path(__file__).parents[1] / "explain"

Names = Annotated[list[str] | None, typer.Argument(help=", ".join(PICTURES))]


def main(names: Names = None) -> None:
    """Measure and draw pictures, all if none is named, and put their numbers into the pages."""
    for name in names or PICTURES:
        if name not in PICTURES:
            raise typer.BadParameter(f"must be one of {', '.join(PICTURES)}, got {name}")
        picture, began = PICTURES[name], time.perf_counter()
        measured = picture.measure()
        numbers = "\n".join(picture.words(measured))
        path, page = EXPLAIN / f"{name}.png", EXPLAIN / picture.PAGE
        write(picture.draw(measured), path)
        page.write_text(with_numbers(page.read_text(encoding="utf-8"), name, numbers), "utf-8")
        sys.stdout.write(f"{numbers}\n{path}: {time.perf_counter() - began:.0f} seconds\n\n")


def with_numbers(page: str, name: str, numbers: str) -> str:
    """The page with the numbers of a picture between its two marks."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not (found and ended):
        raise ValueError(f"page must have the lines {begin!r} and {end!r}, got none")
    return f"{before}{begin}```text\n{numbers}\n```\n{end}{after}"


if __name__ == "__main__":
    typer.run(main)
