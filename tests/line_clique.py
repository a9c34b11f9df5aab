"""Cliques that grow and hear late, the obvious way: tasks on the line, NumPy, explicit formulas.

Written from the definitions in `docs/bounds.md` alone. A clique has `rows()`, what it would play;
`learn(row, weight, gradient, lag)`; `grow()`, which doubles its slots; and `announce(bound)`. A
`Run` plays one against somebody who sees what it plays.
"""

import math

import numpy as np

from mtcool import theory


def paper_experts(slots):
    return np.arange(1, slots + 1) / slots


def with_rows_in_the_ball(pull, pole):
    """The rows x with x_i = clip(pull_i + pole * mean(x)), for 0 <= pole < 1, one for each pull."""
    ends = np.concatenate(((1.0 - pull) / pole, (-1.0 - pull) / pole), axis=1)
    ends.sort(axis=1)
    rest = np.clip(pull[:, None, :] + pole[:, :, None] * ends[:, :, None], -1, 1).mean(2) - ends
    # The rest falls as the mean grows: it is linear between the last end above zero and the next.
    place = np.clip((rest >= 0.0).sum(axis=1), 1, ends.shape[1] - 1)
    k = np.arange(len(pull))
    low, high, down, up = ends[k, place - 1], ends[k, place], rest[k, place - 1], rest[k, place]
    inside = low + (high - low) * down / np.where(down > up, down - up, 1.0)
    mean = np.where(rest[:, 0] < 0.0, 0.0, inside)[:, None]
    # Outside of all ends every row is on the ball, and its sign is that of the mean.
    outer = np.where(rest[:, :1] < 0.0, -1.0, np.where(rest[:, -1:] > 0.0, 1.0, mean))
    return np.clip(pull + pole * outer, -1.0, 1.0)


def minimisers(gamma, eta, cap):
    """argmin eta <gamma, x> + |x|_A^2 / 2 with |x_i| <= 1 and deviation at most cap, for each."""
    slots = len(gamma)
    eta, cap = eta[:, None], np.asarray(cap, float)
    mean = gamma.mean()
    if slots == 1:
        return np.clip(-eta * gamma, -1.0, 1.0)
    across = -eta * (gamma - mean) / (1.0 + slots)
    spread = (across**2).sum(axis=1)
    factor = np.sqrt(np.minimum(1.0, cap / np.maximum(spread, 1e-300)))
    x = -eta * mean + factor[:, None] * across
    clipped = np.abs(x).max(axis=1) > 1.0
    if clipped.any():
        x[clipped] = _clipped(gamma, eta[clipped], cap[clipped])
    return x


def _clipped(gamma, eta, cap):
    slots = len(gamma)

    def rows(share):  # share = 1 / (1 + slots + multiplier of the deviation)
        return with_rows_in_the_ball(-eta * gamma * share, 1.0 - share)

    def deviation(x):
        return ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)

    high = np.full((len(eta), 1), 1.0 / (1.0 + slots))
    x = rows(high)
    tight = (deviation(x) > cap)[:, None]
    if not tight.any():
        return x
    low = np.full_like(high, 1e-9)
    for _ in range(36):
        middle = (low + high) / 2.0
        over = (deviation(rows(middle)) > cap)[:, None]
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return np.where(tight, rows(low), x)


class Line:
    """MT-FTRL with Hedge and beta^2 = b^2 + A."""

    def __init__(self, slots, bound, experts=paper_experts, free_last=False):
        self.experts, self.free_last = experts, free_last
        self.bound, self.lagged, self.heard = bound, 0.0, 0.0
        self._take(slots, np.zeros(slots))
        self.losses = np.zeros(len(self.sums))
        self._play()

    def _take(self, slots, gamma):
        """Sums s = xi (M - 1) of the experts, and the deviations that they allow."""
        self.gamma = gamma
        xi = self.experts(slots) if slots > 1 else np.zeros(1)
        self.sums = xi * (slots - 1)
        self.caps = self.sums.copy() if slots > 1 else np.full(1, np.inf)
        if self.free_last:
            self.caps[-1] = np.inf

    @property
    def beta(self):
        return math.sqrt(self.bound**2 + self.lagged)

    def _play(self):
        eta = len(self.gamma) * np.sqrt(1.0 + self.sums) / self.beta
        self.points = minimisers(self.gamma, eta, self.caps)
        exponents = -math.sqrt(math.log(len(self.losses))) / self.beta * self.losses
        shares = np.exp(exponents - exponents.max())
        self.shares = shares / shares.sum()

    def rows(self):
        return self.shares @ self.points

    def learn(self, row, weight, gradient, lag=0.0):
        self.losses = self.losses + weight * gradient * self.points[:, row]
        self.gamma[row] += weight * gradient
        self.lagged += weight**2 + 2.0 * weight * lag
        self.heard += weight
        self._play()

    def grow(self):
        slots, sums = len(self.gamma), self.sums
        self._take(2 * slots, np.concatenate((self.gamma, np.zeros(slots))))
        parents = np.array([(sums >= s - 1e-12).argmax() for s in self.sums])
        parents[self.sums > sums[-1] + 1e-12] = len(sums) - 1
        self.losses = self.losses[parents]
        self._play()

    def announce(self, bound):
        self.bound = max(bound, self.bound)
        self._play()


