"""Agents one by one: the state of one agent, messages in and messages out."""

from mtcool.agents.agent import Activation, Agent
from mtcool.agents.cliques import CliqueAgent
from mtcool.agents.cutting import cut, join
from mtcool.agents.messages import (
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
    "CliqueAgent",
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
