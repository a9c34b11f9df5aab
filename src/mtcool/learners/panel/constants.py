"""The constants of the learner for panels.

They were chosen on the streams births, flights and schools and on ten small panels, where the mean
error changes by less than five per cent when one of them is changed threefold (`docs/learning.md`).
Variances are in units of the target's variance, for features that are scaled to variance one.
"""

PERSONAL_VARIANCE = 0.03
"""How much an agent's level differs from its neighbours', beforehand."""
PERSONAL_SHARE = 0.3
"""The same as a share of the differences between levels that are seen in the neighbourhood."""
CLIQUE_PRIOR = 0.003
"""The same for the part that a neighbourhood shares."""
SLOPE_SHARE = 1 / 30
"""Slopes differ less than levels do, by this factor."""
SLOPE_VARIANCE = 0.1
"""Of the slopes, beforehand."""
SLOW_DRIFT, FAST_DRIFT = 0.0003, 0.003
"""How much a level changes from row to row in the two filters."""
SLOPE_DRIFT = 0.001
"""Slopes drift less than levels do, by this factor."""
PART_DRIFT = 0.1
"""Personal parts and cliques drift less than what all share, by this factor."""
RIDGE_VARIANCE = 0.01
"""How far the slopes of ridges that share may be from what they are drawn to."""
RIDGE_LEVEL_VARIANCE = 0.1
"""The same for their level, until differences between levels have been seen."""
POOLED_VARIANCE = 0.3
"""Of the slopes of the regression on all rows of a neighbourhood."""
ALONE_DRIFT = 3.0
"""How much more learning alone drifts: it has one part where sharing has three that drift."""
HEARSAY = 0.1
"""How much of a neighbour's evidence about the experts counts."""
ALONE_SHARE = 0.1
"""Weight that learning alone has in the mixture at first."""
CREDIT = 6.0
"""What sharing may cost an agent, in variances of its targets."""
TRUST = 10.0
"""What a neighbour may cost an agent, in the same unit."""
OVERFLOW = 1e100
"""Features, losses and accounts are kept within this, so that their squares are finite."""
