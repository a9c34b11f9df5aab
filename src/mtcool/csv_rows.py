"""Rows of small CSV files that people write: edges of a graph, changes of a network."""

import csv
from collections.abc import Iterable, Iterator

DELIMITERS = ",;\t"


def delimiter_of(lines: Iterable[str]) -> str:
    """What stands between the cells: the first of the delimiters that the first line has.

    Examples
    --------
    >>> delimiter_of(["", "rome;milan,turin"]), delimiter_of(["rome"])
    (',', ',')
    """
    first = next(filter(str.strip, lines), "")
    return next((sign for sign in DELIMITERS if sign in first), DELIMITERS[0])


def rows(lines: Iterable[str], delimiter: str, file: str = "") -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, without blanks around cells, each with the number of its line.

    A row with a quoted line break begins on that line. What is no row is refused by its line, of
    the file if that has a name.

    Examples
    --------
    >>> list(rows(["rome, milan", "", "turin,"], ","))
    [(1, ['rome', 'milan']), (3, ['turin', ''])]
    """
    table = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    line = 1
    try:
        for row in table:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield line, cells
            line = table.line_num + 1
    except csv.Error as error:
        place = f"line {line} of {file}" if file else f"line {line}"
        raise ValueError(f"{place} must be a row of a table: {error}") from None
