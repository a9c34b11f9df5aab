"""Command line of the benchmarks."""

import typer

from benchmarks.command import command
from benchmarks.contents import SUITE

if __name__ == "__main__":
    typer.run(command(SUITE))
