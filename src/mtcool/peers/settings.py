"""The settings of a network: which algorithm, which learner, which units."""

from dataclasses import dataclass
from typing import NoReturn, get_args

from mtcool import validation
from mtcool.field.messages import Messages
from mtcool.field.settings import FieldSettings
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT, Learner, first_phase
from mtcool.learners.adaptive.adaptive import Adaptive
from mtcool.learners.adaptive.rescale import rescale
from mtcool.learners.changing import begin_clique, implements
from mtcool.learners.squared_weights import SquaredWeights
from mtcool.peers.algorithm import RATES, Algorithm
from mtcool.peers.protocol import SLACK, Units
from mtcool.privacy.settings import PrivacySettings
from mtcool.types import Lipschitz, OnExcess, Rates
from mtcool.validation import LARGEST, SMALLEST

ADAPTIVE = "adaptive"
KNOWN = ", ".join(kind.__name__ for kind in (MTFTRL, MTFTRLKT, FTRL, KT))
"""Learners of the package that can change, and whose sums can be expressed in another unit."""

FIELD_RATES: tuple[Rates, ...] = ("adversarial", "adaptive")
"""Rates that need not know who will be active how often."""

LARGEST_DIM = 2**40
"""No memory holds more, and counts of numbers fit into their type."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that, with a graph and weights, determine a fresh network; refuses wrong ones."""

    algorithm: Algorithm
    dim: int
    learner: Learner
    lipschitz: Lipschitz = 1.0
    radius: float = 1.0
    on_excess: OnExcess = "raise"
    rates: Rates = "adversarial"
    q: tuple[float, ...] | None = None
    q_min: float | None = None
    horizon: int | None = None
    privacy: PrivacySettings | None = None
    field: FieldSettings | None = None
    """Of networks with messages, delays or changes of their own."""

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
            ("dim", _dim),
            ("lipschitz", _lipschitz),
            ("radius", _unit),
            ("q_min", validation.positive),
            ("horizon", validation.count),
        ):
            value = getattr(self, name)
            if value is not None or name not in ("q_min", "horizon"):
                object.__setattr__(self, name, check(name, value))
        if self.adaptive:
            check_adaptive(self.algorithm, self.learner, self.rates)
            if self.on_excess != "raise":
                raise ValueError(
                    "on_excess applies only to a lipschitz that is a number, because no gradient "
                    f"exceeds 'adaptive', got {self.on_excess!r}"
                )
        if self.field is not None:
            check_field(self)
        if self.rates == "stochastic" and self.q is None:
            raise ValueError('q must be given for rates="stochastic", got None')
        for name in ("q_min", "horizon"):
            value = getattr(self, name)
            if (value is not None) != (self.rates == "estimated"):
                must = "must be given for" if value is None else "applies only to"
                raise ValueError(f'{name} {must} rates="estimated", got {value!r}')

    @property
    def adaptive(self) -> bool:
        """Whether cliques measure gradients themselves."""
        return self.lipschitz == ADAPTIVE

    @property
    def clique_learner(self) -> Learner:
        """The learner as cliques run it: it measures what it is not told, gradients or rates."""
        if self.rates == "adaptive":
            return SquaredWeights(self.learner)
        return Adaptive(self.learner) if self.adaptive else self.learner

    @property
    def gradient_unit(self) -> float:
        """What gradients are divided by before they are sent: their bound, if it is given."""
        return 1.0 if isinstance(self.lipschitz, str) else self.lipschitz

    @property
    def units(self) -> Units:
        """Radius, gradient bound and what happens to longer gradients, for compiled code."""
        limit = LARGEST if self.adaptive else SLACK
        return Units(self.radius, self.gradient_unit, self.on_excess == "clip", limit)

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


