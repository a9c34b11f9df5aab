"""The comparisons of networks in the field once more, uncompiled: all learners with all rates.

Compiling each of them would take half a minute. Uncompiled, a wrong index is an error as well.
"""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
COMPARISONS = (
    "field/test_twin.py",
    "field/test_simulating.py",
    "field/test_field_agents.py",
    "field/test_field_reductions.py::test_a_schedule_without_changes_changes_no_bit",
    "field/test_saved_field.py::test_closed_forms_go_on_to_the_bit_from_files_copies_and_pickles",
    "field/test_saved_field.py::test_hedge_goes_on_to_the_bit_from_files_copies_and_pickles",
    "field/test_saved_field.py::test_weights_of_ones_own_go_on_to_the_bit",
)


def test_all_learners_with_all_rates_do_uncompiled_what_some_do_compiled():
    """Infinities and what is no number pass without a word in compiled code; NumPy warns."""
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore::RuntimeWarning"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *COMPARISONS],
        cwd=TESTS,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "26 passed" in done.stdout
