"""The page of commands, from their own help: `python docs/commands.py` writes it."""

import re
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from mtcool.cli.commands import app

PAGE = Path(__file__).parent / "reference" / "commands.md"


def text() -> str:
    """All commands with their options, in Markdown."""
    command = typer.main.get_command(app)
    page = get_docs_for_click(
        obj=command, ctx=typer.Context(command), name="mtcool", title="Commands"
    )
    return re.sub(r"^\* `([\w-]+)`: .*\.\.\.$", lambda cut: _whole(command, cut), page, flags=re.M)


def _whole(command, cut: re.Match[str]) -> str:
    """The line of a command in a list, where Typer has cut it off."""
    groups = [command, *(one for one in command.commands.values() if hasattr(one, "commands"))]
    found = next(group.commands[cut[1]] for group in groups if cut[1] in group.commands)
    return f"* `{cut[1]}`: {found.get_short_help_str(limit=1000)}"


if __name__ == "__main__":
    PAGE.write_text(text())
