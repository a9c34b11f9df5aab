"""`mtcool learn` under SIGKILL, wherever it writes: the next run goes on from the last save."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

OPTIONS = ("--agent", "city", "--target", "sales")
CHILD = """
import os, signal, sys
from mtcool.cli.commands import main
from mtcool.learn.running import feed, learn_command

feed.ROWS, learn_command.BETWEEN_SAVES = 16, 0.0
left, folder = int(sys.argv.pop(1)), sys.argv[-1]

def hook(event, arguments):
    global left
    if event in ("open", "os.rename") and str(arguments[0]).startswith(folder):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
main()
"""


def learn(data: Path, folder: Path, killed_at: int = -1) -> int:
    """Learn from a table in a process that is killed when it opens or renames its n-th file."""
    words = [sys.executable, "-c", CHILD, f"{killed_at}", "learn", f"{data}", *OPTIONS]
    if (folder / "model.npz").exists():
        words += ["--resume", f"{folder / 'model.npz'}"]
    done = subprocess.run([*words, "--output", f"{folder}"], capture_output=True, timeout=120)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode


def test_a_run_that_is_killed_again_and_again_has_the_predictions_of_one_that_is_not(tmp_path):
    rng, data = random.Random(0), tmp_path / "sales.csv"
    rows = [f"c{rng.randrange(5)},{rng.gauss(0, 1)},{rng.gauss(0, 1)}\n" for _ in range(400)]
    data.write_text("".join(["city,heat,sales\n", *rows]))
    assert learn(data, tmp_path / "whole") == 0
    kills = [learn(data, tmp_path / "parts", k) for k in (3, 5, 8, 13, 4, 6)]
    assert kills == [-signal.SIGKILL] * len(kills)
    assert learn(data, tmp_path / "parts") == 0
    for name in ("predictions.csv", "metrics.csv", "agents.csv"):
        parts, whole = (tmp_path / run / name for run in ("parts", "whole"))
        assert parts.read_bytes() == whole.read_bytes(), name
    assert {file.name for file in (tmp_path / "parts").iterdir()} == {
        file.name for file in (tmp_path / "whole").iterdir()
    }
