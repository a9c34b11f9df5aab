"""The blocks of a page: files to be written, commands to be run, and what they must print.

A block of TOML or Python whose first line is a comment with a file's name is that file. A block of
`console` has commands after `$`, each with the output below it, in which `...` stands for anything.
Blocks with `>>>` are doctests, which pytest collects by itself; `text` is only looked at.
"""

from __future__ import annotations

import doctest
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

FILE = re.compile(r"# (\S+\.(?:toml|py))\n")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class File(NamedTuple):
    """A file that a page shows."""

    name: str
    content: str


class Command(NamedTuple):
    """A command that a page shows, and its output; None if the page does not show any."""

    line: str
    output: str | None


class Looked(NamedTuple):
    """A block that is doctested elsewhere, or only looked at."""


def blocks(page: Path) -> Iterator[File | Command | Looked]:
    """What a page shows, in order; refuses blocks that nobody would run."""
    for token in MarkdownIt().parse(page.read_text()):
        language, content = token.info.strip(), token.content
        if token.type == "code_block":
            raise ValueError(f"{page.name}: a block must have a language, got {content!r}")
        if token.type != "fence" or language.startswith("{"):
            continue
        if language == "console":
            yield from _commands(page, content)
        elif named := FILE.match(content):
            yield File(named[1], content)
        elif language == "text" or ">>> " in content:
            yield Looked()
        else:
            raise ValueError(f"{page.name}: a block must be run, got {language}: {content!r}")


def _commands(page: Path, content: str) -> Iterator[Command]:
    before, *rest = re.split(r"^\$ ", content, flags=re.MULTILINE)
    if before.strip():
        raise ValueError(f"{page.name}: a block of commands must begin with one, got {before!r}")
    for one in rest:
        line, _, output = one.partition("\n")
        while line.endswith("\\"):
            more, _, output = output.partition("\n")
            line = f"{line[:-1]} {more.strip()}"
        yield Command(line, output if output.strip() else None)


def play(page: Path, folder: Path, seconds: float = 600.0) -> int:
    """Write the files and run the commands of a page in a folder; returns how many there were."""
    bin_first = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": bin_first, "COLUMNS": "100", "NO_COLOR": "1"}
    count = 0
    for block in blocks(page):
        match block:
            case File(name, content):
                (folder / name).write_text(content)
            case Command(line, output):
                printed = _run(line, folder, environment, seconds)
                if output is not None:
                    matches = doctest.OutputChecker().check_output(output, printed, FLAGS)
                    assert matches, f"{line}\nmust print\n{output}\ngot\n{printed}"
                count += 1
    return count


def _run(line: str, folder: Path, environment: dict[str, str], seconds: float) -> str:
    """What a command prints; it must end well, and in time, and leave no process behind."""
    with subprocess.Popen(
        ["bash", "-c", line],
        **{"cwd": folder, "env": environment, "text": True, "start_new_session": True},
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE},
    ) as shell:
        try:
            out, wrong = shell.communicate(timeout=seconds)
        except BaseException as error:
            os.killpg(shell.pid, signal.SIGKILL)  # also what it has begun beside
            out, wrong = shell.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                raise AssertionError(f"{line}\ntook {seconds:g} s\n{out}{wrong}") from None
            raise
    assert shell.returncode == 0, f"{line}\n{out}{wrong}"
    return out
