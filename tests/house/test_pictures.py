"""The pictures of `docs/explain` can be drawn, and show what their pages say; here in small."""

from pathlib import Path

import numpy as np
import pytest
from docs.pictures import (
    PICTURES,
    clique,
    epsilon,
    likeness,
    lipschitz,
    one_gradient,
    one_round,
    private_sharing,
    sharing,
)
from docs.pictures.__main__ import EXPLAIN, with_numbers

LARGEST = 150_000  # bytes of a picture
QUICK = ("one-round", "one-gradient", "clique", "likeness")
"""Those that are measured in a few seconds as they are on their pages."""


def drawn(picture, measured):
    """Draw it to the last line, and say its numbers."""
    picture.draw(measured).draw_without_rendering()
    assert picture.words(measured)
    return measured


def test_the_yard_predicts_the_average_and_all_neighbours_are_told():
    played = drawn(one_round, one_round.measure())
    assert played.prediction == pytest.approx(np.mean(list(played.models.values())))
    assert set(played.told) == set(one_round.NEIGHBOURS)
    sent = [gradient * played.lipschitz for gradient in played.told.values()]
    assert sent == pytest.approx([played.gradient] * 3)


def test_the_active_row_moves_twice_as_far_unless_all_rows_must_be_equal():
    equal, *others = drawn(one_gradient, one_gradient.measure()).models
    assert equal == pytest.approx([equal[0]] * 4)
    for active, *rest in others:
        assert rest == pytest.approx([active / 2] * 3)


def test_models_of_alike_tasks_move_together_and_those_of_unlike_tasks_part():
    worlds = drawn(clique, clique.measure(rounds=300))
    alike, unlike = worlds.alike, worlds.unlike
    before = worlds.silent - 1
    assert alike.models[before, 3] > 0.5 * alike.tasks[3]  # it was never active
    assert unlike.models[before, 3] < 0.0 < unlike.models[-1, 3]
    assert np.ptp(alike.models[-1]) < 0.2
    assert np.ptp(unlike.models[-1]) > 0.8
    assert unlike.weights[-1, 0] < 0.8 / 3 < alike.weights[-1, 0]


def test_sharing_pays_above_some_epsilon_and_the_published_noise_never():
    levels = (0.1, 1.0, 100.0)
    small = {"levels": levels, "sizes": (12,), "lengths": (100, 200)}
    found = drawn(epsilon, epsilon.measure(rounds=200, replicates=2, **small))
    for name, ratios in found.private.items():
        assert ratios[0] > 1.0, name
        assert (ratios[-1] > 1.0) == (name == epsilon.PUBLISHED)
    assert found.promised[12][0] > found.promised[12][1]
    assert (found.cutoffs[12] > 0.1).all()


def test_an_l_that_is_too_small_or_too_large_costs_and_adaptive_does_not():
    given = (0.1, 5.0, 100.0)
    found = drawn(lipschitz, lipschitz.measure(rounds=60, replicates=2, given=given))
    small, right, large = found.regret["sharing"]
    assert right < found.adaptive["sharing"] < min(small, large)
    assert found.clipped[0] > 0.9
    assert found.clipped[1:].max() == 0.0
    assert found.longest < found.bound


def test_sharing_pays_in_the_corner_of_equal_tasks_and_costs_in_that_of_strangers():
    few = {"shares": (0.0, 1.0), "rounds": (10, 30), "others": (1.0,)}
    found = drawn(sharing, sharing.measure(agents=12, neighbours=(2, 11), replicates=2, **few))
    for ratios in found.ratios.values():
        assert ratios[:, 0].max() < 0.8
    assert found.ratios[11][:, 1].min() > 1.0
    assert 0.0 < found.borders[2] < 1.0


def test_little_privacy_leaves_the_gain_and_much_takes_it():
    few = {"shares": (0.0, 1.0), "levels": (0.3, 30.0)}
    measured = private_sharing.measure(agents=6, rounds=60, replicates=2, **few)
    much, little, none = drawn(private_sharing, measured).ratios
    assert (much > 1.0).all()
    assert none[0] < 1.0 < none[1]
    assert none[0] < little[0] < 1.0
    assert measured.cutoffs[0] < measured.cutoffs[1]


def test_the_learner_gains_from_neighbours_that_are_alike():
    few = {"rows": (30,), "shares": (0.0, 1.0), "replicates": 2}
    found = drawn(likeness, likeness.measure(agents=12, **few))
    alike, unlike = found.change[0]
    assert alike < -0.2
    assert alike < unlike < 0.3


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_lies_beside_its_page_with_its_numbers(name):
    page = (EXPLAIN / PICTURES[name].PAGE).read_text()
    assert f"]({name}.png)" in page
    assert 0 < (EXPLAIN / f"{name}.png").stat().st_size < LARGEST
    block = page.partition(f"<!-- {name}: begin -->")[2].partition("<!--")[0]
    assert block.strip()


@pytest.mark.parametrize("name", QUICK)
def test_the_numbers_on_a_page_are_those_that_are_measured(name):
    picture = PICTURES[name]
    page = (EXPLAIN / picture.PAGE).read_text()
    assert with_numbers(page, name, "\n".join(picture.words(picture.measure()))) == page


def test_every_picture_is_made_by_a_module():
    found = {path.stem for path in Path(EXPLAIN).glob("*.png")}
    assert found == set(PICTURES)


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="page must have the lines"):
        with_numbers("# A page\n", "clique", "1")
