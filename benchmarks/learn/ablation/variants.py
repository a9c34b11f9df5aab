"""The variants of the learner: one part left out, or one constant changed threefold."""

from dataclasses import dataclass, field
from typing import Literal

from mtcool.learners.panel import constants

NONE, HUGE = 1e-12, 1e12
FACTOR = 3.0


@dataclass(frozen=True)
class Variant:
    """The learner with some of its values, or one of its functions, replaced."""

    name: str
    values: dict[str, float] = field(default_factory=dict)
    """New values by "module.NAME", of the modules of `mtcool.learners.panel`."""
    swap: str = ""
    """The function of `swaps.py` that is called before anything is compiled."""
    share: Literal["rows", "gradients"] = "rows"


FULL = Variant("the learner (rows)")


def _constants(**values: float) -> dict[str, float]:
    return {f"constants.{name}": value for name, value in values.items()}


def _drifts(slow: float, fast: float) -> dict[str, float]:
    return _constants(SLOW_DRIFT=slow, FAST_DRIFT=fast)


PARTS = (
    Variant("no regression of the neighbourhood (gradients)", share="gradients"),
    Variant("regression without levels of agents", swap="levels_alike"),
    Variant("no regression before the first row", swap="slow_at_first"),
    Variant("no hearsay", _constants(HEARSAY=0.0)),
    Variant("experts and guard judged by fresh predictions", swap="nothing_kept"),
    Variant("shared part that does not travel", {"filters.LONGEST_STEP": 0.0}),
    Variant(
        "no personal part", _constants(PERSONAL_VARIANCE=NONE, PERSONAL_SHARE=0.0, PART_DRIFT=0.0)
    ),
    Variant("no clique part", _constants(CLIQUE_PRIOR=NONE), swap="no_lessons"),
    Variant(
        "neither personal nor clique part",
        _constants(PERSONAL_VARIANCE=NONE, PERSONAL_SHARE=0.0, CLIQUE_PRIOR=NONE, PART_DRIFT=0.0),
    ),
    Variant("both filters slow", _drifts(constants.SLOW_DRIFT, constants.SLOW_DRIFT)),
    Variant("both filters fast", _drifts(constants.FAST_DRIFT, constants.FAST_DRIFT)),
    Variant("no drift", _drifts(0.0, 0.0)),
    Variant("own scale in place of the neighbourhood's", swap="own_scale"),
    Variant("differences between levels assumed, not measured", swap="assumed_levels"),
    Variant("no ridges", swap="no_ridges"),
    Variant("no ridge for alone", swap="no_ridge_alone"),
    Variant("slopes of ridges drawn to nothing", _constants(RIDGE_VARIANCE=HUGE)),
    Variant("slopes of ridges not from own rows", _constants(RIDGE_VARIANCE=NONE)),
    Variant("alone's ridge drawn to nothing", swap="alone_drawn_to_nothing"),
    Variant("alone drifts as the others do", _constants(ALONE_DRIFT=1.0)),
    Variant("no mean among alone's experts", {"fields.ALONE_EXPERTS": 3}),
    Variant("alone not in the mixture", _constants(ALONE_SHARE=NONE)),
    Variant("no guard", _constants(CREDIT=HUGE)),
    Variant("no accounts", _constants(TRUST=HUGE)),
    Variant("unit of few rows from neighbours only", swap="unit_of_neighbours"),
    Variant("predictions not kept within own range", swap="any_range"),
    Variant("first predictions not kept within neighbours' range", {"guard.FRESH_ROWS": 0.0}),
    Variant("range of first predictions without own targets", swap="range_of_others"),
    Variant("wild targets taken as they are", {"filters.WILD": HUGE, "scaling.SURE_ROWS": HUGE}),
    Variant("neighbours' steps of any length", {"filters.LONGEST_STEP": HUGE}),
)
"""Leave one out."""

NAMES = tuple(name for name in vars(constants) if name.isupper() and name != "OVERFLOW")
CHANGED = tuple(
    Variant(f"{name} {sign} {FACTOR:g}", _constants(**{name: getattr(constants, name) * factor}))
    for name in NAMES
    for sign, factor in (("×", FACTOR), ("÷", 1.0 / FACTOR))
)
"""Each constant, larger and smaller."""

VARIANTS = {variant.name: variant for variant in (FULL, *PARTS, *CHANGED)}
