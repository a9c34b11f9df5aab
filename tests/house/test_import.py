"""Importing mtcool takes little time: what only some need is imported when they need it."""

import os
import subprocess
import sys

LATER = ("joblib", "matplotlib", "pandas", "rich", "scipy.optimize", "scipy.stats", "scipy.special")
MOST = 0.5
"""Seconds of the processor that `import mtcool` may take beyond the import of numba."""


def test_heavy_parts_are_imported_when_they_are_needed():
    show = f"import sys, mtcool; print(*(name for name in {LATER} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def least(program, times=5):
    """The least time that a program takes of the processor, in processes of its own."""
    # Bytecode that is not kept would be made again each time, which is not what users pay.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    show = f"import time; {program}; print(time.process_time())"
    command = [sys.executable, "-c", show]
    took = [subprocess.check_output(command, env=environment, text=True) for _ in range(times)]
    return min(map(float, took))


def test_the_import_takes_less_than_half_a_second_beyond_that_of_numba():
    """The least of some times: a busy machine adds to each, and never takes away."""
    assert least("import numba, mtcool") - least("import numba") < MOST


def test_time_of_the_processor_is_noticed():
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    assert least(f"exec({busy!r})", times=1) >= 0.3
