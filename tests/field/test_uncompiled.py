"""Comparisons of networks in the field and of live ones, uncompiled: all learners, all rates.

Compiling each of them would take half a minute. Uncompiled, a wrong index is an error as well.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
REDUCTIONS = "field/test_field_reductions.py::test_"
EXPERIMENTS = "experiments/test_field_experiments.py::test_"
HEDGE = "MTFTRL-adversarial-1"  # which is not compiled for these
RULES = ("every round", "as many partners as there are", "the best of all")
RULES += ("late by less than a round", "wide links")
# One process for each line, so that both cores work to the end.
COMPARISONS = {
    "twin": ("field/test_twin.py", "field/test_simulating.py"),
    "agents": (
        "field/test_field_agents.py",
        f"{REDUCTIONS}a_schedule_without_changes_changes_no_bit",
        *(f"{REDUCTIONS}rules_that_forbid_nothing_change_no_bit[{HEDGE}-{name}]" for name in RULES),
        f"{REDUCTIONS}fine_codes_change_hardly_anything[{HEDGE}]",
        f"{REDUCTIONS}the_order_in_which_late_gradients_arrive_does_not_matter_for_sums",
        f"{REDUCTIONS}a_new_agent_begins_with_what_its_neighbours_know_in_common",
        "field/test_capacity.py::test_room_for_a_schedule_is_made_before_its_first_round",
        "field/test_capacity.py::test_peers_that_have_grown_by_halves_play_as_before",
        "field/test_capacity.py::test_room_is_made_one_array_at_a_time",
        "agents/test_learner_from_outside.py::test_it_plays_on_networks_that_change",
    ),
    "files and experiments": (
        "field/test_saved_field.py",
        "live/test_every_algorithm.py",
        f"{EXPERIMENTS}who_is_alone_waits_for_its_labels_as_all_others",
        f"{EXPERIMENTS}sharing_is_compared_with_who_bets_as_well_and_waits_as_long",
        f"{EXPERIMENTS}no_bound_is_claimed_in_the_field_but_for_learning_alone",
        f"{EXPERIMENTS}the_example_of_the_documents_is_a_file_that_runs",
        f"{EXPERIMENTS}the_chapter_of_the_paper_is_such_files",
    ),
}
PASSED = {"twin": 6, "agents": 44, "files and experiments": 126}


@pytest.mark.parametrize("group", COMPARISONS)
def test_all_learners_with_all_rates_do_uncompiled_what_some_do_compiled(group):
    """Infinities and what is no number pass without a word in compiled code; NumPy warns."""
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore::RuntimeWarning"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *COMPARISONS[group]],
        cwd=TESTS,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{PASSED[group]} passed" in done.stdout
