"""Numbers as people read them."""

from __future__ import annotations

import math

UNITS = ("B", "kB", "MB", "GB", "TB")


def number(value: float | None, digits: int = 4) -> str:
    """A number with the digits that matter.

    Examples
    --------
    >>> number(0.123456), number(12345.6), number(None)
    ('0.1235', '12,346', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) >= 1e7 or 0 < abs(value) < 1e-4:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def size(count: float) -> str:
    """Bytes.

    Examples
    --------
    >>> size(999), size(12345)
    ('999 B', '12.3 kB')
    """
    if not math.isfinite(count):
        return "–"
    unit = 0
    while abs(count) >= 1000 and unit < len(UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.3g} {UNITS[unit]}"


def seconds(value: float | None) -> str:
    """A time.

    Examples
    --------
    >>> seconds(0.00123), seconds(None)
    ('1.23 ms', '–')
    """
    if value is None:
        return "–"
    if value < 1e-3:
        return f"{1e6 * value:.3g} µs"
    return f"{1e3 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def percent(value: float | None) -> str:
    """A share, with its sign.

    Examples
    --------
    >>> percent(0.1234), percent(-0.05)
    ('+12.3 %', '−5 %')
    """
    if value is None or not math.isfinite(value):
        return "–"
    return f"{100 * value:+.3g} %".replace("-", "−")
