"""What each word of a request may be, told alike over HTTP and in JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mtcool.types import Plain

WANTED = {
    "do": (
        "one of predict, learn, round, update, delivered, status, reload, rewind, cut, heal, stop"
    ),
    "agent": "the name of an agent",
    "host": "the name of a host",
    "features": "a list of numbers, or an object of numbers by name, with null for unknown ones",
    "timeout": "a number of seconds",
    "target": "a number",
    "round": "a whole number",
    "offset": "a list of the number of a row and its checksum",
    "gradient": "a list of numbers",
    "loss": "an object with a kind, a row of numbers, and perhaps parameters",
}
LONGEST_VALUE = 60
"""Letters of a wrong value that are told again."""


def what_is_wrong(
    word: str, known: Iterable[str], body: Mapping[str, Plain], wanted: Mapping[str, str] = WANTED
) -> str:
    """What is wrong with a word of a request, in a sentence.

    Examples
    --------
    >>> what_is_wrong("target", ["agent", "target"], {"agent": 1, "target": "high"})
    "target must be a number, got 'high'"
    >>> what_is_wrong("agent", ["agent", "target"], {"target": 1.0})
    'agent must be given'
    >>> what_is_wrong("colour", ["agent", "target"], {"colour": 1})
    "words of a request must be among agent, target, got 'colour'"
    """
    if word not in known:
        return f"words of a request must be among {', '.join(known)}, got {shortened(word)}"
    if word not in body:
        return f"{word} must be given"
    return f"{word} must be {wanted[word]}, got {shortened(body[word])}"


def shortened(value: object) -> str:
    """A value as it was given, or its beginning."""
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."
