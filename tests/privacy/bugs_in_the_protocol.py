"""Run uncompiled (NUMBA_DISABLE_JIT=1): plants bugs into the protocol, prints which audits pass."""

import json

import numpy as np

import mtcool
import mtcool.peers.private as protocol
from mtcool.audit import Round, forced_transcript, worst_case
from mtcool.learners.mt_ftrl.state import MULTIPLIER
from mtcool.learners.solvers.line import CLOSED_FORM

GRAPH = mtcool.graphs.complete(3)
ORIGINALS = {
    name: getattr(protocol, name)
    for name in ("clip", "clipped_product", "release", "tell", "make_leaf")
}


def passes():
    """Do the audits of the worst case, and of long gradients and rows, pass?"""
    first = mtcool.dpmt_co2ol(GRAPH, 2, mtcool.Privacy(1.0, 7), seed=0)
    second = mtcool.dpmt_co2ol(GRAPH, 2, mtcool.Privacy(1.0, 7), seed=0)
    base = second.peers.state.learner.base  # a neighbour's rows are far too long
    base.cliques["unit"], base.cliques["inverse"], base.cliques["clipped"] = 1e6, 1e300, 0
    base.experts[MULTIPLIER] = CLOSED_FORM
    rounds = [Round(0, lambda x: np.ones(2) * 5.0)] * 7
    leak = forced_transcript(second, rounds, 0, lambda x: -np.ones(2) * 5.0)
    return worst_case(first, 1).passed and leak.paid <= leak.promised


def with_bug(**changed):
    for name, function in (ORIGINALS | changed).items():
        setattr(protocol, name, function)
    return passes()


def no_clipping_of_gradients(vector, bound):
    vector /= bound
    return True


def no_clipping_of_rows(row, gradient):
    return float(row @ gradient)


def no_noise_in_the_first_number(value, noise, grid, noisy):
    noisy[:] = value + noise
    noisy[0] = value[0]


def raw_sums_for_oneself(learner, cliques, rows, weights, published):
    """The first clique, agent 0's own, hears the sum with less noise than the others do."""
    ORIGINALS["tell"](learner, cliques, rows, weights, published)
    if not LAST:  # pure noise, before the first activation
        return
    leaf = LAST.pop("leaf")[:2]
    learner.base.gradients[int(rows[0])] += 0.3 * leaf
    learner.base.total[int(cliques[0])] += 0.3 * leaf


LAST = {}


def remembered_leaf(gradient, weights, products, experts, leaf):
    ORIGINALS["make_leaf"](gradient, weights, products, experts, leaf)
    LAST["leaf"] = leaf.copy()


def unweighted_products(gradient, weights, products, experts, leaf):
    """Products without the weight of the neighbour are too large."""
    ORIGINALS["make_leaf"](gradient, np.ones_like(weights), products, experts, leaf)


if __name__ == "__main__":  # not when tests are collected: it changes the protocol
    print(
        json.dumps(
            {
                "right code": with_bug(),
                "no clipping of gradients": with_bug(clip=no_clipping_of_gradients),
                "no clipping of rows": with_bug(clipped_product=no_clipping_of_rows),
                "a number without noise": with_bug(release=no_noise_in_the_first_number),
                "raw sums for oneself": with_bug(
                    tell=raw_sums_for_oneself, make_leaf=remembered_leaf
                ),
                "unweighted products": with_bug(make_leaf=unweighted_products),
            }
        )
    )
