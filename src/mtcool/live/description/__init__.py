"""The description of a network: one TOML file that all of its hosts share."""

from mtcool.live.description.addresses import Place
from mtcool.live.description.making import drivers_of, model_of, network_of
from mtcool.live.description.reading import Description, described, read_description

__all__ = [
    "Description",
    "Place",
    "described",
    "drivers_of",
    "model_of",
    "network_of",
    "read_description",
]
