"""Agents one by one: each has its own state, messages in, messages out, and nothing else.

An agent has no clock, no socket, no thread and no randomness but the noise it is given. Whoever
carries the messages (a test, a simulated network with faults, or a real one) plays a round so. The
same learner functions run as in a network of many agents, so both give the same bits.

Examples
--------
>>> import mtcool
>>> others = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1).agents()
>>> agent = others[3]
>>> activation = agent.activate()  # 1.
>>> asked = activation.requests.items()
>>> answers = {to: others[to].receive(request) for to, request in asked}
>>> activation.predict(answers)  # 2. and 3.
array([0.])
>>> for to, message in activation.learn([0.5]).items():  # 4. and 5.
...     others[to].receive(message)
"""

from mtcool.agents.agent import Activation, Agent
from mtcool.agents.cliques import CliqueAgent
from mtcool.agents.cutting import cut, join
from mtcool.agents.field import FieldAgent
from mtcool.agents.messages import (
    Announcement,
    FieldGradient,
    FieldRequest,
    FieldRow,
    Gradient,
    LossShared,
    Message,
    RowRequest,
    Rows,
    Sums,
    decode,
    encode,
)
from mtcool.agents.private import PrivateAgent
from mtcool.agents.single_task import SingleTaskAgent
from mtcool.agents.traffic import Traffic, traffic

__all__ = [
    "Activation",
    "Agent",
    "Announcement",
    "CliqueAgent",
    "FieldAgent",
    "FieldGradient",
    "FieldRequest",
    "FieldRow",
    "Gradient",
    "LossShared",
    "Message",
    "PrivateAgent",
    "RowRequest",
    "Rows",
    "SingleTaskAgent",
    "Sums",
    "Traffic",
    "cut",
    "decode",
    "encode",
    "join",
    "traffic",
]
