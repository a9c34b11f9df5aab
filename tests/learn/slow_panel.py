"""The learner for panels, slow and obvious: one object for each agent, NumPy and plain loops.

It shares no code with `mtcool.learners.panel` but the constants. Everything is recomputed when it
is needed; only what the design says is kept (scales and ridges, until rows have grown by 2 %).
"""

import numpy as np

from mtcool.learners.panel import constants as c

DRIFTS = (c.SLOW_DRIFT, c.FAST_DRIFT)


class Scale:
    def __init__(self, width):
        self.rows, self.spread, self.noise = 0.0, 0.0, 1.0
        self.apart = c.RIDGE_LEVEL_VARIANCE
        self.centre, self.deviation = np.zeros(width), np.zeros(width)

    def features(self, x):
        """Scaled features after a leading one, and the same in the units of x."""
        scaled = np.zeros(len(self.centre))
        scaled[0] = 1.0
        for k in range(1, len(scaled)):
            if self.deviation[k] > 1e-12 and not np.isnan(x[k - 1]):
                z = (x[k - 1] - self.centre[k]) / self.deviation[k]
                scaled[k] = np.clip(z, -10, 10) * self.rows / (self.rows + 5)
        return scaled


class Filter:
    def __init__(self, width, logistic, drift):
        few = np.full(width, c.SLOPE_SHARE)
        few[0] = 1.0
        self.own, self.own_var = np.zeros(width), c.PERSONAL_VARIANCE * few
        self.clique, self.clique_var = np.zeros(width), c.CLIQUE_PRIOR * few
        self.shared, self.precision = np.zeros(width), np.full(width, 1 / c.SLOPE_VARIANCE)
        self.precision[0] = 1.0 if logistic else 0.0
        self.alone, self.alone_precision = np.zeros(width), self.precision.copy()
        self.drift = np.full(width, drift * c.SLOPE_DRIFT)
        self.drift[0] = drift


class Mixture:
    def __init__(self, priors):
        self.priors = np.array(priors)
        self.regret, self.squares, self.largest = np.zeros((3, len(priors)))

    def rates(self):
        with np.errstate(divide="ignore"):
            ordinary = np.sqrt(-np.log(np.minimum(self.priors, 0.5)) / self.squares)
            return np.minimum(0.5 / self.largest, ordinary)

    def weights(self, hearsay=0.0):
        """Weights of the experts, if others have told such logarithms of weights."""
        rates, met = self.rates(), self.largest > 0
        rates = np.where(met, rates, rates[met].max() if met.any() else 1.0)
        log = np.log(self.priors) + hearsay + np.log(rates) + rates * self.regret
        weights = np.exp(log - log.max())
        return weights / weights.sum()

    def evidence(self):
        """What was seen of the experts, as logarithms of weights: from -1 to 0."""
        told = np.where(self.largest > 0, self.rates(), 0.0) * self.regret
        return np.maximum(told - told.max(), -1.0)

    def learn(self, predictions, mixture, slope):
        losses = slope * (np.array(predictions) - mixture)
        losses[np.abs(losses) <= 1e-9] = 0.0
        self.largest = np.maximum(self.largest, np.abs(losses))
        self.squares += losses**2
        rates = np.where(losses != 0, self.rates(), 0.0)
        self.regret -= losses + rates * losses**2


