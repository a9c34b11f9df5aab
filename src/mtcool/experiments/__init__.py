"""Experiments from files, on the public API only.

In the order in which they are used: `spec` (the tables of the file), `loading` (the file, read and
multiplied out; `checks` and `complaints` say what is wrong), `build` and `private` (graph, stream
and networks of a point), `cells` (what is run and stored as a whole), `engines` (where cells
run), `store` (cells on disk), `runner` (all of it, resumed), `results` (the numbers), `cutoff`
(where sharing starts to pay), `tables`, `figures`, `findings` (words), `promises` with
`theory_table`, `theory_figure` and `bound_curves` (bounds next to the measured regret), `panels`
(bounds over time, agent by agent), `report`. `suite` and the files in `paper/` are `mtcool paper`.
"""
