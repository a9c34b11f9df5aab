"""Claims about what an aggregator is, and about the sums that it publishes."""

import dataclasses

import numpy as np

from mtcool.privacy.aggregators.aggregator import Blocks
from mtcool.testing.aggregators.trial import AggregatorTrial, Machine, decode_one, encode_one
from mtcool.testing.checks import require, require_close, require_equal


def aggregator_says_what_it_is(trial: AggregatorTrial) -> None:
    """A frozen dataclass with a name, a title, laws and calibrations; its state has four fields."""
    kind = type(trial.aggregator)
    frozen = getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)
    require(dataclasses.is_dataclass(kind) and frozen, "it is not a frozen dataclass")
    for word in ("name", "title"):
        found = getattr(kind, word, None)
        require(isinstance(found, str) and found, f"{word} is {found!r}")
    require(set(kind.laws) <= {"laplace", "gaussian", "none"}, f"laws are {kind.laws!r}")
    require(set(kind.calibrations) <= {"tight", "paper"}, f"calibrations are {kind.calibrations!r}")
    require("tight" in kind.calibrations, f"calibrations are {kind.calibrations!r}, without tight")
    require(isinstance(kind.whole, bool), f"whole is {kind.whole!r}")
    state = Machine(trial.aggregator, kind.laws[0], 3, width=2).state
    for field in ("activations", "width", "start", "published"):
        require(hasattr(state, field), f"{type(state).__name__} has no field {field}")


def published_sums_are_prefix_sums(trial: AggregatorTrial) -> None:
    """B C is the lower triangle of ones: without noise, the sum of all leaves so far goes out."""
    for case in trial.cases():
        c, b, _, growth = case.matrices
        prefix = np.tril(np.ones_like(c))
        require_close((b[1:] / growth) @ c, prefix, 1e-9, f"with {case} B C is something else")
        machine = Machine(trial.aggregator, case.law, case.horizon)
        leaves = np.random.default_rng(0).standard_normal(case.horizon)
        sums = np.array([machine.step(leaf, 0.0)[1][0] for leaf in leaves])
        require_close(sums, np.cumsum(leaves), 1e-9, f"with {case} other sums are published")


def sums_are_made_of_noisy_nodes_alone(trial: AggregatorTrial) -> None:
    """`decode` publishes the same if the noisy nodes are the same, whatever the leaves were.

    Only `noisy` may reach `published`, now or later; `value` is the secret.
    """
    rng = np.random.default_rng(0)
    widths = np.array([1, 2, 2])  # agents that are not alike, each in its own place
    noisy, leaves = rng.standard_normal((27, 2)), rng.standard_normal((2, 27, 2))
    for law in trial.aggregator.laws:
        blocks = Blocks(widths, np.full(3, 27))
        one, other = (trial.aggregator.make_state(blocks, law) for _ in range(2))
        for t in range(27):
            for agent, width in enumerate(widths):
                for state, secret in zip((one, other), leaves, strict=True):
                    value = np.empty(width)
                    encode_one(state, agent, secret[t, :width].copy(), value)
                    decode_one(state, agent, value, noisy[t, :width].copy())
                told = f"with {law} noise, activation {t + 1} gives leaves of agent {agent} away"
                require_equal(other.published, one.published, told)


def nodes_of_whole_leaves_are_whole(trial: AggregatorTrial) -> None:
    """If `whole` is True, C has whole coefficients, so nodes of leaves on a grid lie on it."""
    for case in trial.cases():
        whole = np.array_equal(case.matrices.c, np.round(case.matrices.c))
        require(whole or not trial.aggregator.whole, f"with {case} C has fractions")


def encoding_changes_nothing(trial: AggregatorTrial) -> None:
    """`encode` writes into `value` and nowhere else; nobody has seen the node yet."""
    for law in trial.aggregator.laws:
        machine, leaf = Machine(trial.aggregator, law, 27, width=2), np.array([0.5, -1.0])
        for t in range(27):
            before = [np.array(field) for field in machine.state]
            encode_one(machine.state, 0, leaf, np.empty(2))
            for name, old, new in zip(machine.state._fields, before, machine.state, strict=True):
                require_equal(np.asarray(new), old, f"encode changed {name} at activation {t + 1}")
            require_equal(leaf, np.array([0.5, -1.0]), "encode changed the leaf")
            machine.step(leaf, 0.25)


def activations_are_counted(trial: AggregatorTrial) -> None:
    """Field `activations` counts the calls of `decode`."""
    for law in trial.aggregator.laws:
        machine = Machine(trial.aggregator, law, 8)
        for t in range(8):
            machine.step(1.0, 0.0)
            found = int(machine.state.activations[0])
            require(found == t + 1, f"after {t + 1} activations it counts {found}")


CLAIMS = (
    aggregator_says_what_it_is,
    published_sums_are_prefix_sums,
    sums_are_made_of_noisy_nodes_alone,
    nodes_of_whole_leaves_are_whole,
    encoding_changes_nothing,
    activations_are_counted,
)
