"""The scripts in `examples/` are short, and answer their questions at a small size, too."""

import importlib.util
import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def answer(name, capsys, **sizes):
    """Run a script; returns the numbers that it prints."""
    matplotlib.use("Agg")
    plt.close("all")
    found = importlib.util.spec_from_file_location(f"recipe_{name}", FOLDER / f"{name}.py")
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    picture = sizes["picture"]
    script.main(**sizes)
    plt.close("all")
    assert picture.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    return [float(one.replace(",", "")) for one in re.findall(r"[-+]?\d[\d,]*\.?\d*", printed)]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_recipe_is_at_most_forty_lines(script):
    assert len(script.read_text().splitlines()) <= 40


def test_there_is_a_recipe_for_each_question():
    asked = ["clinics", "flights", "hostile", "million", "schools", "sensors"]
    assert [script.stem for script in SCRIPTS] == asked


def test_stations_that_listen_forecast_well_sooner(tmp_path, capsys):
    sizes = {"stations": 30, "days": 40, "picture": tmp_path / "a.png"}
    together, _, _, _, alone, *_, size = answer("sensors", capsys, **sizes)
    assert together < alone
    assert size > 0


def test_most_schools_gain(tmp_path, capsys):
    ratio, gain, schools, median = answer(
        "schools", capsys, pupils=3000, picture=tmp_path / "a.png"
    )
    assert ratio < 1
    assert gain > schools / 2
    assert median > 0


def test_targets_that_come_late_cost(tmp_path, capsys):
    late, _, at_once, _ = answer("flights", capsys, rows=4000, picture=tmp_path / "a.png")
    assert at_once < late


def test_honest_agents_gain_without_and_lose_little_with_hostile_ones(tmp_path, capsys):
    sizes = {"agents": 30, "rounds": 6000, "picture": tmp_path / "a.png"}
    numbers = answer("hostile", capsys, **sizes)
    errors = numbers[1::2]
    assert errors[0] < 1
    assert max(errors) < 1.15


def test_privacy_is_worth_it_from_some_level_on(tmp_path, capsys):
    alone, openly, *levels, left = answer(
        "clinics", capsys, rounds=4000, picture=tmp_path / "a.png"
    )
    regrets = levels[1::2]
    assert openly < alone
    assert regrets[-1] < regrets[0]
    assert left > 0


def test_many_agents_with_few_rounds_gain(tmp_path, capsys):
    together, _, alone, *_ = answer("million", capsys, agents=3000, picture=tmp_path / "a.png")
    assert together < alone
