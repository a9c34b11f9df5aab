"""One agent of MT-CO2OL in the field."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.agents.field.activation import FieldActivation
from mtcool.agents.field.clique import FieldClique
from mtcool.agents.field.coding import Code
from mtcool.agents.field.neighbour import Neighbour, check_new
from mtcool.agents.field.receiving import take
from mtcool.agents.kernels import scale
from mtcool.agents.messages import Announcement, Message, sender_of
from mtcool.agents.received import Position
from mtcool.field.sizes import name_size
from mtcool.graphs.labels import plain_name
from mtcool.peers.exchange import refuse
from mtcool.peers.field.bounds import bound_for_others, own_bound
from mtcool.peers.field.making import rules_of
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Label


class FieldAgent:
    """An agent of MT-CO2OL whose graph may change, and whose messages may be few, small or late.

    It knows who its neighbours are, and the index of each: its place in the order in which the
    agents of the network became known, which all draws depend on. Whoever carries its messages
    decides which of them are late or lost, and tells it who its neighbours are.

    Parameters
    ----------
    name
        Its name, which can be sent.
    index
        How many agents became known before it.
    settings
        Those of the network.
    clique, neighbours, weights, heard, promised, origin
        What a running agent knows, with the counts below; without it the agent is new, and must
        `join`.
    begun, fresh, present, messages, message_bytes
        Its counts, and whether it is there.

    Examples
    --------
    >>> import mtcool
    >>> seldom = mtcool.Messages(every=2)
    >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, rates="adaptive", messages=seldom)
    >>> agent = net.agent(3)
    >>> list(agent.activate().requests), list(agent.activate().requests)
    ([0], [])
    """

    def __init__(
        self,
        name: Label,
        index: int,
        settings: Settings,
        clique: FieldClique | None = None,
        neighbours: Mapping[Label, Neighbour] | None = None,
        weights: Mapping[Label, float] | None = None,
        heard: Mapping[Label, Position] | None = None,
        promised: Mapping[Label, float] | None = None,
        origin: tuple[Label, ...] | None = None,
        begun: int = 0,
        fresh: bool = True,
        present: bool = False,
        messages: int = 0,
        message_bytes: int = 0,
    ) -> None:
        if settings.field is None:
            raise ValueError(f"settings must be those of a network in the field, got {settings!r}")
        self.name, self.index, self.settings = name, index, settings
        self.sender = plain_name(name, "sent")
        self.sender_size = name_size(self.sender)
        self.units = settings.units
        self.field = settings.field
        self.rules = rules_of(settings.field, settings.dim)
        self.code = Code(settings.field.messages, self.rules, settings.dim)
        self._clique = clique
        self.neighbours: dict[Label, Neighbour] = {}
        """Those that are there now, ascending by index."""
        self.sizes: dict[Label, int] = {}
        """Bytes of the names of all that were ever its neighbours."""
        self._put(neighbours or {})
        self.weights = None if weights is None else dict(weights)
        """For itself and its neighbours, or None if they are uniform."""
        self.heard = dict(heard or {})
        """Which rounds of others it has learned from."""
        self.promised = dict(promised or {})
        """Sums of the weights with which it has listened since it was cut out of a network.

        Where messages may be lost, a clique does not know what it should have received.
        """
        self.origin = origin
        """Itself and its neighbours when the network began; None if it joined later."""
        self.begun = begun
        """Rounds that it has begun."""
        self.fresh = fresh
        """It joined a running network, and was not active since."""
        self.present = present
        self.messages = messages
        """Messages that its own rounds have caused: requests, answers and gradients."""
        self.message_bytes = message_bytes

    def __reduce__(self) -> tuple[Any, ...]:
        kept = (self._clique, self.neighbours, self.weights, self.heard, self.promised)
        known = copy.deepcopy(kept)
        counts = (self.begun, self.fresh, self.present, self.messages, self.message_bytes)
        return FieldAgent, (self.name, self.index, self.settings, *known, self.origin, *counts)

    @property
    def clique(self) -> FieldClique:
        """The clique that it keeps."""
        if self._clique is None:
            raise ValueError(f"agent must have joined a network, got {self.name!r}, which has not")
        return self._clique

    def activate(self) -> FieldActivation:
        """Begin a round."""
        self._check_present()
        return FieldActivation(self)

    def receive(self, message: Message) -> Message | None:
        """Take a message; a request is answered. What was taken before, or is outdated, is ignored.

        An agent that has left takes nothing.

        Parameters
        ----------
        message
            A request, a row, a gradient or an announcement.
        """
        sender = sender_of(message)
        if not self.present:
            return None
        if sender == self.name or sender not in self.clique.rows:
            raise ValueError(f"sender must be a neighbour of agent {self.name!r}, got {sender!r}")
        return take(message, self, sender)

    def in_units(self, gradient: ArrayLike) -> Floats:
        """A gradient in units of `lipschitz`; refuses one that is too long.

        Parameters
        ----------
        gradient
            As the loss has it.
        """
        given = validation.vector("gradient", gradient, self.settings.dim)
        g = given.copy()
        if not scale(g, self.units):
            refuse(given, self.settings)
        return g

    def learn(
        self, name: Label, weight: float, stamp: float, gradient: Floats, coding: float = 0.0
    ) -> None:
        """Let its clique learn; the rate counts how late a gradient is, and how it was coded.

        Parameters
        ----------
        name
            Whose gradient it is.
        weight
            With which that agent listened.
        stamp
            That of the row which it used.
        gradient
            In units of `lipschitz`.
        coding
            By what share coding makes the mean of its squared length larger.
        """
        rules, extra = self.rules, coding * weight * weight
        if rules.late:
            waits = name != self.name or rules.label_constant > 0.0 or rules.label_mean > 0.0
            extra += self.clique.account.take(weight, stamp, waits)
        self.clique.learn(name, weight, gradient, extra)

    # --- changes ---------------------------------------------------------------------------------

    def order(self, index: int, neighbours: Mapping[Label, int]) -> None:
        """Give agents other places in the order of all, which must stay the same order.

        Parameters
        ----------
        index
            The agent's own place.
        neighbours
            The places of all its neighbours, by name.
        """
        self.index = index
        for name, place in neighbours.items():
            self.neighbours[name].index = place
        self._put({})

    def join(self, neighbours: Mapping[Label, int]) -> dict[Label, Announcement]:
        """Enter a network, for the first time or again; returns what to tell the neighbours.

        Parameters
        ----------
        neighbours
            Their names and indices.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, messages=mtcool.Messages())
        >>> new = FieldAgent("new", 4, net.settings)
        >>> new.join({0: 0, 1: 1})[1].bound
        0.5
        """
        if self.present:
            raise ValueError(f"agent must not be in the network yet, got {self.name!r}")
        check_new(self.name, self.index, self.neighbours, neighbours)
        if self._clique is None:
            bound = own_bound(self.rules, len(neighbours))
            self._clique = FieldClique(self.settings, 1 + len(neighbours), bound, {self.name: 0})
        self.present, self.fresh = True, self.begun == 0
        self._meet(neighbours)
        return self._announce(self.neighbours)

    def leave(self) -> None:
        """Leave the network, and all neighbours; the agent may join again.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, messages=mtcool.Messages())
        >>> agent = net.agent(0)
        >>> agent.leave()
        >>> agent.neighbours
        {}
        """
        self._check_changes()
        self.present = False
        self.neighbours.clear()

    def connect(self, name: Label, index: int) -> dict[Label, Announcement]:
        """Have a new neighbour, or one that was there before; returns what to tell it.

        Parameters
        ----------
        name, index
            Its name, and how many agents became known before it.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, messages=mtcool.Messages())
        >>> net.agent(3).connect(2, 2)[2].bound == 1 / 3
        True
        """
        self._check_changes()
        check_new(self.name, self.index, self.neighbours, {name: index})
        self._meet({name: index})
        return self._announce([name])

    def disconnect(self, name: Label) -> dict[Label, Announcement]:
        """Lose a neighbour; returns what to tell the others.

        Parameters
        ----------
        name
            Its name.

        Examples
        --------
        >>> import mtcool
        >>> net = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, messages=mtcool.Messages())
        >>> list(net.agent(0).disconnect(2))
        [1, 3]
        """
        self._check_changes()
        self.neighbour(name)
        del self.neighbours[name]
        return self._announce(self.neighbours)

    def _announce(self, names: Iterable[Label]) -> dict[Label, Announcement]:
        others = len(self.neighbours)
        self.clique.expect(own_bound(self.rules, others))
        if not others:
            return {}
        said = Announcement(self.sender, bound_for_others(self.rules, others, self.fresh))
        return dict.fromkeys(names, said)

    def _meet(self, neighbours: Mapping[Label, int]) -> None:
        for name in sorted(neighbours, key=neighbours.__getitem__):
            self.clique.admit(name)
        self._put({name: Neighbour(index) for name, index in neighbours.items()})

    def _put(self, neighbours: Mapping[Label, Neighbour]) -> None:
        known = {**self.neighbours, **neighbours}
        self.sizes |= {name: name_size(plain_name(name, "sent")) for name in neighbours}
        self.neighbours = dict(sorted(known.items(), key=lambda item: item[1].index))

    # --- refusals --------------------------------------------------------------------------------

    def _check_present(self) -> None:
        if not self.present:
            raise ValueError(f"agent must be in the network, got {self.name!r}, which is not there")

    def _check_changes(self) -> None:
        self._check_present()
        if self.weights is not None:
            raise ValueError(
                "weights must be uniform in a network whose graph changes, got weights of one's own"
            )

    def neighbour(self, name: Label) -> Neighbour:
        """What it keeps of a neighbour; refuses who is none.

        Parameters
        ----------
        name
            Its name.
        """
        found = self.neighbours.get(name)
        if found is None:
            raise ValueError(f"agent must be a neighbour of {self.name!r}, got {name!r}")
        return found
