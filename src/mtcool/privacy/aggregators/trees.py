"""The engine of all trees: binary trees, smooth trees, and binary trees in epochs.

All of them keep a *word* of bits. A set bit b says that slot b holds a node, the sum of a run of
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

import math
from typing import NamedTuple

import numpy as np

from mtcool.axes import AGENT, COORDINATE, PADDING, SLOT, Location, Span, set_axes, spans
from mtcool.kernels import inline
from mtcool.privacy.aggregators.aggregator import Blocks, begin, decode, encode
from mtcool.privacy.literals import Law
from mtcool.types import Floats, Integers

BINARY, SMOOTH, DOUBLING = 0, 1, 2


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


set_axes(
    TreeState,
    activations=AGENT,
    word=AGENT,
    node=SLOT,
    prefix=SLOT,
    padding=PADDING,
    published=COORDINATE,
)


@spans.register
def _(state: TreeState, location: Location) -> dict[str, Span]:
    agents = location.cliques
    begins = {COORDINATE: state.start, SLOT: state.slot, PADDING: state.pad}
    found = {axis: Span.between(begin, agents.entries) for axis, begin in begins.items()}
    return {AGENT: agents} | found


def norm(nodes: int, law: Law) -> float:
    """Norm of a column with as many ones."""
    return math.sqrt(nodes) if law == "gaussian" else float(nodes)


def make_tree(
    kind: int,
    blocks: Blocks,
    slots: Integers,
    terms: Integers,
    words: Integers,
    factor: Floats | None = None,
) -> TreeState:
    """Make a fresh state: slots, draws of padding and first word of each agent's tree."""
    width = np.asarray(blocks.width, np.int64)
    start, slot, pad = (_starts(width * times) for times in (1, slots, terms + 1))
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
def next_word(kind: int, word: int) -> int:
    """The word after this one."""
    if kind != SMOOTH:
        return word + 1
    # The lowest run of ones: its highest bit moves up, the others go to the low end.
    lowest = word & -word
    carried = word + lowest
    return carried | (((carried ^ word) >> 2) // lowest)


@inline
def nodes_of(kind: int, word: int) -> int:
    """Slots that hold nodes: the smooth tree's ones at the low end stand for empty runs."""
    return word & (word + 1) if kind == SMOOTH else word


@inline
def lowest_one(bits: int) -> int:
    """Position of the lowest one; 62 if there is none."""
    for b in range(62):
        if (bits >> b) & 1:
            return b
    return 62


def activations_of(state: TreeState, word: Integers) -> Integers:
    """Number of activations after which each agent's tree has this word; -1 if it never has."""
    if state.kind == SMOOTH:
        return np.where(np.bitwise_count(word) == state.terms, _rank(word), -1)
    return word - 1 if state.kind == DOUBLING else word


def _rank(word: Integers) -> Integers:
    """How many words with as many ones are smaller, for words below 2^62."""
    rank, ones = np.zeros_like(word), np.zeros_like(word)
    for b in range(62):
        bit = (word >> b) & 1
        ones += bit
        rank += bit * _BINOMIALS[b, ones]
    return rank


_BINOMIALS = np.array([[math.comb(b, k) for k in range(64)] for b in range(62)])


@inline
def _ones(bits: int) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


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
    old = nodes_of(state.kind, state.word[agent])
    p = lowest_one(nodes_of(state.kind, next_word(state.kind, state.word[agent])))
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
    word = next_word(state.kind, state.word[agent])
    nodes = nodes_of(state.kind, word)
    p = lowest_one(nodes)
    above = p + 1 + lowest_one(nodes >> (p + 1))
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
