"""The ablation of the learner: variants change what they say, and the table says who pays."""

import sys

import pytest
from benchmarks.learn.ablation.__main__ import BEGIN, END, run_alone, with_table
from benchmarks.learn.ablation.table import as_markdown, ratio_of
from benchmarks.learn.ablation.variants import CHANGED, FULL, NAMES, PARTS, VARIANTS

from mtcool.learners.panel import constants

FULL_LOSSES = {"births": [0.2, 0.4], "schools": [0.5, 0.5]}


def test_every_constant_is_changed_both_ways():
    assert len(CHANGED) == 2 * len(NAMES)
    for name, larger, smaller in zip(NAMES, CHANGED[::2], CHANGED[1::2], strict=True):
        assert larger.values == {f"constants.{name}": 3.0 * getattr(constants, name)}
        assert smaller.values == {f"constants.{name}": getattr(constants, name) * (1 / 3)}


def test_variants_name_what_is_there():
    import importlib

    from benchmarks.learn.ablation import swaps

    assert len(VARIANTS) == 1 + len(PARTS) + len(CHANGED)
    for variant in VARIANTS.values():
        for place in variant.values:
            module, name = place.split(".")
            assert hasattr(importlib.import_module(f"mtcool.learners.panel.{module}"), name)
        assert not variant.swap or callable(getattr(swaps, variant.swap))


def test_ratios_are_geometric_means_and_name_the_worst():
    ratio = ratio_of({"births": 0.1, "schools": 1.0}, FULL_LOSSES)
    assert ratio == (pytest.approx(1.0), 2.0, "schools", pytest.approx(1.0))


def test_the_mean_of_the_large_streams_leaves_out_the_panels():
    ratio = ratio_of({"births": 0.4, "farms": 0.5}, {"births": [0.2, 0.4], "farms": [1.0, 1.0]})
    assert ratio == (pytest.approx(1.0), 2.0, "births", pytest.approx(2.0))


def test_the_table_says_what_does_not_pay():
    found = dict.fromkeys(VARIANTS, FULL_LOSSES)
    found[PARTS[0].name] = {"births": [0.3, 0.4], "schools": [0.5, 0.5]}
    found[PARTS[1].name] = {"births": [0.1, 0.4], "schools": [0.5, 0.5]}
    lines = as_markdown(found).splitlines()
    by_name = {line.split(" | ")[0].strip("| "): line for line in lines if line.startswith("| ")}
    assert by_name[PARTS[0].name].endswith("| 1.2247 | 1.5000 | births | 1.2247 | pays |")
    assert by_name[PARTS[1].name].endswith("| costs here |")
    assert by_name[PARTS[2].name].endswith("| does not pay here |")
    assert "1.4142" in by_name["all sharing (alone)"]
    assert f"`{NAMES[-1]}`" in by_name


def test_the_table_goes_between_its_marks_and_nowhere_else():
    page = with_table(f"before\n{BEGIN}old\n{END}after\n", "| new |\n")
    assert page == f"before\n{BEGIN}\n| new |\n\n{END}after\n"
    assert with_table(page, "| new |\n") == page
    with pytest.raises(ValueError, match="page must have the lines"):
        with_table("no marks", "")


def test_a_variant_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ChildProcessError, match=r"the learner \(rows\)"):
        run_alone(FULL.name, quick=True)