class Bettor(Line):
    """MT-FTRL with KT and beta^2 = b^2 + A."""

    def __init__(self, slots, bound):
        self.bound, self.lagged, self.heard, self.n = bound, 0.0, 0.0, 0
        self.gamma, self.outcomes, self.wealth = np.zeros(slots), 0.0, 1.0
        self.coin = bound * (1.0 if slots == 1 else math.sqrt(2.0 / slots))

    def direction(self):
        slots = len(self.gamma)
        x = -math.sqrt(slots) / self.beta * (self.gamma + self.gamma.sum()) / (1.0 + slots)
        length = math.sqrt((1.0 + slots) * (x**2).sum() - x.sum() ** 2)
        return x / max(1.0, length)

    def bet(self):
        return -self.outcomes / (self.n + 1.0) * self.wealth

    def rows(self):
        return self.bet() * self.direction()

    def learn(self, row, weight, gradient, lag=0.0):
        outcome = self.direction()[row] * weight * gradient / self.coin
        assert abs(outcome) <= 1.0 + 1e-12
        self.wealth -= self.bet() * outcome
        self.outcomes += outcome
        self.gamma[row] += weight * gradient
        self.lagged += weight**2
        self.n += 1

    def grow(self):
        self.gamma = np.concatenate((self.gamma, np.zeros(len(self.gamma))))

    def announce(self, bound):
        ratio = self.bound / max(bound, self.bound)
        self.bound, self.coin = self.bound / ratio, self.coin / ratio
        self.outcomes, self.wealth = self.outcomes * ratio, self.wealth * ratio + 1.0 - ratio


class Run:
    """A clique that was played against, and what it received.

    `foe(t, row, played)` is the gradient of round t, which arrives `delays[t]` rounds later;
    `events[t]` is a list of what the clique is told to do before round t.
    """

    def __init__(self, clique, rows, weights, foe, delays=None, events=None):
        self.clique, self.start, self.first_bound = clique, len(clique.gamma), clique.bound
        self.rows, self.weights = np.asarray(rows), np.asarray(weights)
        self.played, self.gradients = np.zeros((2, len(rows)))
        self.squares = self.lag = self.late = 0.0
        self.updates, under_way = 0, []
        for t, row in enumerate(self.rows):
            for method, *given in (events or {}).get(t, ()):
                getattr(clique, method)(*given)
            self.played[t] = clique.rows()[row]
            self.gradients[t] = foe(t, row, self.played[t])
            under_way.append((t + (0 if delays is None else delays[t]), t, clique.heard))
            for due, sent, stamp in [message for message in under_way if message[0] <= t]:
                self._deliver(sent, clique.heard - stamp, due > sent)
            under_way = [message for message in under_way if message[0] > t]
        self.lost = sum(self.weights[sent] for _, sent, _ in under_way)

    def _deliver(self, sent, lag, late):
        weight = self.weights[sent]
        self.clique.learn(self.rows[sent], weight, self.gradients[sent], lag)
        self.squares += weight**2
        self.lag, self.late = max(self.lag, lag), self.late + late * weight
        self.updates += 1

    def received(self):
        return theory.Received(
            members=[range(self.rows.max() + 1)],
            slots=len(self.clique.gamma),
            start=self.start,
            bound=self.clique.bound,
            first_bound=self.first_bound,
            squares=self.squares,
            lagged=max(self.clique.lagged, self.squares),
            lag=self.lag,
            late=self.late,
            lost=self.lost,
            updates=self.updates,
        )

    def regret(self, tasks):
        return float((self.weights * self.gradients * (self.played - tasks[self.rows])).sum())

    def comparators(self):
        """Nothing, what is common, what is best for each, what lies between, and chance."""
        totals = np.zeros(self.rows.max() + 1)
        np.add.at(totals, self.rows, self.weights * self.gradients)
        best, common = -np.sign(totals), np.full(len(totals), -np.sign(totals.sum()))
        for mix in (0.0, 0.3, 1.0):
            yield mix * best + (1.0 - mix) * common
        yield from (0.0 * best, 0.3 * best, 0.6 * common)
        yield np.random.default_rng(len(totals)).uniform(-1.0, 1.0, len(totals))

    def worst(self, bound, scale=1.0):
        """The largest regret over its bound, of the comparators that the bound covers."""
        run, ratios = self.received(), []
        for tasks in self.comparators():
            promised = bound(run, scale * tasks[:, np.newaxis])
            if promised.covers_tasks:
                ratios.append(self.regret(scale * tasks) / promised.value)
        return max(ratios)
