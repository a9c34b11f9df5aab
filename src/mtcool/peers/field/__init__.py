"""Peers in the field: graphs that change, few messages, small messages, late and lost ones.

The round is that of the paper, with the weights of the round. `records.py` says what is kept,
`rounds.py` plays the five steps, `partners.py` chooses whom to ask and fetches their rows,
`learning.py` lets cliques learn, `latency.py` says how long messages take, `queue.py` carries what
is late, `labels.py` rounds without a label, `entries.py` and `events.py` change the graph,
`capacity.py` and `making.py` provide the arrays, `exchange.py` is the door for Python.
`docs/networks-as-they-are.md` explains all of it.
"""
