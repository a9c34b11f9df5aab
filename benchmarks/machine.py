"""What the numbers were measured on."""

import os
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path


def machine(packages: Iterable[str]) -> dict[str, str]:
    """Processor, cores, system and versions; no date."""
    return {
        "CPU": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")
