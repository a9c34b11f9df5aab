"""What agents may be told, and what they compute with: all limits of neighbours' numbers.

A message with a number that no honest agent can have is refused where it arrives
(`message_checks.py` of `mtcool.learn`). Honest numbers may still be too large to compute with, for
targets and features may be as large as `OVERFLOW`: they are cut off where they are used
(`clamp.py`), so that sums of their products stay finite.
"""

from mtcool.learners.panel.constants import OVERFLOW

# Refused beyond these.
LARGEST_TOLD = 1e10 * OVERFLOW
"""Levels, slopes and gradients are smaller: targets and features are at most `OVERFLOW`."""
LARGEST_PRODUCT = LARGEST_TOLD**2
"""Of two numbers that may be told."""
ROUNDED = 1.000001
"""Products of two features may be larger than their squares allow by this factor."""
MOST_EVIDENCE = 1.0
"""An agent tells of no more, so that many neighbours decide, and no single one."""
# Cut off at these.
HUGE = 1e60
"""Numbers count as at most this, so that products of them and their squares stay finite."""
MOST_ROWS = 1e15
"""Rows that a neighbour may claim."""
