"""Command line of the benchmarks of the learner."""

import typer

from benchmarks.command import command
from benchmarks.learn.contents import SUITE

if __name__ == "__main__":
    typer.run(command(SUITE))
