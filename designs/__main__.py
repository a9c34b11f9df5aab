"""Find BLT's coefficients again and compare them with those of the package: python -m designs."""

import sys

from designs.blt import find_design, largest_error
from mtcool.privacy.aggregators.blt import DESIGNS

SAME = 1e-9  # relative difference of the errors


def main() -> None:
    """Print every design as it is found; end with status 1 if the package has a worse one."""
    wrong = False
    for n, committed in DESIGNS.items():
        buffers = len(committed.theta)
        print(f"{n:,} activations, {buffers} buffers ...", flush=True)
        found = find_design(n, buffers)
        error = largest_error(committed, n)
        wrong = wrong or abs(error / found.error - 1.0) > SAME
        print(f"  theta    {', '.join(map(repr, found.recurrence.theta))}")
        print(f"  coupling {', '.join(map(repr, found.recurrence.coupling))}")
        print(f"  largest error {found.error:.9f}; of the package's coefficients {error:.9f}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
