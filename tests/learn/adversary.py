"""Adversaries that see everything and write into the rows of hostile agents before every event."""

import numpy as np

from mtcool.learners.panel.fields import (
    CLIQUE,
    CLIQUE_VARIANCE,
    EVIDENCE,
    EXPERTS,
    FILTER_SIZE,
    FILTERS,
    FIRST_FILTER,
    GRAPH,
    HIGHEST,
    LOWEST,
    MEAN,
    MISSED,
    MISSES,
    PRECISION,
    ROWS,
    SHARED,
)


class Adversary:
    """Knows the panel, the next target and what learning alone predicts for it."""

    def __init__(self, hostile, seed=0):
        self.hostile, self.rng, self.turn = hostile, np.random.default_rng(seed), 0

    def write(self, panel, target, alone, unit):
        """Choose what neighbours will read next; `unit` is a deviation of the honest targets."""
        self.turn += 1
        for j in self.hostile:
            self.lie(panel, j, target, alone, unit)

    def truth(self, panel, target, unit):
        """Choose what is read when a row is learned from: what was read when it was predicted."""

    def lesson(self, panel, unit):
        """What hostile agents send to cliques: gradients, and the information in them."""
        lesson = self.rng.normal(size=(2 * FILTERS, panel.vector.shape[2])) * 1e6 * unit
        lesson[1::2] = 1e6
        return lesson

    def level(self, panel, j, level, clique, precision, spread):
        """Claim this level with such a precision, and statistics that go with it."""
        number, vector = panel.number[j], panel.vector[j]
        rows = 50.0
        number[ROWS], number[GRAPH + MISSES], number[GRAPH + MISSED] = rows, rows, 0.0
        number[LOWEST], number[HIGHEST] = level - 5 * spread, level + 5 * spread
        vector[MEAN] = 0.0
        vector[MEAN, 0] = level
        for f in range(FILTERS):
            base = FIRST_FILTER + f * FILTER_SIZE
            vector[base + SHARED], vector[base + CLIQUE] = 0.0, 0.0
            vector[base + SHARED, 0], vector[base + CLIQUE, 0] = level, clique
            vector[base + PRECISION], vector[base + CLIQUE_VARIANCE] = precision, 0.01
        self.mislead(panel, j, rows * spread**2)

    def mislead(self, panel, j, squares):
        """Claim rows of such squares whose features determine the target, now so and now so.

        And that the experts which hear neighbours are the best.
        """
        width = panel.vector.shape[2]
        signs = self.rng.choice([-1.0, 1.0], width)
        panel.scatter[j] = np.outer(signs, signs) * squares
        panel.number[j, EVIDENCE : EVIDENCE + EXPERTS] = 0.0
        panel.number[j, EVIDENCE + FILTERS + 1 + panel.rows] = -1.0


class Garbage(Adversary):
    """Noise of five deviations, stated with false certainty."""

    def lie(self, panel, j, target, alone, unit):
        level, clique = alone + 5 * unit * self.rng.normal(size=2)
        self.level(panel, j, level, clique - alone, 1e12, unit)


class Contrary(Adversary):
    """Always pulls away from the target, as hard as is believed."""

    def lie(self, panel, j, target, alone, unit):
        away = -np.sign(target - alone) * 50 * unit
        self.level(panel, j, alone + away, away, 1e12, unit)


class Quiet(Contrary):
    """Pulls away by little, so that every bit of it is played."""

    def lie(self, panel, j, target, alone, unit):
        away = -np.sign(target - alone) * 0.2 * unit
        self.level(panel, j, alone + away, away, 1e12, unit)


class Traitor(Adversary):
    """Tells the truth until it is trusted, then the contrary, again and again."""

    def lie(self, panel, j, target, alone, unit):
        harms = self.turn % 60 >= 40
        way = -50 * unit * np.sign(target - alone) if harms else target - alone
        self.level(panel, j, alone + way, way if harms else 0.0, 1e12, unit)


class TwoFaced(Contrary):
    """Pulls away when a row is predicted, and knows its target when it is learned from."""

    def truth(self, panel, target, unit):
        for j in self.hostile:
            self.level(panel, j, target, 0.0, 1e12, unit)


class Inflator(Contrary):
    """Claims that targets vary a million times as much as they do."""

    def lie(self, panel, j, target, alone, unit):
        super().lie(panel, j, target, alone, unit)
        self.mislead(panel, j, 50 * (1e6 * unit) ** 2)
        panel.number[j, [LOWEST, HIGHEST]] = [-1e6 * unit, 1e6 * unit]


class Extreme(Adversary):
    """Numbers at the ends of what a computer can write, anywhere."""

    ENDS = np.array([1e300, -1e300, 1e-300, 0.0, 1.0, -1.0, 1e12, np.inf, -np.inf, np.nan, 1e308])

    def lie(self, panel, j, target, alone, unit):
        draw = self.rng.choice
        told = [ROWS, LOWEST, HIGHEST, GRAPH + MISSED, GRAPH + MISSES]
        told += range(EVIDENCE, EVIDENCE + EXPERTS)
        panel.number[j, told] = draw(self.ENDS, len(told))
        width = panel.vector.shape[2]
        panel.vector[j, MEAN] = draw(self.ENDS, width)
        panel.scatter[j] = draw(self.ENDS, (width, width))
        for f in range(FILTERS):
            base = FIRST_FILTER + f * FILTER_SIZE
            panel.vector[j, base + CLIQUE : base + PRECISION + 1] = draw(self.ENDS, (4, width))

    def lesson(self, panel, unit):
        return self.rng.choice(self.ENDS, (2 * FILTERS, panel.vector.shape[2]))


ADVERSARIES = (Garbage, Contrary, Quiet, Traitor, Inflator, Extreme)
