"""The pictures of `docs/explain`: `python -m docs.pictures NAME` measures and draws one again.

Each is a module with `measure`, whose parameters make it large or small, `draw`, which returns the
picture, and `words`, the numbers that its page may quote. Seeds are explicit: a picture that is
drawn again is the same.
"""

from . import (
    clique,
    epsilon,
    likeness,
    lipschitz,
    one_gradient,
    one_round,
    private_sharing,
    sharing,
)

PICTURES = {
    "one-round": one_round,
    "one-gradient": one_gradient,
    "clique": clique,
    "epsilon": epsilon,
    "lipschitz": lipschitz,
    "sharing": sharing,
    "private-sharing": private_sharing,
    "likeness": likeness,
}
"""By name, which is that of the file: `docs/explain/NAME.png`."""
