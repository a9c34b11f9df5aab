"""Programs in processes of their own, which start from the cache that a test gives them."""

import subprocess
import sys

import pytest

# Importing mtcool takes longer than most programs below: one process does it, and forks for each.
NURSERY = """
import os, sys, traceback
import mtcool
for line in sys.stdin:
    program, environment = eval(line)
    if os.fork() == 0:
        os.environ.update(environment)
        try:
            exec(program, {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
            print("failed")
        sys.stdout.flush()
        os._exit(0)
    os.wait()
    print("done", flush=True)
"""


@pytest.fixture(scope="module")
def run():
    """Runs a program in a process of its own, in which only mtcool is imported."""
    with subprocess.Popen(
        [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as nursery:

        def words_of(program, **environment):
            nursery.stdin.write(repr((program, environment)) + "\n")
            nursery.stdin.flush()
            lines = list(iter(nursery.stdout.readline, "done\n"))
            assert "failed\n" not in lines
            return " ".join(lines).split()

        yield words_of
        nursery.stdin.close()
