"""Forged databases: a host refuses them in words, or goes on with them; nothing else happens."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.fuzz_databases import CASES, KINDS

ROOT = Path(__file__).parents[2]
EACH = 9 * len(CASES)
OUTCOMES = {"played", "refused", "the same", "differences"}


def test_forged_databases_are_refused_or_a_host_goes_on_with_them():
    """`make fuzz-databases` tries ten thousand; uncompiled, in a process of its own."""
    command = [sys.executable, "-m", "tests.fuzz_databases", "uncompiled", f"{EACH * len(KINDS)}"]
    done = subprocess.run(
        [*command, "1"],
        cwd=ROOT,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tried, outcomes = Counter(), set()
    for kind, outcome, count in re.findall(r"^(\w+) +([a-z ]+?) +(\d+)$", done.stdout, re.M):
        tried[kind] += int(count)
        outcomes.add(outcome)
    assert tried == {kind.__name__: EACH for kind in KINDS}
    assert outcomes == OUTCOMES
