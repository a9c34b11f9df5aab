"""Experiments from files, on the public API only.

In the order in which they are used: `spec` (the file, checked; `complaints` says what is wrong),
`build` (graph, stream and networks of a point), `cells` (the unit of work), `engines` (where cells
run), `store` (cells on disk), `runner` (all of it, resumed), `results` (the numbers), `tables`,
`figures`, `findings` (words), `promises` with `theory_table` and `theory_figure` (bounds next to
the measured regret), `report`. `suite` and the files in `paper/` are `mtcool paper`.
"""
