"""The table of all variants, in Markdown."""

from collections.abc import Mapping, Sequence
from statistics import geometric_mean
from textwrap import fill
from typing import NamedTuple, TypeAlias

from benchmarks.learn.ablation.variants import CHANGED, FULL, PARTS, Variant

Losses: TypeAlias = Mapping[str, Sequence[float]]
"""For each stream the loss of a variant, and that of learning alone in it."""
LARGE = ("births", "flights", "schools")
"""Streams with many rows an agent and graphs of their own; the others are small panels."""
WORTH = 0.0005
"""A part whose absence costs less than this, on the mean, does not pay on these streams."""


HEADER = "| constant | × 3: mean | worst | mean of three | ÷ 3: mean | worst | mean of three |"


class Ratio(NamedTuple):
    """Losses relative to those of the full learner."""

    mean: float
    """Geometric mean over the streams."""
    worst: float
    where: str
    """The stream with the largest ratio."""
    large: float
    """Geometric mean over the large streams alone."""


def ratio_of(losses: Mapping[str, float], full: Losses) -> Ratio:
    """Compare the losses of a variant with the full learner's."""
    ratios = {name: losses[name] / full[name][0] for name in full}
    where = max(ratios, key=ratios.__getitem__)
    large = [ratio for name, ratio in ratios.items() if name in LARGE]
    return Ratio(geometric_mean(ratios.values()), ratios[where], where, geometric_mean(large))


def as_markdown(found: Mapping[str, Losses]) -> str:
    """Both tables: parts left out, and constants changed threefold."""
    full = found[FULL.name]
    losses = ", ".join(f"{name} {loss:.4f}" for name, (loss, _) in full.items())
    lines = [
        fill(f'NMSE of the learner with `share="rows"`: {losses}.', 120),
        "",
        "| left out | mean | worst | on | mean of three | verdict |",
        "|---|--:|--:|---|--:|---|",
    ]
    lines += [_part(variant.name, _played(found[variant.name]), full) for variant in PARTS]
    lines.append(_part("all sharing (alone)", _alone(full), full))
    lines += ["", HEADER, "|---" + "|--:" * 6 + "|"]
    pairs = zip(CHANGED[::2], CHANGED[1::2], strict=True)
    lines += [_constant(larger, smaller, found) for larger, smaller in pairs]
    return "\n".join(lines) + "\n"


def _played(losses: Losses) -> dict[str, float]:
    return {name: both[0] for name, both in losses.items()}


def _alone(losses: Losses) -> dict[str, float]:
    return {name: both[1] for name, both in losses.items()}


def _part(name: str, losses: Mapping[str, float], full: Losses) -> str:
    ratio = ratio_of(losses, full)
    shown = f"{ratio.mean:.4f} | {ratio.worst:.4f} | {ratio.where} | {ratio.large:.4f}"
    return f"| {name} | {shown} | {_verdict(ratio)} |"


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
    shown = [f"{one.mean:.4f} | {one.worst:.4f} | {one.large:.4f}" for one in (up, down)]
    return f"| `{name}` | {shown[0]} | {shown[1]} |"