def check_adaptive(algorithm: Algorithm, learner: Learner, rates: Rates) -> None:
    """Refuse to go without a gradient bound where one must be known in advance."""
    if algorithm.private:
        raise ValueError(
            f"lipschitz must be a number for {algorithm}, got 'adaptive': noise is made for the "
            "most that one gradient can change, so its bound must be known in advance"
        )
    if not algorithm.adaptive:
        raise ValueError(
            f"lipschitz must be a number for {algorithm}, got 'adaptive', of which nothing is "
            "proved for it"
        )
    if not implements(rescale, learner):
        raise ValueError(
            f"learner must be one of {KNOWN} for lipschitz='adaptive', or register "
            f"mtcool.learners.rescale, got {learner!r}: of others it is not known how to change "
            "the unit of their gradients"
        )
    if rates != "adversarial":
        raise ValueError(
            f"rates must be 'adversarial' for lipschitz='adaptive', got {rates!r}: the others are "
            "made for gradients whose bound is known in advance"
        )


def check_field(settings: Settings) -> None:
    """Refuse messages, delays and changes where nothing is known of them."""
    algorithm, learner, field = settings.algorithm, settings.learner, settings.field
    if algorithm.private and field is not None:
        refuse_private(algorithm, field)
    if not algorithm.changing:
        raise ValueError(
            "messages, delays and changes of the graph are for mt_co2ol only, got them for "
            f"{algorithm}"
        )
    if not implements(begin_clique, learner):
        raise ValueError(
            f"learner must be one of {KNOWN} in a network with messages, delays or changes of its "
            f"own, or register mtcool.learners.begin_clique, got {learner!r}"
        )
    if settings.adaptive:
        raise ValueError(
            "lipschitz must be a number in a network with messages, delays or changes of its own, "
            f"got {settings.lipschitz!r}"
        )
    if settings.rates not in FIELD_RATES:
        raise ValueError(
            f"rates must be one of {', '.join(FIELD_RATES)} in a network with messages, delays or "
            f"changes of its own, got {settings.rates!r}"
        )


def refuse_private(algorithm: Algorithm, field: FieldSettings) -> NoReturn:
    """Refuse messages, delays and changes of a private network, and say what to use instead."""
    if not field.messages.is_plain:
        refuse_messages(algorithm, field.messages)
    if not field.delays.is_none:
        raise ValueError(
            f"delays do not apply to a network of {algorithm}, got {field.delays!r}: carry the "
            "messages of its agents, net.agents(), as late as they are"
        )
    raise ValueError(
        f"the graph of {algorithm} cannot change, because noise is calibrated for whom agents "
        "listen to when the network is made"
    )


def refuse_messages(algorithm: Algorithm, messages: Messages) -> NoReturn:
    """Refuse `messages` for a private algorithm, and say what to use instead."""
    raise ValueError(
        f"messages do not apply to {algorithm}, got {messages!r}: private agents send their sums "
        "to all neighbours in every round. Leave messages out, or use mt_co2ol with messages, "
        "which keeps nothing private"
    )


def publishing(algorithm: Algorithm, learner: Learner) -> MTFTRL:
    """The learner of a private algorithm, whose sums can be published with noise."""
    if not isinstance(learner, MTFTRL):
        raise ValueError(
            f"learner must be MTFTRL(...) for {algorithm}, whose sums can be published "
            f"with noise, got {learner!r}"
        )
    return learner


def _lipschitz(name: str, value: Lipschitz) -> Lipschitz:
    if not isinstance(value, str):
        return _unit(name, value)
    if value != ADAPTIVE:
        raise ValueError(f"{name} must be a number, got {value!r}; without one, give {ADAPTIVE!r}")
    return value


def _dim(name: str, value: int) -> int:
    dim = validation.count(name, value)
    if dim > LARGEST_DIM:
        raise ValueError(f"{name} must be at most {LARGEST_DIM}, got {value!r}")
    return dim


def _unit(name: str, value: float) -> float:
    number = validation.positive(name, value)
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(f"{name} must be between {SMALLEST} and {LARGEST}, got {value!r}")
    return number
