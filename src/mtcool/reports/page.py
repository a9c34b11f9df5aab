"""One HTML file that opens offline: a frame for all reports, which puts figures inside."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import jinja2

from mtcool.files import write_whole
from mtcool.types import Given

TYPES = {"png": "image/png", "svg": "image/svg+xml"}


class TableCell(NamedTuple):
    """What stands in a table, where a text alone does not do."""

    text: str
    look: str = ""
    """A class of the style."""
    more: str = ""
    """Small words below the text."""


def write_page(path: Path, package: str, **values: Given) -> None:
    """Write `report.html.jinja` of a package, which extends our `page.html.jinja`."""
    ours, theirs = (jinja2.PackageLoader(name, "templates") for name in ("mtcool.reports", package))
    templates = jinja2.Environment(
        loader=jinja2.ChoiceLoader([theirs, ours]),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    page = templates.get_template("report.html.jinja").render(**values)
    write_whole(path, lambda file: file.write((page + "\n").encode()))


def picture(
    path: Path, draw: Callable[[Path], bool | None], kind: Literal["png", "svg"] = "png"
) -> str:
    """Draw a figure; return its file of this kind for the page, or "" if `draw` returned False.

    `path` has no suffix. Pictures of an earlier run, which are of other numbers, are removed.
    """
    if draw(path) is False:
        for suffix in TYPES:
            path.with_suffix(f".{suffix}").unlink(missing_ok=True)
        return ""
    content = base64.b64encode(path.with_suffix(f".{kind}").read_bytes()).decode()
    return f"data:{TYPES[kind]};base64,{content}"
