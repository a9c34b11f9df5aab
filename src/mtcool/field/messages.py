"""`Messages`: how often agents talk, to how many neighbours, and in how many bytes."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, fields
from typing import Literal, TypeAlias, get_args

from mtcool import validation

Choice: TypeAlias = Literal["random", "best"]
MOST_BITS = 52  # levels of more bits are no longer whole numbers of a double
MOST = 2**62  # of anything: compiled code counts with 64 bits


@dataclass(frozen=True)
class Messages:
    """What agents may say: by default they talk in every round, to all neighbours, exactly.

    An agent that is active asks neighbours for their models of its task, and afterwards sends them
    its gradient: three messages for each neighbour, a request, an answer and a gradient. In a
    silent round it predicts with its own model and learns by itself.

    Parameters
    ----------
    every
        Talk in every so many of an agent's own rounds, starting with its first.
    probability
        Talk in such a round with this probability.
    partners
        The most neighbours that an agent talks to in a round; all of them if None.
    choose
        How they are chosen: "random", anew in every round; "best", those whose models would have
        served the agent best so far, where neighbours never heard come first.
    budget, budget_bytes
        The most messages, or bytes, that an agent's own rounds may cost in all; it falls silent
        before it would exceed them. No limit if None.
    bits
        Round every number of a model or a gradient at random, but right on average, to so many
        bits (1 to 52).
    coordinates
        Refused: `bits` makes messages small.

    Examples
    --------
    >>> Messages(every=10, partners=3, bits=8).silent
    True
    >>> Messages(probability=0.0)
    Traceback (most recent call last):
    ...
    ValueError: probability must be positive, got 0.0
    """

    every: int = 1
    probability: float = 1.0
    partners: int | None = None
    choose: Choice = "random"
    budget: int | None = None
    budget_bytes: int | None = None
    bits: int | None = None
    coordinates: InitVar[None] = None

    def __post_init__(self, coordinates: object) -> None:
        if coordinates is not None:
            raise ValueError(
                "coordinates are not an option of messages any more, got "
                f"coordinates={coordinates!r}: use bits to make messages small"
            )
        self._keep("probability", validation.positive("probability", self.probability))
        if self.probability > 1:
            raise ValueError(f"probability must be at most 1, got {self.probability!r}")
        for name in ("every", "partners", "budget", "budget_bytes", "bits"):
            value = getattr(self, name)
            if value is not None or name == "every":
                self._keep(name, validation.count(name, value))
            if value is not None and value > MOST:
                raise ValueError(f"{name} must be at most {MOST}, got {value!r}")
        validation.one_of("choose", self.choose, get_args(Choice))
        if self.choose == "best" and self.partners is None:
            raise ValueError('choose="best" needs a number of partners, got partners=None')
        if self.bits is not None and self.bits > MOST_BITS:
            raise ValueError(f"bits must be at most {MOST_BITS}, got {self.bits!r}")

    def __repr__(self) -> str:
        values = ((one, getattr(self, one.name)) for one in fields(self))
        asked = (f"{one.name}={value!r}" for one, value in values if value != one.default)
        return f"Messages({', '.join(asked)})"

    def _keep(self, name: str, value: float) -> None:
        object.__setattr__(self, name, value)

    @property
    def silent(self) -> bool:
        """Whether some rounds may be silent.

        Examples
        --------
        >>> Messages(partners=3).silent, Messages(budget=1000).silent
        (False, True)
        """
        return self.every > 1 or self.probability < 1.0 or self.ends

    @property
    def ends(self) -> bool:
        """Whether a budget ends all talk.

        Examples
        --------
        >>> Messages(every=2).ends, Messages(budget_bytes=10_000).ends
        (False, True)
        """
        return self.budget is not None or self.budget_bytes is not None

    @property
    def is_plain(self) -> bool:
        """Whether nothing differs from talking to all neighbours in every round, exactly.

        Examples
        --------
        >>> Messages().is_plain, Messages(bits=8).is_plain
        (True, False)
        """
        return self == Messages()
