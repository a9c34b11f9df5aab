"""Ten small panels that the constants were chosen on, beside births, flights and schools.

They have fewer rows an agent than the three streams, and agents that differ more: pupils, firms,
farms, states, countries, pigs. Graphs are complete.
"""

from __future__ import annotations

from functools import lru_cache

from benchmarks.learn.problem import Problem
from benchmarks.learn.source import Source, read_panel

PANELS = {
    "wages": Source(
        "plm", "Males", "nr", "wage", ("school", "exper", "union", "married", "health"), "year"
    ),
    "star": Source("mlmRev", "star", "sch", "math", ("ses", "sx", "gr", "cltype")),
    "egsingle": Source(
        "mlmRev", "egsingle", "schoolid", "math", ("year", "female", "black", "hispanic", "lowinc")
    ),
    "insteval": Source("lme4", "InstEval", "dept", "y", ("studage", "lectage", "service"), every=4),
    "produc": Source("plm", "Produc", "state", "gsp", ("pcap", "pc", "emp", "unemp"), "year"),
    "farms": Source(
        "plm", "RiceFarms", "id", "goutput", ("size", "seed", "urea", "phosphate", "totlabor")
    ),
    "empl": Source("plm", "EmplUK", "firm", "emp", ("wage", "capital", "output"), "year"),
    "dietox": Source(
        "geepack", "dietox", "Pig", "Weight", ("Feed", "Time", "Evit", "Cu", "Start"), "Time"
    ),
    "gapminder": Source(
        "gapminder", "gapminder", "country", "lifeExp", ("year", "pop", "gdpPercap"), "year"
    ),
    "blackmore": Source("carData", "Blackmore", "subject", "exercise", ("age", "group")),
}


@lru_cache(maxsize=4)
def panel(name: str, quick: bool) -> tuple[Problem, ...]:
    """The panel in each of its orders."""
    return read_panel(name, PANELS[name], quick)
