"""Trees: the completed binary tree, the smooth tree, and doubling epochs for unknown horizons.

All three keep a *word* of bits. A set bit b says that slot b holds a node, the sum of a run of
leaves; the nodes of a word, from the highest bit to the lowest, cover all leaves so far, in order.
The next activation moves to the next word: its lowest node, at slot p, is new, and holds the new
leaf and the nodes that stood below p. So each activation closes exactly one node, and

    published prefix = sum of the noisy nodes of the word + padding.

*Padding* is noise that belongs to no node. It makes the number of noise terms the same for all
words of an epoch, as the regret analysis wants; privacy does not need it.

- Binary tree: the word is the number t of activations, so a leaf lies in K = bit_length(T) nodes.
  Completed: t has popcount(t) nodes, the padding brings the terms to K (Agarwal and Singh, 2017).
- Smooth tree (Andersson and Pagh, 2023): words of z + k bits with k ones, in ascending order. A
  leaf lies in at most z nodes. Ones at the low end of a word stand for empty runs: padding, too.
- Doubling: the word is t + 1 = 2^m + r. Epoch m takes the next 2^m leaves into a tree of its own
  with m + 1 levels, whose noise grows with m; slot m holds the sum of the noisy roots before it.
"""

import functools
import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from mtcool import validation
from mtcool.kernels import inline, kernel
from mtcool.privacy.aggregators.aggregator import Blocks, begin, decode, encode
from mtcool.types import Floats, Integers

BINARY, SMOOTH, DOUBLING = 0, 1, 2
LONGEST = 2**40  # activations of an agent; a word must fit into 62 bits
UNKNOWN = 2**31 - 2  # activations that doubling is ready for when no horizon is given


class TreeState(NamedTuple):
    """State of a tree for all agents; agent i's vectors begin at start[i], slots at slot[i]."""

    kind: int
    activations: Integers
    """Activations so far."""
    word: Integers
    width: Integers
    """Length of the agent's leaves."""
    start: Integers
    slot: Integers
    pad: Integers
    """Where the agent's padding begins."""
    terms: Integers
    """Noise terms of a published sum, padding included; 0 if there is no padding."""
    factor: Floats
    """Doubling: factor on the noise of epoch m."""
    node: Floats
    """Sum of the leaves of the node in each slot: secret."""
    prefix: Floats
    """Sum of the noisy nodes in this slot and in all higher ones."""
    padding: Floats
    """Partial sums of draws of pure noise: 0, 1, ..., terms of them."""
    published: Floats


