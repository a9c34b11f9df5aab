"""Names, types and lengths of the arrays of a form."""

import numpy as np
from numpy.typing import DTypeLike

from mtcool.network.saved_field.form import (
    AGENT,
    CLIQUE,
    LABEL,
    MESSAGE,
    OF_PRESENT,
    TARGET,
    Form,
)
from mtcool.network.saved_field.origin import Origin
from mtcool.network.saved_states.checks import within


def check_shapes(form: Form, origin: Origin) -> None:
    """Refuse arrays of other types or lengths; those that nobody needs must be empty."""
    known, dim = origin.directory.size, origin.settings.dim
    _check(form, "agents", AGENT, known)
    _check(form, "cliques", CLIQUE, known)
    ever, count = form.agents["ever"], form.agents["count"]
    within("ever", ever, 0, len(form.clique))
    within("count", count, 0, ever)
    for name in ("clique", "row"):
        _check(form, name, np.uint32, int(ever.sum()))
    for name in OF_PRESENT:
        used = getattr(origin.peers.state.edges, name)
        _check(form, name, used.dtype, int(count.sum()) if len(used) else 0, *used.shape[1:])
    _check(form, "messages", MESSAGE, len(form.messages))
    _check(form, "content", np.float64, len(form.messages), dim)
    _check(form, "labels", LABEL, len(form.labels))
    _check(form, "gradients", np.float64, len(form.labels), dim)
    within("count", form.labels["count"], 1, len(form.targets))
    _check(form, "targets", TARGET, int(form.labels["count"].sum()))


def _check(form: Form, name: str, dtype: DTypeLike, *shape: int) -> None:
    array = getattr(form, name)
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape} and type {np.dtype(dtype)}, got shape {array.shape} "
            f"and type {array.dtype}"
        )
