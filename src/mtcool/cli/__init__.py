"""The `mtcool` command."""

from mtcool.cli.commands import main

__all__ = ["main"]
