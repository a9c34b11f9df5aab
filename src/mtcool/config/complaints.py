"""A table as a structure, or what is wrong with it, in one sentence that names key and value."""

import difflib
import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from mtcool.types import Plain

# What msgspec calls things, in words.
WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
NUMBERS: dict[type, str] = {inspect.FloatType: "a number", inspect.IntType: "a whole number"}
SIGNS = {">=": "at least", "<=": "at most", ">": "above", "<": "below"}

S = TypeVar("S")


def convert(table: dict[str, Any], kind: type[S]) -> S:
    """A table as a structure; what is wrong with it is said in one sentence.

    Examples
    --------
    >>> import msgspec
    >>> class Box(msgspec.Struct, forbid_unknown_fields=True):
    ...     width: int = 1
    >>> convert({"width": 1e6}, Box)
    Box(width=1000000)
    """
    while True:
        try:
            return msgspec.convert(table, kind)
        except msgspec.ValidationError as error:
            # TOML knows 1e6 as a float only, and it is a whole number all the same.
            if not make_whole(str(error), table):
                raise ValueError(one_sentence(str(error), table, kind)) from None


def one_sentence(message: str, table: Plain, kind: type, known: Iterable[str] | None = None) -> str:
    """Rephrase msgspec's error about `table`, read as a `kind`: name the value and the choices.

    Examples
    --------
    >>> import msgspec
    >>> class Box(msgspec.Struct, forbid_unknown_fields=True):
    ...     width: int = 1
    >>> one_sentence("Object contains unknown field `widht`", {"widht": 2}, Box)
    'unknown key widht; did you mean width?'
    >>> one_sentence("Expected `int`, got `str` - at `$.width`", {"width": "2"}, Box)
    "width must be a whole number, got '2'"
    """
    text, path = _parts(message)
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", text)
    missing = re.fullmatch(r"Object missing required field `(.*)`", text)
    node = _type_at(inspect.type_info(kind), table, path)
    if unknown:
        names = known if known is not None else _keys(node)
        return f"unknown key {_dotted([*path, unknown[1]])}{_guess(unknown[1], names)}"
    if missing:
        return f"{_dotted([*path, missing[1]])} is missing"
    wanted, choices = _wanted(text), _choices(node, path)
    out_of_range = text.startswith(("Expected `float` ", "Expected `int` "))
    if choices and not out_of_range:
        kinds: Any = getattr(node, "types", ())
        numbers = [NUMBERS[type(kind)] for kind in kinds if type(kind) in NUMBERS]
        words = f"one of {', '.join(choices)}" if len(choices) > 1 else choices[0]
        wanted = ", or ".join((*numbers, words))
    return f"{_dotted(path)} must be {wanted}, got {_value_at(table, path)!r}"


def make_whole(message: str, table: Plain) -> bool:
    """Convert the float that msgspec refuses, if it is a whole number; return whether it was.

    Examples
    --------
    >>> table = {"rounds": 1e6}
    >>> make_whole("Expected `int`, got `float` - at `$.rounds`", table), table
    (True, {'rounds': 1000000})
    """
    text, path = _parts(message)
    value = _value_at(table, path)
    if not text.startswith("Expected `int") or not isinstance(value, float):
        return False
    if not path or not value.is_integer():
        return False
    place = _value_at(table, path[:-1])
    place[int(path[-1]) if isinstance(place, list) else path[-1]] = int(value)
    return True


def _parts(message: str) -> tuple[str, list[str]]:
    """Split msgspec's error into its text and the path of keys and positions."""
    text, _, place = message.partition(" - at `$")
    return text, re.findall(r"[^.\[\]`]+", place)


def _wanted(text: str) -> str:
    """What msgspec expected, without what it got."""
    wanted = re.sub(r"^Expected ", "", text).split(", got ")[0]
    if "matching regex" in wanted:  # names are the only texts with one
        return "small letters, digits and hyphens, and not cells"
    kinds, _, limit = wanted.partition("` ")
    names = [name for name in re.findall(r"\w+", kinds) if name != "null"]  # no file can say it
    kind = " or ".join(WORDS.get(name, name) for name in names)
    return f"{kind} {_limit(limit)}".strip()


def _limit(text: str) -> str:
    """What msgspec says of a size, such as ">= 1" or "of length >= 1", in words."""
    found = re.fullmatch(r"(of length )?(\S+) (\S+)", text)
    if found is None:
        return text
    sign, number = SIGNS[found[2]], found[3].removesuffix(".0")
    return f"{sign} {number}" if found[1] is None else f"with {sign} {number} in it"


def _dotted(path: list[str]) -> str:
    """The place as one writes it in TOML; positions in lists count from 1."""
    return (
        "".join(
            f" {int(name) + 1}" if name.isdigit() else f"{'.' if i else ''}{name}"
            for i, name in enumerate(path)
            if name != "..."
        )
        or "the file"
    )


def _guess(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(names)}"


def _value_at(table: Plain, path: list[str]) -> Plain:
    for name in path:
        try:
            table = table[int(name)] if isinstance(table, list) else table[name]
        except (KeyError, IndexError, TypeError, ValueError):
            return table
    return table


def _type_at(node: inspect.Type, table: Plain, path: list[str]) -> inspect.Type:
    """The declared type at a path; in a union of tables the one of the given kind."""
    for name in path:
        node, inner = _chosen(node, table), None
        if isinstance(node, inspect.StructType):
            inner = next((f.type for f in node.fields if f.encode_name == name), None)
        elif isinstance(node, inspect.ListType):
            inner = node.item_type
        if inner is None:
            return node
        node, table = inner, _value_at(table, [name])
    return _chosen(node, table)


def _chosen(node: inspect.Type, table: Plain) -> inspect.Type:
    kinds: Any = getattr(node, "types", ()) if isinstance(table, dict) else ()
    for kind in kinds:
        if isinstance(kind, inspect.StructType) and kind.tag == table.get(kind.tag_field):
            return kind
    return node


def _keys(node: inspect.Type) -> list[str]:
    fields = getattr(node, "fields", ())
    return [field.encode_name for field in fields]


def _choices(node: inspect.Type, path: list[str]) -> list[str]:
    """The words that are allowed here."""
    kinds: Any = node.types if isinstance(node, inspect.UnionType) else (node,)
    words = [str(v) for kind in kinds for v in getattr(kind, "values", ()) if v is not None]
    if path and path[-1] == "kind":
        words = [str(kind.tag) for kind in kinds if getattr(kind, "tag", None)]
    return words
