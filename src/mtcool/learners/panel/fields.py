"""Where the numbers of an agent stand in the arrays of a panel (`state.py`)."""

FILTERS = 2
"""Filters that run beside each other: a slow one and a fast one."""
SLOW = 0

# Numbers of an agent (`Panel.number`).
ROWS, LOWEST, HIGHEST = 0, 1, 2
"""Rows that it has learned from, and its smallest and largest target."""
SEEN, SPREAD, NOISE, APART, MISSED, MISSES = 0, 1, 2, 3, 4, 5
"""Of a scale: rows behind it, deviation of the target, the shares of its variance that are noise
and differences between the agents' levels; and the squared errors of the slow filter with their
number. `GRAPH` and `ALONE` say where they begin."""
SCALE_NUMBERS = 4
GRAPH, ALONE = 3, 9
WORST, BALANCE = 15, 16
"""Of the guard: the largest error of learning alone, and what sharing has won so far."""
SOLVED, BETWEEN = 17, 18
"""Rows at which the ridges were solved, and the variance between the levels of the neighbourhood's
agents over that within them, both given the features."""
STRAYS = 19
"""How many targets in a row have strayed from those before; negative if they lie below."""
EVIDENCE = 20
"""From here on: what the agent's own rows say about each expert, as logarithms of weights."""

# Numbers of an agent for each feature (`Panel.vector`); the first is the target's, or a level.
MEAN = 0
CENTRE, DEVIATION = 0, 1
"""Of a scale. `SHARED_SCALE` and `OWN_SCALE` say where they begin."""
SHARED_SCALE, OWN_SCALE = 1, 3
FIRST_FILTER, FILTER_SIZE = 5, 8
OWN, OWN_VARIANCE, CLIQUE, CLIQUE_VARIANCE, SHARED, PRECISION, BY_ITSELF, ITS_PRECISION = range(8)
"""Of a filter: the personal part; the part of the agent's clique, which its neighbours use as well;
the part that spreads over the network; and the filter that learns alone."""
FIRST_RIDGE, RIDGE_SIZE = FIRST_FILTER + FILTERS * FILTER_SIZE, 2
TO_SHARED, TO_ITSELF, TO_NEIGHBOURS = 0, 1, 2
"""Ridges on the agent's own rows, by what they are drawn to: the shared part of the slow filter,
the slow filter that learns alone, or the regression on all rows of the neighbourhood."""
LEVEL_AND_SLOPES, AROUND = 0, 1
VECTORS = FIRST_RIDGE + 3 * RIDGE_SIZE

# Experts whose predictions are mixed.
ALONE_EXPERTS = FILTERS + 2
"""The two filters, the ridge, and the mean of the agent's targets."""
EXPERTS = FILTERS + 3
"""The two filters, the ridge drawn to the shared part, the one drawn to the neighbours' rows where
rows are shared, and alone, which is the last."""
REGRET, SQUARES, LARGEST = 0, 1, 2
NUMBERS = EVIDENCE + EXPERTS

# What was said of a row when it was predicted.
SAID_PLAYED, SAID_ALONE, SAID_EXPERTS = 0, 1, 2
SAID_BY_ITSELF = SAID_EXPERTS + EXPERTS
SAID = SAID_BY_ITSELF + ALONE_EXPERTS
"""Numbers of a row: the prediction, that of learning alone, those of all experts of either."""

# Numbers of an entry (`Panel.link`).
LISTENS, ACCOUNT = 0, 1
"""Whether the agent still listens to this neighbour, and what the neighbour may cost it."""

# Rows of `Scratch.vector`.
X_SHARED, X_OWN = 0, 1
SCALE_SHARED, SCALE_OWN = 2, 4
FIRST_FETCHED = 6
"""For each filter: the shared part of the neighbourhood, and its variance."""
FIRST_LESSON = FIRST_FETCHED + 2 * FILTERS
"""For each filter: what its neighbours' cliques learn from the row."""
SOLUTION = FIRST_LESSON + 2 * FILTERS
DRAWN_TO = SOLUTION + 1
POOLED_MEAN = DRAWN_TO + 1
VECTORS_OF_A_ROUND = POOLED_MEAN + 1
# Places in `Scratch.number`.
SIDE_SHARED, SIDE_OWN = 0, 4
"""Of a scale that was looked up: its rows, spread, noise and what keeps levels apart."""
FETCHED = 8
"""For each filter: its prediction with neighbours, and 1 if what one contributes was shortened."""
NUMBERS_OF_A_ROUND = FETCHED + 2 * FILTERS
