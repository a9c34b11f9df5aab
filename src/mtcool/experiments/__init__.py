"""Experiments from files, on the public API only.

In the order in which they are used: `spec` (the tables of the file), `loading` (the file, read and
multiplied out; `checks` and `complaints` say what is wrong), `build` and `private` (graph, stream
and networks of a point), `cells` (the unit of work), `engines` (where cells run), `store` (cells on
disk), `runner` (all of it, resumed), `results` (the numbers), `cutoff` (where sharing starts to
pay), `tables`, `figures`, `findings` (words), `promises` with `theory_table` and `theory_figure`
(bounds next to the measured regret), `report`. `suite` and the files in `paper/` are
`mtcool paper`.
"""
