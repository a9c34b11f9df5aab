"""Networks in the field as arrays, and back."""

import numpy as np

from mtcool.axes import restore, state_arrays
from mtcool.network.saved_field.checks.cliques import check_cliques, check_received
from mtcool.network.saved_field.checks.entries import check_entries
from mtcool.network.saved_field.checks.learner import check_learner
from mtcool.network.saved_field.checks.memory import check_said
from mtcool.network.saved_field.checks.shapes import check_shapes
from mtcool.network.saved_field.checks.under_way import check_labels, check_messages, pending
from mtcool.network.saved_field.form import Form, form_of
from mtcool.network.saved_field.learner import fresh_learner, learner_of
from mtcool.network.saved_field.origin import Origin
from mtcool.network.saved_field.rebuilding import rebuilt
from mtcool.network.saved_states.checks import Saved
from mtcool.network.saved_states.sizes import check_size
from mtcool.peers.field.exchange import FieldExchange
from mtcool.peers.settings import Settings
from mtcool.types import AnyArray

PREFIX = "field."


def field_arrays(exchange: FieldExchange, settings: Settings) -> dict[str, AnyArray]:
    """All that a network in the field knows, in arrays of its own."""
    known = exchange.names.size
    form = form_of(exchange.peers, known)
    arrays = {PREFIX + name: array for name, array in form._asdict().items()}
    return arrays | dict(state_arrays(learner_of(exchange.peers, settings, known)))


def resumed(origin: Origin, arrays: Saved, from_file: bool) -> FieldExchange:
    """The exchange of a network that goes on from what `field_arrays` returned.

    Arrays from a file are checked, because anybody may have written them.
    """
    own = dict(arrays)
    memory = own.pop(f"{PREFIX}memory", None)  # in files of 0.2.0
    if memory is not None and len(memory):
        raise ValueError(f"memory must be empty without coordinates, got {len(memory)} rows")
    form = Form(**{name: own.pop(PREFIX + name) for name in Form._fields})
    if from_file:
        _check_form(form, origin)
        check_size(origin.settings, form.cliques["slots"], own)
    learner = fresh_learner(origin.settings, form.cliques["slots"], form.cliques["bound"])
    if from_file:
        with np.errstate(all="ignore"):
            check_learner(learner, own, form.cliques, form.agents["ever"], origin.rules)
    restore(learner, own)
    return FieldExchange(rebuilt(origin, form, learner), origin.settings, origin.directory)


def _check_form(form: Form, origin: Origin) -> None:
    """Refuse a form that no network could have been in; each check relies on those before it."""
    with np.errstate(all="ignore"):  # what is too large for a number is refused
        check_shapes(form, origin)
        entries = check_entries(form, origin)
        check_cliques(form, origin)
        check_messages(form, entries, origin)
        check_labels(form, entries, origin)
        check_received(form, pending(form), origin.rules.late)
        check_said(form, origin)
