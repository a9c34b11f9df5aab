"""Thousands of schedules of disasters: `make disasters`; `--seed 17` plays one of them again."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed

from live.forgetful import Forgetful
from live.networks import NETWORKS
from live.world import World

CHUNK = 100
FORGETFUL = {f"forgetful_{kind}": kind for kind in ("ring", "shards", "private", "changing")}
"""Kinds of networks in which hosts also begin again from older disks."""
KINDS = [*NETWORKS, *FORGETFUL]


def play(kind: str, seed: int) -> str | None:
    """Play one schedule; returns what went wrong."""
    if kind in FORGETFUL:
        world: World = Forgetful(seed, NETWORKS[FORGETFUL[kind]]())
    else:
        world = World(seed, NETWORKS[kind]())
    try:
        world.run()
        world.check()
    except Exception as error:  # whatever it is, the seed must be told
        return f"{kind} seed {seed}: {type(error).__name__}: {error}"[:500]
    return None


def play_many(kind: str, seeds: Iterable[int]) -> list[str]:
    """Play some schedules; returns what went wrong."""
    return [found for seed in seeds if (found := play(kind, seed)) is not None]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--schedules", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--seed", type=int, help="play this one alone")
    asked = parser.parse_args()
    kinds = [asked.kind] if asked.kind else KINDS
    if asked.seed is not None:
        found = [one for kind in kinds for one in play_many(kind, [asked.seed])]
        sys.exit("\n".join(found) or None)
    began, done, found = time.perf_counter(), 0, []
    each = -(-asked.schedules // len(kinds))
    chunks = [
        (kind, range(k, min(k + CHUNK, each))) for k in range(0, each, CHUNK) for kind in kinds
    ]
    with ProcessPoolExecutor(asked.workers) as pool:
        for job in as_completed([pool.submit(play_many, *chunk) for chunk in chunks]):
            found += job.result()
            done += 1
            took = time.perf_counter() - began
            print(f"\r{done * CHUNK} schedules, {len(found)} failed, {took:.0f} s", end="")
    print(f"\n{each * len(kinds)} schedules of {', '.join(kinds)} in {took:.0f} s")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
