"""The table of all variants, in Markdown."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from benchmarks.learn.ablation.variants import CHANGED, FULL, PARTS, Variant

Losses: TypeAlias = Mapping[str, Sequence[float]]
"""For each stream the loss of a variant, and that of learning alone in it."""
WORTH = 0.0005
"""A part whose absence costs less than this, on the mean, does not pay on these streams."""


class Ratio(NamedTuple):
    """Losses relative to those of the full learner."""

    mean: float
    """Geometric mean over the streams."""
    worst: float
    where: str
    """The stream with the largest ratio."""


def ratio_of(losses: Mapping[str, float], full: Losses) -> Ratio:
    """Compare the losses of a variant with the full learner's."""
    ratios = {name: losses[name] / full[name][0] for name in full}
    mean = math.exp(sum(math.log(ratio) for ratio in ratios.values()) / len(ratios))
    where = max(ratios, key=ratios.__getitem__)
    return Ratio(mean, ratios[where], where)


def as_markdown(found: Mapping[str, Losses]) -> str:
    """Both tables: parts left out, and constants changed threefold."""
    full = found[FULL.name]
    losses = ", ".join(f"{name} {loss:.4f}" for name, (loss, _) in full.items())
    lines = [
        f'NMSE of the learner with `share="rows"`: {losses}.',
        "",
        "| left out | mean | worst | on | verdict |",
        "|---|--:|--:|---|---|",
    ]
    lines += [_part(variant.name, _played(found[variant.name]), full) for variant in PARTS]
    lines.append(_part("all sharing (alone)", _alone(full), full))
    lines += ["", "| constant | × 3: mean | worst | ÷ 3: mean | worst |", "|---|--:|--:|--:|--:|"]
    pairs = zip(CHANGED[::2], CHANGED[1::2], strict=True)
    lines += [_constant(larger, smaller, found) for larger, smaller in pairs]
    return "\n".join(lines) + "\n"


def _played(losses: Losses) -> dict[str, float]:
    return {name: both[0] for name, both in losses.items()}


def _alone(losses: Losses) -> dict[str, float]:
    return {name: both[1] for name, both in losses.items()}


def _part(name: str, losses: Mapping[str, float], full: Losses) -> str:
    ratio = ratio_of(losses, full)
    return f"| {name} | {ratio.mean:.4f} | {ratio.worst:.4f} | {ratio.where} | {_verdict(ratio)} |"


def _verdict(ratio: Ratio) -> str:
    if ratio.mean >= 1.0 + WORTH:
        return "pays"
    if ratio.worst >= 1.0 + WORTH:
        return f"pays on {ratio.where} only"
    return "does not pay here" if ratio.mean > 1.0 - WORTH else "costs here"


def _constant(larger: Variant, smaller: Variant, found: Mapping[str, Losses]) -> str:
    full = found[FULL.name]
    up, down = (ratio_of(_played(found[variant.name]), full) for variant in (larger, smaller))
    name = larger.name.split()[0]
    return f"| `{name}` | {up.mean:.4f} | {up.worst:.4f} | {down.mean:.4f} | {down.worst:.4f} |"
