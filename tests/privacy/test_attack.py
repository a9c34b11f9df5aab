"""A likelihood-ratio attack from outside on victims with many experts and levels of their own."""

import csv

import pytest
from tests.attack_privacy import CASES, TABLE, attack

RUNS = 10_000
NEAR = 0.4
"""The share of epsilon above which so few runs see enough; a million see 0.8 of it."""


@pytest.mark.parametrize("number", [0, 3])
def test_a_victim_gives_away_what_it_promises_and_no_more(number):
    case = CASES[number]
    assert NEAR * case.epsilon < attack(case, RUNS, seed=number) <= case.epsilon


def test_an_attack_finds_half_of_the_noise():
    assert attack(CASES[0], RUNS, halved=True) > CASES[0].epsilon


def test_the_page_has_what_a_million_runs_have_found():
    page = (TABLE.parents[1] / "privacy.md").read_text()
    with TABLE.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["case"] for row in rows] == [case.name for case in CASES]
    for row in rows:
        lower, halved = float(row["lower"]), float(row["lower_half_noise"])
        assert 0.7 < lower / float(row["epsilon"]) <= 1.0 < halved / float(row["epsilon"])
        assert f"| {lower:.3f} | {halved:.3f} |" in page
