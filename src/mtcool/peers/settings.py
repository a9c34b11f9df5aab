"""The settings of a network: which algorithm, which learner, which units."""

from dataclasses import dataclass
from typing import get_args

from mtcool import validation
from mtcool.learners import MTFTRL, Learner, first_phase
from mtcool.peers.algorithm import RATES, Algorithm
from mtcool.peers.protocol import Units
from mtcool.privacy.settings import PrivacySettings
from mtcool.types import OnExcess, Rates
from mtcool.validation import LARGEST, SMALLEST


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that, with a graph and weights, determine a fresh network; refuses wrong ones."""

    algorithm: Algorithm
    dim: int
    learner: Learner
    lipschitz: float = 1.0
    radius: float = 1.0
    on_excess: OnExcess = "raise"
    rates: Rates = "adversarial"
    q: tuple[float, ...] | None = None
    q_min: float | None = None
    horizon: int | None = None
    privacy: PrivacySettings | None = None

    def __post_init__(self) -> None:
        validation.one_of("on_excess", self.on_excess, get_args(OnExcess))
        validation.one_of("rates", self.rates, RATES)
        if isinstance(self.learner, type):
            name = self.learner.__name__
            raise ValueError(f"learner must be an object, such as {name}(), got the class {name}")
        if not hasattr(self.learner, "make_state"):
            raise ValueError(f"learner must be a learner such as MTFTRL(), got {self.learner!r}")
        if self.algorithm.private:
            publishing(self.algorithm, self.learner)
        if (self.privacy is not None) != self.algorithm.private:
            must = "must be given for" if self.privacy is None else "does not apply to"
            raise ValueError(f"privacy {must} {self.algorithm}, got {self.privacy!r}")
        rates = self.algorithm.rates
        if self.rates not in rates:
            raise ValueError(
                f"rates must be one of {', '.join(rates)} for {self.algorithm}, got {self.rates!r}"
            )
        if self.privacy is not None and self.on_excess != "clip":
            raise ValueError(
                f'on_excess must be "clip" for {self.algorithm}, got {self.on_excess!r}'
            )
        for name, check in (
            ("dim", validation.count),
            ("lipschitz", _unit),
            ("radius", _unit),
            ("q_min", validation.positive),
            ("horizon", validation.count),
        ):
            value = getattr(self, name)
            if value is not None or name not in ("q_min", "horizon"):
                object.__setattr__(self, name, check(name, value))
        if self.rates == "stochastic" and self.q is None:
            raise ValueError('q must be given for rates="stochastic", got None')
        for name in ("q_min", "horizon"):
            value = getattr(self, name)
            if (value is not None) != (self.rates == "estimated"):
                must = "must be given for" if value is None else "applies only to"
                raise ValueError(f'{name} {must} rates="estimated", got {value!r}')

    @property
    def units(self) -> Units:
        """Radius, gradient bound and what happens to longer gradients, for compiled code."""
        return Units(self.radius, self.lipschitz, self.on_excess == "clip")

    @property
    def published(self) -> tuple[PrivacySettings, MTFTRL]:
        """Levels and learner of a private algorithm."""
        if self.privacy is None:
            raise ValueError(f"algorithm must be private to publish sums, got {self.algorithm}")
        return self.privacy, publishing(self.algorithm, self.learner)

    def first_phase(self, agents: int) -> int:
        """Length of the first phase for `rates="estimated"`."""
        if self.q_min is None or self.horizon is None:
            raise ValueError(f'rates must be "estimated" for a first phase, got {self.rates!r}')
        return first_phase(agents, self.q_min, self.horizon)


def publishing(algorithm: Algorithm, learner: Learner) -> MTFTRL:
    """The learner of a private algorithm, whose sums can be published with noise."""
    if not isinstance(learner, MTFTRL):
        raise ValueError(
            f"learner must be MTFTRL(...) for {algorithm}, whose sums can be published "
            f"with noise, got {learner!r}"
        )
    return learner


def _unit(name: str, value: float) -> float:
    number = validation.positive(name, value)
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(f"{name} must be between {SMALLEST} and {LARGEST}, got {value!r}")
    return number
