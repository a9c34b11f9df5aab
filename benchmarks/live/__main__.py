"""Command line of the benchmarks of the live network."""

import typer

from benchmarks.command import command
from benchmarks.live.contents import SUITE

if __name__ == "__main__":
    typer.run(command(SUITE))
