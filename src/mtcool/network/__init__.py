"""A network of agents: made, asked, told, saved and loaded."""

from mtcool.network.network import Network

__all__ = ["Network"]