class SlowAgent:
    def __init__(self, width, logistic, rows):
        self.logistic, self.strays = logistic, 0
        self.table = np.zeros((0, width))  # targets and features
        self.n, self.mean = 0, np.zeros(width)
        self.scatter = np.zeros((width, width))
        self.low, self.high = np.inf, -np.inf
        self.scales = {"graph": Scale(width), "alone": Scale(width)}
        self.missed = {"graph": [0.0, 0.0], "alone": [0.0, 0.0]}
        self.filters = [Filter(width, logistic, drift) for drift in DRIFTS]
        experts = 4 if rows else 3
        self.mixture = Mixture([(1 - c.ALONE_SHARE) / experts] * experts + [c.ALONE_SHARE])
        self.alone_mixture = Mixture([0.25] * 4)
        self.evidence = np.zeros(experts + 1)
        self.ridges, self.solved = {}, 0
        self.worst, self.balance = 0.0, 0.0
        self.trust, self.listens = {}, {}
        self.between = c.RIDGE_LEVEL_VARIANCE

    def step(self, error, total):
        """The error over its variance; it counts as five deviations, or more after strays."""
        if self.logistic:
            return error / total
        most = 5 * 2.0 ** abs(self.strays) * np.sqrt(total)
        return np.clip(error, -most, most) / total

    def add_row(self, x, y):
        """Keep a row; what is unknown counts as the mean before it, a stray as less far away."""
        deviation = np.sqrt(self.scatter[0, 0] / max(self.n, 1))
        off, before = y - self.mean[0], self.strays
        self.strays = 0
        if not self.logistic and self.n >= 10 and abs(off) > 10 * deviation > 0:
            side = 1 if off > 0 else -1
            again = before * side > 0
            self.strays = before + side if again else side
            y = self.mean[0] + side * min(abs(off), 10 * deviation * 2.0 ** (again * abs(before)))
        row = np.concatenate([[y], x])
        self.table = np.vstack([self.table, np.where(np.isnan(row), self.mean, row)])
        self.n, self.mean = len(self.table), self.table.mean(axis=0)
        off = self.table - self.mean
        self.scatter = off.T @ off
        self.low, self.high = min(self.low, y), max(self.high, y)

    def unit(self, logistic):
        """Of levels, in lessons."""
        return 2.0 if logistic else self.scales["graph"].spread or np.inf


