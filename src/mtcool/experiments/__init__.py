"""Experiments that a file or a dictionary describes: `run` runs one, as `mtcool run` does.

In the order in which they are used:

- `files/`: what may be in a file (`spec`), reading it (`loading`), what must go together
  (`checks`), what its names stand for (`named`), keeping it (`inputs`, `toml`); what files of live
  networks have as well is in `mtcool.config`;
- `running/`: the graph, stream and networks of a point (`build`, `private`), the unit of work
  (`cells`, `instance`), where it runs (`engines`), what is on disk (`store`), and a whole run or
  the rest of one (`runner`); `suite` and the files in `paper/` are `mtcool paper`;
- `report/`: the numbers (`results`, `tables`), pictures and sentences, one page (`report`), and
  what a program gets (`outcome`);
- `output.py` writes files; `api.py` is all of it.
"""

from typing import TYPE_CHECKING

from mtcool.lazy import attach

if TYPE_CHECKING:
    from mtcool.experiments.api import run
    from mtcool.experiments.report.outcome import Outcome
else:  # figures and reports take time to import, and who only reads files does not need them
    __getattr__, __dir__ = attach(__name__, {"report.outcome": ("Outcome",), "api": ("run",)})

__all__ = ["Outcome", "run"]
