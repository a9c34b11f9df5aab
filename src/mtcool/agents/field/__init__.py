"""One agent in the field: its graph changes, messages are few, small, late or lost.

`agent.py` has the agent, `activation.py` a round of it, `partners.py` whom it asks, `receiving.py`
what it does with messages, `coding.py` the bytes of models and gradients, `clique.py` the clique
that it keeps, `account.py` what that has received, `parts.py` where its numbers are, `neighbour.py`
what is kept of each neighbour. None of them knows of time or of loss: that is for whoever carries
the messages.
"""

from mtcool.agents.field.agent import FieldAgent

__all__ = ["FieldAgent"]
