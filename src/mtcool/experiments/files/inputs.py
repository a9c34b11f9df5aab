"""What an experiment was made from, kept in its result folder so that it runs from there."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from mtcool.config import schema
from mtcool.experiments.files import spec
from mtcool.experiments.files.named import files_beside
from mtcool.experiments.output import write
from mtcool.experiments.running.runner import Task

# Comments are matched first, to be skipped: they may hold quotes.
TOKENS = re.compile(
    r'#[^\n]*|"""(?:\\.|[^\\])*?"""|' + r"'''.*?'''" + r'|"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'",
    re.DOTALL,
)
PROBE = "the place of this text"
FOLDERS = {"graph": "graphs", "network": "changes"}
"""Where files are kept that the tables of a file name."""


def keep_inputs(task: Task, place: Path) -> None:
    """Write the experiment file, the modules next to it and the files that it names to `place`.

    Graphs are in `graphs/`, their changes in `changes/`; the paths in the file that is kept are
    those of what is kept.
    """
    named = [table for point in task.experiment.points for table in (point.graph, point.network)]
    used = [one.path for one in named if isinstance(one, schema.GraphFile | spec.ChangesFile)]
    contents: dict[str, bytes] = {}
    names: dict[str, str] = {}
    for key, path in dict.fromkeys(_paths(tomllib.loads(task.source))):
        if str(task.folder / path) in used and path not in names:
            names[path] = _free_name(FOLDERS[key], Path(path), contents)
            contents[names[path]] = (task.folder / path).read_bytes()
    modules = files_beside(task.experiment.points, task.folder)
    kept = {name: file.read_bytes() for name, file in modules.items()}
    # All are read before one is written: they may be the very files of an earlier run.
    for name, content in contents.items():
        write(place / name, content)
    for name, content in kept.items():
        write(place / name, content)
    write(place / "experiment.toml", relocated(task.source, names).encode())


def relocated(source: str, names: Mapping[str, str]) -> str:
    """Replace the paths in an experiment file; leave all other text unchanged.

    Examples
    --------
    >>> relocated('graph = {kind = "file", path = "a/b.csv"} # "a/b.csv"', {"a/b.csv": "c.csv"})
    'graph = {kind = "file", path = "c.csv"} # "a/b.csv"'
    """
    done, position = "", 0
    for token in TOKENS.finditer(source):
        name = None if token[0].startswith("#") else names.get(_text(token[0]))
        if name is not None and _is_path(source, token):
            done += source[position : token.start()] + _quoted(name)
            position = token.end()
    return done + source[position:]


def _is_path(source: str, token: re.Match[str]) -> bool:
    """Whether a string is a path, and not a title that reads the same."""
    probed = source[: token.start()] + _quoted(PROBE) + source[token.end() :]
    try:
        return any(path == PROBE for _, path in _paths(tomllib.loads(probed)))
    except tomllib.TOMLDecodeError:  # it was a key, and is there twice now
        return False


def _paths(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The paths of graphs and changes in an experiment file, wherever they may stand."""
    for key in FOLDERS:
        tables = [table.get(key)]
        for sweep in table.get("sweep", []):
            if sweep["parameter"] == key:
                tables += sweep["values"]
            if sweep["parameter"] == f"{key}.path":
                yield from ((key, path) for path in sweep["values"])
        for part in [*table.get("figure", []), *table.get("claim", [])]:
            if f"{key}.path" in part.get("at", {}):
                yield key, part["at"][f"{key}.path"]
        for one in tables:
            if isinstance(one, dict) and isinstance(one.get("path"), str):
                yield key, one["path"]


def _free_name(folder: str, path: Path, taken: Mapping[str, Any]) -> str:
    """A place in a folder, with a number if another file has it in upper or lower case."""
    used = {name.lower() for name in taken}
    name, number = f"{folder}/{path.name}", 2
    while name.lower() in used:
        name, number = f"{folder}/{path.stem}-{number}{path.suffix}", number + 1
    return name


def _text(token: str) -> str:
    return str(tomllib.loads(f"text = {token}")["text"])


def _quoted(text: str) -> str:
    """A string as TOML writes it."""
    return tomli_w.dumps({"text": text}).removeprefix("text = ").rstrip("\n")
