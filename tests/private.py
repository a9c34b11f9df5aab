"""Private networks from one dictionary of settings."""

from dataclasses import fields

import mtcool

LEVELS = {field.name for field in fields(mtcool.Privacy)}


def private_network(graph, dim, **settings):
    """`dpmt_co2ol` with those settings that are fields of `Privacy` in a `Privacy`."""
    levels = {name: settings.pop(name) for name in LEVELS & set(settings)}
    return mtcool.dpmt_co2ol(graph, dim, mtcool.Privacy(**levels), **settings)
