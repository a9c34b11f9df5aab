"""One agent in the field: its graph changes, messages are few, small, late or lost.

`agent.py` has the agent, `activation.py` a round of it, `clique.py` the clique that it keeps,
`neighbour.py` what it keeps of each neighbour, `coding.py` the bytes of models and gradients,
`bounds.py` how large its weights may be, `parts.py` where the numbers of a clique are. Nothing here
knows of time or of loss: that is for whoever carries the messages, such as `carrier.py`.
"""

from mtcool.agents.field.agent import FieldAgent
from mtcool.agents.field.carrier import Carrier

__all__ = ["Carrier", "FieldAgent"]
