"""Experiments from files, on the public API only: `run` is the way in, `mtcool run` in a program.

In the order in which they are used: `spec` (the tables of the file), `loading` (the file, read and
multiplied out; `checks` and `complaints` say what is wrong), `named` and `outside` (what the names
in a file stand for), `build` and `private` (graph, stream and networks of a point), `cells` (the
unit of work), `instance` (what a cell keeps of its problem), `engines` (where cells run), `store`
(cells on disk), `runner` (all of it, resumed), `results` (the numbers), `cutoff` (where sharing
starts to pay), `tables`, `figures`, `findings` (words), `promises` with `theory_table` and
`theory_figure` (bounds next to the measured regret), `report`, `outcome`. `whole` is all of it;
`suite` and the files in `paper/` are `mtcool paper`.
"""

from mtcool.experiments.whole import run

__all__ = ["run"]
