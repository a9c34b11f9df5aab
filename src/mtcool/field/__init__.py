"""Networks as they are: agents that talk seldom, briefly and late.

- `messages.py` has `Messages`, how often agents talk, to how many, and in how many bytes;
- `delays.py` has `Delays`, how late messages and labels are, and how many are lost;
- `codes.py` rounds vectors, `packing.py` makes bytes of them;
- `choosing.py` says whether an agent speaks in a round, and to whom;
- `draws.py` has all randomness: a number for each question, which does not depend on other draws.
"""

from mtcool.field.delays import Delay, Delays
from mtcool.field.messages import Messages

__all__ = ["Delay", "Delays", "Messages"]
