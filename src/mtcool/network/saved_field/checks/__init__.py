"""Refuse forms that no network could have been in: compiled code trusts what it reads.

`shapes.py` looks at types and lengths, `entries.py` at agents and edges, `cliques.py` at slots,
bounds and sums, `under_way.py` at messages and labels, `memory.py` at what agents remember of their
neighbours, and `learner.py` at what cliques know. Each relies on those before it.
"""
