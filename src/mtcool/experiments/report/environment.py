"""What the results were made with: versions and machine."""

import os
import platform
from importlib.metadata import version
from typing import Any

PACKAGES = ("mtcool", "numpy", "numba", "llvmlite", "scipy", "networkx", "joblib", "matplotlib")


def environment() -> dict[str, Any]:
    """Versions and machine, as plain values.

    Examples
    --------
    >>> environment()["packages"]["mtcool"] == version("mtcool")
    True
    """
    return {
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }
