"""A million agents, ten neighbours each, d = 8, a million activations, KT, in one process.

Raw bytes are those of the gradient sums, the graph's compressed rows and the weights: what no
implementation can do without. State bytes are all that the network keeps.
"""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.result import Result, at_most

GIGA = 1e9
ROOT = Path(__file__).parent.parent


def run(quick: bool) -> list[Result]:
    """Seconds and bytes."""
    size = 20_000 if quick else 1_000_000
    command = [sys.executable, "-m", "benchmarks.million", str(size), str(size)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    report = json.loads(output)
    name = f"{size:,} agents, degree 10, d = 8, KT"
    return [
        Result(
            f"{name}: {size:,} activations",
            f"{1e6 * report['again'] / size:.2f} µs each; {report['first']:.2f} s in the first "
            f"run, which maps the memory; {report['build']:.1f} s to build",
            report["again"],
            unit="s",
        ),
        Result(
            f"{name}: state over raw arrays",
            f"{report['state'] / GIGA:.3f} GB over {report['raw'] / GIGA:.3f} GB",
            report["state"] / report["raw"],
            target=at_most(1.25),
        ),
        Result(
            f"{name}: peak memory of the process over raw arrays",
            f"{report['peak'] / GIGA:.2f} GB, with the interpreter, building the graph, the stream",
            report["peak"] / report["raw"],
        ),
    ]
