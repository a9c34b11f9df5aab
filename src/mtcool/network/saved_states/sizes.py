"""How large a state must be, known before there is one."""

from mtcool.learners.learner import smallest_state
from mtcool.network.saved_states.checks import Saved
from mtcool.peers.settings import Settings
from mtcool.types import Integers


def check_size(settings: Settings, sizes: Integers, arrays: Saved) -> None:
    """Refuse arrays too small for the state of cliques with so many rows, before it is made."""
    vectors, experts = smallest_state(settings.learner, sizes)
    numbers = sum(array.nbytes for array in arrays.values()) // 8
    if vectors * settings.dim + experts > numbers:
        raise ValueError(
            f"state must hold {vectors} vectors of dim {settings.dim} and {experts} experts, "
            f"got {numbers} numbers"
        )
