"""What a network in the field is told: messages, delays, and the seed of its draws."""

from dataclasses import dataclass, field

from mtcool.field.delays import Delays
from mtcool.field.messages import Messages


@dataclass(frozen=True)
class FieldSettings:
    """Messages and delays of a network, and the word that its draws start from."""

    messages: Messages = field(default_factory=Messages)
    delays: Delays = field(default_factory=Delays)
    seed: int = 0

    def described(self) -> str:
        """What differs from the paper's network, as a network shows it.

        Examples
        --------
        >>> FieldSettings(Messages(partners=3)).described()
        ', messages=Messages(partners=3)'
        """
        messages = "" if self.messages.is_plain else f", messages={self.messages!r}"
        return messages + ("" if self.delays.is_none else f", delays={self.delays!r}")
