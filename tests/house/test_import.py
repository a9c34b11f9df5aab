"""Importing mtcool takes little time: what only some need is imported when they need it."""

import subprocess
import sys

LATER = ("joblib", "matplotlib", "pandas", "rich", "scipy.optimize", "scipy.stats", "scipy.special")


def test_heavy_parts_are_imported_when_they_are_needed():
    show = f"import sys, mtcool; print(*(name for name in {LATER} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
