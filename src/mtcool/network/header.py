"""The header of a saved network: its settings as plain values, with exactly these keys.

A header may come from a stranger. Every value passes through the checks that a caller's
arguments pass, and names are looked up in tables of ours, never in a module.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass

import msgspec

from mtcool import validation
from mtcool.graphs.labels import label_of, plain_name
from mtcool.learners import LEARNERS, Learner
from mtcool.network.saved_field.header import SavedField, field_from, saved_field
from mtcool.peers.algorithm import algorithm
from mtcool.peers.settings import Settings
from mtcool.privacy import AGGREGATORS, Privacy
from mtcool.privacy.calibration import Calibration
from mtcool.privacy.noise import GeneratorState
from mtcool.privacy.settings import PrivacySettings
from mtcool.types import Plain

FORMAT = "mtcool-network-2"


class Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A learner or an aggregator by its name."""

    name: str
    ours: bool
    """Of this package: a name alone would take a stranger's FTRL for ours."""
    parameters: dict[str, Plain]


class SavedPrivacy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `Privacy` with levels and horizons in node order."""

    epsilon: tuple[float, ...] | None
    delta: tuple[float, ...] | None
    rho: tuple[float, ...] | None
    horizon: tuple[int, ...]
    aggregator: Named
    calibration: str
    adjacency: str
    split: float | str
    noise: str


class SavedSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of a network without its learner."""

    algorithm: str
    dim: int
    lipschitz: float | str
    radius: float
    on_excess: str
    rates: str
    q: tuple[float, ...] | None
    q_min: float | None
    horizon: int | None
    privacy: SavedPrivacy | None
    field: SavedField | None = None
    """Only in the files of networks that have one, as `NetworkHeader.joined`."""


class Scales(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Noise that the saved network was made with."""

    law: str
    gradient: tuple[float, ...]
    products: tuple[float, ...]


class NetworkHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything of a network but its arrays."""

    format: str
    setup: SavedSettings
    learner: Named
    labels: list[Plain] | None
    noise: GeneratorState | None
    scales: Scales | None
    joined: list[Plain] | None = None
    """Names of agents that are not in the graph that the network began with."""


class _Any(msgspec.Struct):
    """What headers of all versions have."""

    format: str


def encode_header(
    settings: Settings,
    labels: Sequence[Hashable],
    noise: GeneratorState | None,
    calibration: Calibration | None,
    joined: Sequence[Hashable] = (),
) -> bytes:
    """The header of a network; `labels` are those of the graph that it began with."""
    header = NetworkHeader(
        format=FORMAT,
        setup=_saved(settings),
        learner=_named(settings.learner, LEARNERS),
        labels=plain_labels(labels),
        noise=noise,
        scales=None if calibration is None else scales_of(calibration),
        joined=plain_labels(joined) if joined else None,
    )
    return _encoded(header)


def decode_format(content: bytes) -> str:
    """The version of a header, whatever else is in it."""
    return msgspec.msgpack.decode(content, type=_Any).format


def decode_header(content: bytes) -> NetworkHeader:
    """A header of this version; missing and strange keys are refused."""
    return msgspec.msgpack.decode(content, type=NetworkHeader)


def learner_from(saved: Named) -> Learner | None:
    """The learner that was saved; None if it is not one of ours."""
    kind = LEARNERS.get(saved.name) if saved.ours else None
    return None if kind is None else kind(**saved.parameters)


def describes(saved: Named, learner: Learner) -> bool:
    """Whether this is the learner that was saved."""
    own = _encoded(_named(learner, LEARNERS))
    return msgspec.msgpack.decode(own, type=Named) == saved


def settings_from(header: NetworkHeader, learner: Learner, labels: Sequence[Hashable]) -> Settings:
    """The settings that were saved, checked as those of a new network are."""
    saved = header.setup
    table = {name: getattr(saved, name) for name in saved.__struct_fields__}
    table["algorithm"] = algorithm(saved.algorithm)
    if saved.q is not None:
        table["q"] = tuple(validation.probabilities("q", saved.q, len(labels)).tolist())
    if saved.privacy is not None:
        table["privacy"] = _privacy_from(saved.privacy, labels)
    if saved.field is not None:
        table["field"] = field_from(saved.field)
    return Settings(learner=learner, **table)


def scales_of(calibration: Calibration) -> Scales:
    """The noise scales that a file keeps, so that `load` can tell whether they are the same."""
    gradient, products = calibration.gradient.tolist(), calibration.products.tolist()
    return Scales(calibration.law, tuple(gradient), tuple(products))


def plain_labels(labels: Sequence[Hashable]) -> list[Plain] | None:
    """Labels as values that the header can hold; None for 0, ..., N - 1."""
    return None if isinstance(labels, range) else [plain_name(label, "saved") for label in labels]


def labels_from(stored: list[Plain] | None) -> tuple[Hashable, ...] | None:
    """The labels behind `plain_labels`; a list can only have been a tuple."""
    if stored is None:
        return None
    labels = tuple(label_of(item) for item in stored)
    plain_labels(labels)  # refuses what could not have been saved
    return labels


def _saved(settings: Settings) -> SavedSettings:
    table = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name != "learner"}
    table["algorithm"] = settings.algorithm.name
    if settings.privacy is not None:
        table["privacy"] = _saved_privacy(settings.privacy)
    if settings.field is not None:
        table["field"] = saved_field(settings.field)
    return SavedSettings(**table)


def _saved_privacy(privacy: PrivacySettings) -> SavedPrivacy:
    return SavedPrivacy(
        **asdict(privacy.budget),
        horizon=privacy.horizon,
        aggregator=Named(privacy.aggregator.name, True, _parameters(privacy.aggregator)),
        calibration=privacy.calibration,
        adjacency=privacy.adjacency,
        split=privacy.split,
        noise=privacy.noise,
    )


def _privacy_from(saved: SavedPrivacy, labels: Sequence[Hashable]) -> PrivacySettings:
    table = {name: getattr(saved, name) for name in saved.__struct_fields__}
    # The first files of this format name the class, as is done for learners: BinaryTree.
    spellings = {word: kind for kind in AGGREGATORS.values() for word in (kind.name, kind.__name__)}
    kind = spellings.get(saved.aggregator.name)
    if kind is None or not saved.aggregator.ours:
        raise ValueError(f"aggregator must be one of {', '.join(AGGREGATORS)}, got {saved!r}")
    return Privacy(**table | {"aggregator": kind(**saved.aggregator.parameters)}).of_agents(labels)


def _named(item: object, known: Mapping[str, type]) -> Named:
    kind = type(item)
    return Named(kind.__name__, known.get(kind.__name__) is kind, _parameters(item))


def _parameters(item: object) -> dict[str, Plain]:
    parameters = fields(item) if is_dataclass(item) else ()
    return {field.name: getattr(item, field.name) for field in parameters}


def _encoded(value: object) -> bytes:
    try:
        return msgspec.msgpack.encode(value)
    except (TypeError, OverflowError) as error:
        raise ValueError(
            f"learner and settings must be plain values to be saved, got {value!r}"
        ) from error
