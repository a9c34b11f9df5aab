"""One agent in the field: its graph changes, messages are few, small, late or lost.

`agent.py` has the agent, `activation.py` a round of it, `partners.py` whom it asks, `receiving.py`
what it does with messages, `coding.py` the bytes of models and gradients, `clique.py` the clique
that it keeps, `account.py` what that has received, `parts.py` where its numbers are, `neighbour.py`
what is kept of each neighbour, `bounds.py` how large weights may be. None of them knows of time or
of loss: that is for whoever carries the messages, such as `carrier.py`, with what is under way in
`post.py`.
"""

from mtcool.agents.field.agent import FieldAgent
from mtcool.agents.field.carrier import Carrier

__all__ = ["Carrier", "FieldAgent"]
