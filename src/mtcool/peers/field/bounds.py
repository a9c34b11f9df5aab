"""How large the weights of an agent may be, if they are uniform: what it announces."""

from mtcool.kernels import inline
from mtcool.peers.field.records import Rules


@inline
def own_bound(rules: Rules, others: int) -> float:
    """The largest weight that an agent with so many neighbours may give its own clique."""
    if rules.silent or rules.may_miss or others == 0:
        return 1.0
    return 1.0 / (min(others, rules.partners) + 1.0)


@inline
def bound_for_others(rules: Rules, others: int, fresh: bool) -> float:
    """The largest weight for the clique of a neighbour, longer by what coding may do."""
    asked = min(others, rules.partners)
    if fresh:
        weight = 1.0 if rules.may_miss else 1.0 / asked
    else:
        weight = 0.5 if rules.may_miss else 1.0 / (asked + 1.0)
    return rules.kappa * weight
