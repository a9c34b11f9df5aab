"""Play the development streams with one variant: its name in, losses as JSON out.

A process of its own, because values and functions are compiled into the kernel.
"""

import importlib
import json
import sys

from benchmarks.learn.ablation.variants import VARIANTS, Variant


def change(variant: Variant) -> None:
    """Put the values of a variant in place, constants first: the other modules copy them."""
    places = [(*place.split("."), value) for place, value in variant.values.items()]
    for module, name, value in sorted(places, key=lambda place: place[0] != "constants"):
        setattr(importlib.import_module(f"mtcool.learners.panel.{module}"), name, value)
    if variant.swap:
        getattr(importlib.import_module("benchmarks.learn.ablation.swaps"), variant.swap)()


def losses(variant: Variant, quick: bool) -> dict[str, list[float]]:
    """NMSE of the variant and of learning alone on each stream, means over its orders."""
    from benchmarks.learn import ours
    from benchmarks.learn.panels import PANELS, panel
    from benchmarks.learn.problem import STREAMS, problems

    found = {}
    for name in (*STREAMS, *PANELS):
        pairs = []
        for problem in problems(name, quick) if name in STREAMS else panel(name, quick):
            played = ours.play(problem, variant.share)
            pairs.append([problem.loss(played.prediction), problem.loss(played.alone)])
        found[name] = [sum(column) / len(pairs) for column in zip(*pairs, strict=True)]
    return found


if __name__ == "__main__":
    chosen = VARIANTS[sys.argv[1]]
    change(chosen)
    print(json.dumps(losses(chosen, quick="--quick" in sys.argv[2:])))