class SlowPanel:
    def __init__(self, neighbours, features, logistic=False, rows=False):
        self.logistic, self.rows = logistic, rows
        self.neighbours = neighbours
        self.agents = [SlowAgent(features + 1, logistic, rows) for _ in neighbours]
        for agent, others in zip(self.agents, neighbours, strict=True):
            agent.trust = dict.fromkeys(others, c.TRUST)
            agent.listens = dict.fromkeys(others, True)

    def heard(self, i):
        """The agent itself, then the neighbours that it still listens to and that know a row."""
        them = [j for j in self.neighbours[i] if self.agents[i].listens[j]]
        return [i] + [j for j in them if self.agents[j].n]

    def scale(self, i, side):
        me = self.agents[i]
        them = [self.agents[j] for j in (self.heard(i) if side == "graph" else [i])]
        rows, kept = sum(a.n for a in them), me.scales[side]
        usable = self.logistic or rows == 0 or kept.spread > 0
        if usable and rows <= kept.rows * 1.02 and rows * 1.02 >= kept.rows:
            return kept
        new = Scale(len(me.mean))
        new.rows = rows
        new.centre = sum(a.n * a.mean for a in them) / rows
        square = sum(np.diag(a.scatter) + a.n * (a.mean - new.centre) ** 2 for a in them)
        new.deviation = np.sqrt(square / rows)
        new.spread = new.deviation[0]
        within = sum(a.scatter[0, 0] for a in them)
        between = sum(a.n * (a.mean[0] - new.centre[0]) ** 2 for a in them)
        free = rows - sum(a.n > 0 for a in them)
        new.apart = c.RIDGE_LEVEL_VARIANCE
        if free >= 1 and within + between > 0:
            levels = between - (rows - free - 1) * within / free
            share = np.clip(levels / (within + between), 0, 1)
            new.apart = (share * free + 20 * new.apart) / (free + 20)
        if new.spread > 1e-12:
            missed, misses = np.sum([a.missed[side] for a in them], axis=0)
            share = (missed / new.spread**2 + 1) / (misses + 1)
            new.noise = np.clip(share, 0.02, 1.0)
        return new

    def unit(self, i):
        me = self.agents[i]
        if self.logistic:
            return 1.0
        if me.n >= 5 and me.scatter[0, 0] > 0:
            missed, misses = me.missed["alone"]
            return min(me.scatter[0, 0] / me.n, missed / max(misses, 1.0))
        them = [self.agents[j] for j in [i, *self.neighbours[i]]]
        found = [a.scatter[0, 0] / a.n for a in them if a.n > 1]
        own = me.scatter[0, 0] / me.n if me.n > 1 else 0.0
        return max(np.median(found), own) if found else 0.0

    def credit(self, i):
        me, unit = self.agents[i], self.unit(i)
        if me.n >= 2 and not self.logistic:
            unit = min(unit, (2 * (me.high - me.low)) ** 2)
        return c.CREDIT * unit

    def most(self, i, credit):
        if credit <= 0:
            return 0.0
        if self.logistic:
            return credit
        worst = self.agents[i].worst
        return np.sqrt(worst**2 + credit) - worst

    def fetch(self, i, f, x, spread):
        """Shared part and its variance, what each neighbour contributes, and the prediction."""
        me, heard = self.agents[i].filters[f], self.heard(i)
        them = {j: self.agents[j].filters[f] for j in heard}
        share = 1 / np.sqrt(len(heard))
        units = np.full(len(x), spread)
        units[0] = 1.0
        total = sum(one.precision for one in them.values())
        known = me.precision > 0
        centre = np.where(known, me.shared, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            farthest = np.where(known, 3 / np.sqrt(me.precision), np.inf)
            farthest[0] *= spread if known[0] else 1.0
            steps = {}
            for j in heard[1:]:
                step = them[j].precision / total * (them[j].shared - centre)
                steps[j] = np.where(total > 0, np.clip(step, -farthest, farthest), 0.0)
            variance = len(heard) / total
        cliques = {j: np.where(total > 0, them[j].clique, 0.0) for j in heard[1:]}
        given = {j: float((steps[j] + cliques[j] * share) @ (units * x)) for j in heard[1:]}

        def summed(factors):
            mean = centre + sum((factors[j] * steps[j] for j in heard[1:]), np.zeros(len(x)))
            clique = me.clique + sum((factors[j] * cliques[j] for j in heard[1:]), 0.0)
            return mean, float((me.own + mean + clique * share) @ (units * x))

        factors = dict.fromkeys(heard[1:], 1.0)
        if self.agents[i].n >= 2:
            for j in heard[1:]:
                allowed = self.most(i, self.unit(i) * self.agents[i].trust[j])
                if abs(given[j]) > allowed:
                    factors[j] = allowed / abs(given[j])
        mean, prediction = summed(factors)
        return mean, variance, given, factors, prediction

    def bounded(self, i, p):
        me = self.agents[i]
        if self.logistic:
            return np.clip(p, -8, 8)
        if me.n < 2:
            return p
        length = me.high - me.low
        return np.clip(p, me.low - length, me.high + length)

    def ridge(self, i, which, x, scale):
        line, around = self.agents[i].ridges.get(which, (np.zeros(len(x) + 1),) * 2)
        p = line[0]
        for k in range(1, len(line)):
            if not np.isnan(x[k - 1]):
                reach = 10 * scale.deviation[k]
                clipped = np.clip(x[k - 1], scale.centre[k] - reach, scale.centre[k] + reach)
                p += line[k] * (clipped - around[k])
        return log_odds(p) if self.logistic else p

    def look(self, i, x):
        """Everything that a prediction needs."""
        me = self.agents[i]
        graph, alone = self.scale(i, "graph"), self.scale(i, "alone")
        xs, xo = graph.features(x), alone.features(x)
        spread, own_spread = (2.0, 2.0) if self.logistic else (graph.spread, alone.spread)
        itself = []
        for f in me.filters:
            units = np.full(len(xo), own_spread)
            units[0] = 1.0
            itself.append(float(f.alone @ (units * xo)))
        mean = me.mean[0]
        if self.logistic:
            mean = log_odds((me.mean[0] * me.n + 0.5) / (me.n + 1))
        ridge = self.ridge(i, "alone", x, alone)
        if self.logistic and me.n < 1:
            ridge = self.bounded(i, itself[0])
        alones = [self.bounded(i, p) for p in [*itself, ridge]] + [mean]
        own = float(me.alone_mixture.weights() @ alones)
        fetched = [self.fetch(i, f, xs, spread) for f in range(2)]
        others = [self.bounded(i, one[-1]) for one in fetched]
        knows = any(self.agents[j].n for j in [i, *self.neighbours[i]])
        for which in ["shared", "neighbours"] if self.rows else ["shared"]:
            p = others[0]
            if me.n:
                p = self.bounded(i, self.ridge(i, which, x, graph))
            elif which == "neighbours" and knows:
                level, *slopes = self.regression(i, graph)
                p = level + graph.spread * float(np.array(slopes) @ xs[1:])
                p = self.bounded(i, log_odds(p) if self.logistic else p)
            others.append(p)
        by_itself = own
        if not me.n and not self.logistic:
            by_itself = graph.centre[0]
        if me.n < 3 and not self.logistic:
            them = [self.agents[j] for j in self.neighbours[i] if self.agents[j].n]
            low = min(np.median([a.low for a in them]), me.low) if them else -np.inf
            high = max(np.median([a.high for a in them]), me.high) if them else np.inf
            others = [np.clip(p, low, high) for p in others]
            if not me.n:
                by_itself = np.clip(by_itself, low, high)
        others.append(by_itself)
        weights, own_weights = me.mixture.weights(self.hearsay(i)), me.alone_mixture.weights()
        wish = float(weights @ others)
        played = wish
        if not self.neighbours[i]:
            played = by_itself
        elif me.n:
            step = self.most(i, self.credit(i) + me.balance)
            played = by_itself + np.clip(wish - by_itself, -step, step)
        return locals()

    def hearsay(self, i):
        """What the neighbours' evidence adds to the logarithms of weights beforehand."""
        told = np.zeros(len(self.agents[i].evidence))
        for j in self.heard(i)[1:]:
            told += c.HEARSAY * self.agents[j].evidence
        return np.maximum(told, -3.0)

    def predict(self, i, x):
        """The prediction and that of learning alone; and what is to be booked of it."""
        seen = self.look(i, x)
        seen["had_rows"] = self.agents[i].n > 0
        return (seen["played"], seen["by_itself"]), seen

    def loss(self, p, y):
        return np.logaddexp(0, p if y < 0.5 else -p) if self.logistic else (p - y) ** 2

    def learn(self, i, x, y, said=None):
        me, seen = self.agents[i], self.look(i, x)
        graph, alone = seen["graph"], seen["alone"]
        if me.n:
            self.charge(i, y, seen)
            if said is None:  # as if it were predicted now
                self.settle(me, y, seen["played"], seen["by_itself"])
                self.judge(me, y, seen, seen)
            elif not said["had_rows"]:  # nothing is won or lost by sharing
                self.settle(me, y, seen["by_itself"], seen["by_itself"])
                self.judge(me, y, seen, seen)
            else:
                self.settle(me, y, said["played"], said["by_itself"])
                self.judge(me, y, seen, said)
        # The accounts may have changed what is listened to, and how far.
        spread, own_spread = seen["spread"], seen["own_spread"]
        lessons = []
        for f, one in enumerate(me.filters):
            mean, variance, _, _, p = self.fetch(i, f, seen["xs"], spread)
            if f == 0 and seen["knows"] and not self.logistic:
                self.count(me.missed["graph"], p, y, graph.spread)
            lessons.append(self.learn_shared(i, one, f, mean, variance, p, y, seen))
            q = seen["itself"][f]
            if f == 0 and me.n and not self.logistic:
                self.count(me.missed["alone"], q, y, alone.spread)
            self.learn_alone(me, one, q, y, seen["xo"], own_spread, alone.noise)
        for j in [i, *self.neighbours[i]]:
            if j == i or (self.agents[j].listens[i] and self.agents[j].n):
                for f, (gradient, information) in zip(self.agents[j].filters, lessons, strict=True):
                    farthest = 5 * np.sqrt(f.clique_var)
                    farthest[0] *= self.agents[j].unit(self.logistic)
                    f.clique = f.clique + np.clip(f.clique_var * gradient, -farthest, farthest)
                    if information[0] > 0:
                        less = f.clique_var**2 * np.minimum(information, 1 / f.clique_var)
                        f.clique_var = f.clique_var + c.PART_DRIFT * f.drift - less
        me.scales = {"graph": graph, "alone": alone}
        me.add_row(x, y)
        if me.n >= me.solved * 1.02:
            self.solve(i)

    def count(self, missed, p, y, spread):
        miss = (y - p) ** 2
        missed[0] += min(miss, 25 * spread**2) if spread > 1e-12 else miss
        missed[1] += 1

    def error(self, p, y, spread, noise):
        if self.logistic:
            mu = 1 / (1 + np.exp(-p))
            weight = max(mu * (1 - mu), 0.02)
            return (y - mu) / weight / 2, 1 / (4 * weight)
        return ((y - p) / spread if spread > 0 else 0.0), noise

    def learn_shared(self, i, one, f, mean, variance, p, y, seen):
        x, spread = seen["xs"], seen["spread"]
        count = len(self.heard(i))
        if not self.logistic and self.agents[i].n < 3:
            level = c.PERSONAL_SHARE * seen["graph"].apart
            one.own_var[0] = max(one.own_var[0], level)
        error, noise = self.error(p, y, spread, seen["graph"].noise)
        cliques = sum(self.agents[j].filters[f].clique_var for j in self.heard(i)) / count
        total = noise + float(
            x**2 @ (one.own_var + cliques + np.where(variance < np.inf, variance, 0))
        )
        nothing = np.zeros(len(x)), np.zeros(len(x))
        if variance[0] == np.inf:
            one.shared[0], one.precision[0] = y, 1 / total
            return nothing
        if spread <= 0:
            return nothing
        units = np.ones(len(x))
        units[0] = spread
        step = self.agents[i].step(error, total)
        one.own = one.own + units * one.own_var * x * step
        one.own_var = one.own_var - (one.own_var * x) ** 2 / total + c.PART_DRIFT * one.drift
        one.shared = mean + units * variance * x * step
        one.precision = 1 / (variance - (variance * x) ** 2 / total + one.drift)
        return units * x * step / np.sqrt(count), x**2 / (count * total)

    def learn_alone(self, me, one, p, y, x, spread, noise):
        error, noise = self.error(p, y, spread, noise)
        with np.errstate(divide="ignore"):
            variance = np.where(one.alone_precision > 0, 1 / one.alone_precision, 0.0)
        total = noise + float(x**2 @ variance)
        if one.alone_precision[0] == 0:
            one.alone[0], one.alone_precision[0] = y, 1 / total
        elif spread > 0:
            units = np.ones(len(x))
            units[0] = spread
            one.alone = one.alone + units * variance * x * me.step(error, total)
            drift = c.ALONE_DRIFT * one.drift
            one.alone_precision = 1 / (variance - (variance * x) ** 2 / total + drift)

    def settle(self, me, y, played, alone):
        if not self.logistic:
            me.worst = max(me.worst, abs(y - alone))
        me.balance += self.loss(alone, y) - self.loss(played, y)

    def charge(self, i, y, seen):
        """Book what each neighbour's contribution of now would win or cost."""
        me, played = self.agents[i], seen["played"]
        unit, weights = self.unit(i), seen["weights"]
        both = weights[0] + weights[1]
        if unit > 1e-12 and me.n >= 2 and both > 1e-12:
            for j in self.heard(i)[1:]:
                given = 0.0
                for f in range(2):
                    _, _, contributed, factors, _ = seen["fetched"][f]
                    given += weights[f] / both * factors[j] * contributed[j]
                cost = self.loss(played, y) - self.loss(played - given, y)
                me.trust[j] -= cost / unit
                if me.trust[j] <= 0.02:
                    me.listens[j] = False

    def judge(self, me, y, seen, said):
        """Let the weights of now learn from what the experts said."""
        wish = float(seen["weights"] @ said["others"])
        me.mixture.learn(said["others"], wish, self.slope(wish, y, seen["graph"].spread))
        me.evidence = me.mixture.evidence()
        own = float(seen["own_weights"] @ said["alones"])
        me.alone_mixture.learn(said["alones"], own, self.slope(own, y, seen["alone"].spread))

    def slope(self, p, y, spread):
        if self.logistic:
            return 1 / (1 + np.exp(-p)) - y
        return 2 * np.clip((p - y) / spread, -5, 5) / spread if spread > 1e-12 else 0.0

    def solve(self, i):
        me = self.agents[i]
        me.solved = me.n
        graph, alone = me.scales["graph"], me.scales["alone"]
        itself, shared = me.filters[0].alone, me.filters[0].shared
        if self.logistic:
            itself, shared = as_probability(itself, alone), as_probability(shared, graph)
        me.ridges["alone"] = self.drawn(me, alone, itself, c.SLOPE_VARIANCE, 1000.0)
        me.ridges["shared"] = self.drawn(me, graph, shared, c.RIDGE_VARIANCE, graph.apart)
        if self.rows:
            to = self.regression(i, graph)
            me.between = self.ratio(i, graph, to)
            level = me.between * graph.noise
            me.ridges["neighbours"] = self.drawn(me, graph, to, c.RIDGE_VARIANCE, level)

    def rows_heard(self, i, scale):
        """Rows of all that are heard: agents, targets, features in units of the scale.

        Features that do not vary are zero; all are, if targets do not vary.
        """
        heard = [j for j in self.heard(i) if self.agents[j].n]
        who = np.repeat(heard, [self.agents[j].n for j in heard])
        table = np.vstack([self.agents[j].table for j in heard])
        use = (scale.deviation > 1e-12) & (scale.spread > 1e-12)
        x = np.where(use, table - scale.centre, 0.0) / np.where(use, scale.deviation, 1.0)
        return who, table[:, 0], x[:, 1:]

    def regression(self, i, scale):
        """Level at the scale's centre and scaled slopes, if levels vary at random."""
        who, y, x = self.rows_heard(i, scale)
        same = (who[:, None] == who).astype(float)
        covariance = np.eye(len(y)) + self.agents[i].between * same
        design = np.column_stack([np.ones(len(y)), x])
        weighted = np.linalg.solve(covariance, design).T
        penalty = np.eye(len(design.T)) * scale.noise / c.POOLED_VARIANCE
        penalty[0, 0] = 0.0
        found = np.linalg.solve(weighted @ design + penalty, weighted @ (y - scale.centre[0]))
        found[0] += scale.centre[0]
        found[1:] /= scale.spread if scale.spread > 1e-12 else 1.0
        return found

    def ratio(self, i, scale, to):
        """The variance between levels over that within agents, by an analysis of variance."""
        who, y, x = self.rows_heard(i, scale)
        rest, agents = y - scale.spread * x @ to[1:], np.unique(who)
        levels = {j: rest[who == j].mean() for j in agents}
        within = sum((r - levels[j]) ** 2 for j, r in zip(who, rest, strict=True))
        across = sum((levels[j] - rest.mean()) ** 2 for j in who)
        count, free = len(rest), len(rest) - len(agents)
        if free < 1 or within + across <= 1e-24:
            return c.RIDGE_LEVEL_VARIANCE
        whole = (within + across) / count
        found = max(0.0, across - (len(agents) - 1) * within / free) / count
        variance = (found * free + c.RIDGE_LEVEL_VARIANCE * whole * 20) / (free + 20)
        return variance / max(within / free, whole / 1e6)

    def drawn(self, me, scale, to, slopes, level):
        """The ridge on own rows drawn to a level at the scale's centre and scaled slopes."""
        line, base = np.zeros(len(to)), to[0]
        use = np.flatnonzero(scale.deviation[1:] > 1e-12) + 1
        if scale.spread > 1e-12 and len(use):
            d = scale.deviation[use]
            products = me.scatter[np.ix_(use, use)] / np.outer(d, d)
            left = me.scatter[use, 0] / (d * scale.spread) - products @ to[use]
            more = np.linalg.solve(products + np.eye(len(use)) * scale.noise / slopes, left)
            line[use] = (to[use] + more) * scale.spread / d
            base += scale.spread * to[use] @ ((me.mean[use] - scale.centre[use]) / d)
        line[0] = base + (me.mean[0] - base) * me.n / (me.n + scale.noise / level)
        return line, me.mean.copy()


def as_probability(part, scale):
    """Level and slopes of log-odds as those of a probability: a slope times mu (1 - mu)."""
    to = 2 * part * scale.centre[0] * (1 - scale.centre[0])
    to = to / scale.spread if scale.spread > 1e-12 else 0 * to
    to[0] = 1 / (1 + np.exp(-part[0]))
    return to


def log_odds(p):
    p = np.clip(p, 0.02, 0.98)
    return np.log(p / (1 - p))