@dataclass(frozen=True)
class BinaryTree:
    """The binary tree of the paper (`TreeBasedAgg`), completed to the same noise at every time.

    A leaf lies in K = floor(log2 T) + 1 nodes; with completion a published sum has K noise terms.

    >>> tree = BinaryTree()
    >>> tree.column_norm(1000, "laplace"), tree.variance(np.arange(4), 7, "laplace").tolist()
    (10.0, [3.0, 3.0, 3.0, 3.0])
    >>> BinaryTree(completed=False).variance(np.arange(8), 7, "laplace").tolist()
    [0.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 3.0]
    """

    completed: bool = True
    whole: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.completed, bool):
            raise ValueError(f"completed must be True or False, got {self.completed!r}")

    def check(self, law: str, horizon: int | None) -> int:
        """Any law; the horizon must be known."""
        return known_horizon(horizon)

    def column_norm(self, horizon: int, law: str) -> float:
        """A leaf lies in one node of each level."""
        return _norm(horizon.bit_length(), law)

    def growth(self, activations: Integers, law: str) -> Floats:
        """All nodes have the same noise."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: str) -> float:
        """After t activations the first leaf lies in bit_length(t) nodes."""
        return _norm(activations.bit_length(), law) / _norm(horizon.bit_length(), law)

    def variance(self, activations: Integers, horizon: int, law: str) -> Floats:
        """K at all times, or the number of ones of t without completion."""
        if self.completed:
            return np.full(len(activations), float(horizon.bit_length()))
        return np.bitwise_count(activations).astype(float)

    def make_state(self, blocks: Blocks, law: str) -> TreeState:
        """Fresh state for the given vectors."""
        levels = np.array([int(horizon).bit_length() for horizon in blocks.horizon])
        terms = levels if self.completed else np.zeros_like(levels)
        return _make_state(BINARY, blocks, levels, terms, np.zeros_like(levels))

    def padding(self, state: TreeState) -> Integers:
        """One draw for each level."""
        return state.terms


@dataclass(frozen=True)
class SmoothTree:
    """The smooth tree: z nodes for each leaf and k noise terms for each sum, whatever the time.

    z and k are chosen for the horizon and the law: least k z^2 (Laplace) or k z (Gaussian).

    >>> SmoothTree().shape(1000, "laplace"), SmoothTree().shape(1_000_000, "laplace")
    ((3, 17), (6, 27))
    """

    whole: ClassVar[bool] = True

    def check(self, law: str, horizon: int | None) -> int:
        """Any law; the horizon must be known."""
        return known_horizon(horizon)

    def shape(self, horizon: int, law: str) -> tuple[int, int]:
        """(z, k): zeros and ones of the words; there must be horizon + 1 words."""
        return _shape(horizon, 1 if law == "gaussian" else 2)

    def column_norm(self, horizon: int, law: str) -> float:
        """A leaf lies in a node for each zero of its word."""
        return _norm(self.shape(horizon, law)[0], law)

    def growth(self, activations: Integers, law: str) -> Floats:
        """All nodes have the same noise."""
        return np.ones(len(activations))

    def spent(self, activations: int, horizon: int, law: str) -> float:
        """Most nodes that a leaf lies in so far, over z."""
        z, k = self.shape(horizon, law)
        nodes = int(_deepest((1 << k) - 1, activations, np.zeros(64, np.int64)))
        return _norm(nodes, law) / _norm(z, law)

    def variance(self, activations: Integers, horizon: int, law: str) -> Floats:
        """k at all times."""
        return np.full(len(activations), float(self.shape(horizon, law)[1]))

    def make_state(self, blocks: Blocks, law: str) -> TreeState:
        """Fresh state for the given vectors."""
        shapes = np.array([self.shape(int(horizon), law) for horizon in blocks.horizon])
        ones = shapes[:, 1]
        return _make_state(SMOOTH, blocks, shapes.sum(1), ones, 2**ones - 1)

    def padding(self, state: TreeState) -> Integers:
        """One draw for each one of a word."""
        return state.terms


@dataclass(frozen=True)
class Doubling:
    """Binary trees in epochs of 1, 2, 4, ... activations: no horizon need be known.

    A leaf lies in m + 1 nodes of its epoch m and in no other, so the noise of epoch m grows with
    m + 1 (Laplace) or its root (Gaussian). A `horizon`, if given, is only a limit.

    >>> Doubling().growth(np.arange(1, 8), "laplace").tolist()
    [1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0]
    """

    whole: ClassVar[bool] = True

    def check(self, law: str, horizon: int | None) -> int:
        """Any law; without a horizon it is ready for two thousand million activations."""
        return UNKNOWN if horizon is None else known_horizon(horizon)

    def column_norm(self, horizon: int, law: str) -> float:
        """The noise of an epoch grows as its column does."""
        return 1.0

    def growth(self, activations: Integers, law: str) -> Floats:
        """Noise of activation t: m + 1 or its root, where 2^m <= t < 2^(m + 1)."""
        levels = np.frexp(activations)[1].astype(float)
        return np.sqrt(levels) if law == "gaussian" else levels

    def spent(self, activations: int, horizon: int, law: str) -> float:
        """Epoch 0 ends with its first leaf, and that leaf's budget is gone."""
        return float(activations > 0)

    def variance(self, activations: Integers, horizon: int, law: str) -> Floats:
        """Roots of all epochs before, and m terms of epoch m."""
        scale = np.array([_norm(m + 1, law) for m in range(horizon.bit_length() + 1)]) ** 2
        roots = np.concatenate(([0.0], np.cumsum(scale)))
        epoch = np.frexp(activations + 1)[1] - 1
        pure = activations == 0
        return np.where(pure, 1.0, roots[epoch] + epoch * scale[epoch])

    def make_state(self, blocks: Blocks, law: str) -> TreeState:
        """Fresh state for the given vectors."""
        levels = np.array([(int(horizon) + 1).bit_length() for horizon in blocks.horizon])
        epochs = np.array([_norm(m + 1, law) for m in range(int(levels.max()) + 1)])
        return _make_state(DOUBLING, blocks, levels, levels, np.ones_like(levels), epochs)

    def padding(self, state: TreeState) -> Integers:
        """One draw for each level, and one for the publication before the first activation."""
        return state.terms


def known_horizon(horizon: int | None) -> int:
    """The horizon, which must be given."""
    if horizon is None:
        raise ValueError("horizon must be given for this aggregator, got None")
    horizon = validation.count("horizon", horizon)
    if horizon > LONGEST:
        raise ValueError(f"horizon must be at most {LONGEST}, got {horizon}")
    return horizon


@functools.lru_cache(maxsize=1024)
def _shape(horizon: int, power: int) -> tuple[int, int]:
    """Zeros z and ones k of words of at most 62 bits, with the least k z^power."""
    shapes = []
    for z in range(1, 62):
        k = 1
        while z + k <= 62 and math.comb(z + k, z) <= horizon:
            k += 1
        if z + k <= 62:
            shapes.append((k * z**power, z, k))
    _, z, k = min(shapes)
    return z, k


