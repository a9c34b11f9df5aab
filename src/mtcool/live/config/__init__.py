"""The description of a network: one TOML file that all of its hosts share."""

from typing import TYPE_CHECKING

from mtcool.lazy import attach
from mtcool.live.config.addresses import Place
from mtcool.live.config.making import drivers_of
from mtcool.live.config.reading import Description, described, read_description

if TYPE_CHECKING:
    from mtcool.live.config.models import model_of
    from mtcool.live.config.networks import network_of
else:
    __getattr__, __dir__ = attach(__name__, {"models": ("model_of",), "networks": ("network_of",)})

__all__ = [
    "Description",
    "Place",
    "described",
    "drivers_of",
    "model_of",
    "network_of",
    "read_description",
]
