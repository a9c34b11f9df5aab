"""What makes benchmarks a suite: their names, in the order in which they run, and their page."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType


@dataclass(frozen=True)
class Suite:
    """Benchmarks that run together."""

    benchmarks: Mapping[str, ModuleType]
    purpose: str
    """One sentence for the command's help."""
    document: str
    """The page in `docs`."""
    title: str
    introduction: str
    packages: tuple[str, ...]
    """Those whose versions matter."""

    def explanation(self, name: str) -> str:
        """What a benchmark measures, and against what: the text at the head of its file."""
        return inspect.getdoc(self.benchmarks[name]) or ""