def _norm(nodes: int, law: str) -> float:
    """Norm of a column with as many ones."""
    return math.sqrt(nodes) if law == "gaussian" else float(nodes)


def _make_state(
    kind: int,
    blocks: Blocks,
    levels: Integers,
    terms: Integers,
    words: Integers,
    factor: Floats | None = None,
) -> TreeState:
    """`levels`: slots of each agent; `terms`: draws of padding; `words`: the first ones."""
    width = np.asarray(blocks.width, np.int64)
    start, slot, pad = (_starts(width * times) for times in (1, levels, terms + 1))
    constants = width, start, slot, pad, np.array(terms, np.int64, order="C")
    factor = np.ones(1) if factor is None else factor
    for constant in (*constants, factor):
        constant.setflags(write=False)
    return TreeState(
        kind,
        np.zeros(len(width), np.int64),
        np.asarray(words, np.int64).copy(),
        *constants,
        factor,
        np.zeros(slot[-1]),
        np.zeros(slot[-1]),
        np.zeros(pad[-1]),
        np.zeros(start[-1]),
    )


def _starts(lengths: Integers) -> Integers:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


@inline
def _next(kind: int, word: int) -> int:
    """The word after this one."""
    if kind != SMOOTH:
        return word + 1
    # The lowest run of ones: its highest bit moves up, the others go to the low end.
    lowest = word & -word
    carried = word + lowest
    return carried | (((carried ^ word) >> 2) // lowest)


@inline
def _nodes(kind: int, word: int) -> int:
    """Slots that hold nodes: the smooth tree's ones at the low end stand for empty runs."""
    return word & (word + 1) if kind == SMOOTH else word


@inline
def _lowest(bits: int) -> int:
    """Position of the lowest one; 62 if there is none."""
    for b in range(62):
        if (bits >> b) & 1:
            return b
    return 62


@inline
def _ones(bits: int) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@kernel
def _deepest(word: int, activations: int, depth: Integers) -> int:
    """Most nodes of a smooth tree that contain one leaf after so many activations."""
    deepest = 0
    for _ in range(activations):
        old = _nodes(SMOOTH, word)
        word = _next(SMOOTH, word)
        p = _lowest(_nodes(SMOOTH, word))
        most = 0
        for b in range(p):
            if (old >> b) & 1:
                most = max(most, depth[b])
        depth[p] = most + 1
        deepest = max(deepest, most + 1)
    return deepest


@begin.register
def _(state: TreeState, agent: int, draws: Floats) -> None:
    width, pad, start = state.width[agent], state.pad[agent], state.start[agent]
    for term in range(state.terms[agent]):
        here = pad + term * width
        for k in range(width):
            state.padding[here + width + k] = state.padding[here + k] + draws[term * width + k]
    last = state.terms[agent] if state.kind != DOUBLING else 1
    for k in range(width):
        state.published[start + k] = state.padding[pad + last * width + k]


@encode.register
def _(state: TreeState, agent: int, leaf: Floats, value: Floats) -> None:
    width, slot = state.width[agent], state.slot[agent]
    old = _nodes(state.kind, state.word[agent])
    p = _lowest(_nodes(state.kind, _next(state.kind, state.word[agent])))
    for k in range(width):
        value[k] = leaf[k]
    for b in range(p):
        if (old >> b) & 1:
            node = state.node[slot + b * width : slot + (b + 1) * width]
            for k in range(width):
                value[k] += node[k]


@decode.register
def _(state: TreeState, agent: int, value: Floats, noisy: Floats) -> None:
    width, start, slot = state.width[agent], state.start[agent], state.slot[agent]
    word = _next(state.kind, state.word[agent])
    nodes = _nodes(state.kind, word)
    p = _lowest(nodes)
    above = p + 1 + _lowest(nodes >> (p + 1))
    root = state.kind == DOUBLING and nodes == 1 << p  # the epoch before ends with this node
    if root:
        above = p - 1 if p > 1 else 63
    node = state.node[slot + p * width : slot + (p + 1) * width]
    prefix = state.prefix[slot + p * width : slot + (p + 1) * width]
    for k in range(width):
        node[k] = 0.0 if root else value[k]  # later nodes are of the next epoch
        prefix[k] = noisy[k]
    if above < 62:
        higher = state.prefix[slot + above * width : slot + (above + 1) * width]
        for k in range(width):
            prefix[k] += higher[k]
    terms, factor = state.terms[agent] - _ones(nodes), 1.0
    if state.kind == DOUBLING:
        epoch = 0
        while word >> (epoch + 1):
            epoch += 1
        terms, factor = epoch + 1 - _ones(nodes), state.factor[epoch]
    here = state.pad[agent] + max(terms, 0) * width
    padding = state.padding[here : here + width]
    for k in range(width):
        state.published[start + k] = prefix[k] + factor * padding[k]
    state.word[agent] = word
    state.activations[agent] += 1
