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
SOLVED, TURN, POOLED_ROWS = 17, 18, 19
"""Rows at which the ridges were solved, which neighbour swapped sums last, rows in the sums."""
NUMBERS = 20

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
TO_SHARED, TO_NOTHING, TO_SUMS = 0, 1, 2
"""Ridges on the agent's own rows, by what they are drawn to: the shared part of the slow filter,
nothing (alone), or the ridge on all sums that have reached the agent."""
LEVEL_AND_SLOPES, AROUND = 0, 1
SUMS_MEAN = FIRST_RIDGE + 3 * RIDGE_SIZE
VECTORS = SUMS_MEAN + 1

# Experts whose predictions are mixed.
ALONE_EXPERTS = FILTERS + 2
"""The two filters, the ridge, and the mean of the agent's targets."""
EXPERTS = FILTERS + 3
"""The two filters, the ridge drawn to the shared part, the one drawn to the sums, and alone."""
SUMS_EXPERT, ALONE_EXPERT = EXPERTS - 2, EXPERTS - 1
REGRET, SQUARES, LARGEST = 0, 1, 2

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
ROW = DRAWN_TO + 1
VECTORS_OF_A_ROUND = ROW + 1
# Places in `Scratch.number`.
SIDE_SHARED, SIDE_OWN = 0, 4
"""Of a scale that was looked up: its rows, spread, noise and what keeps levels apart."""
FETCHED = 8
"""For each filter: its prediction with neighbours, and 1 if what one contributes was shortened."""
NUMBERS_OF_A_ROUND = FETCHED + 2 * FILTERS
