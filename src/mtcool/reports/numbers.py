"""Numbers and names as people read them."""

import math


def short(number: float, digits: int = 3) -> str:
    """A number as people write it: some digits, and no exponent unless it is tiny or huge.

    Examples
    --------
    >>> short(0.12345), short(1234.5), short(150.2, 2), short(1e-15)
    ('0.123', '1,234', '150', '1e-15')
    """
    rounded = float(f"{number:.{digits}g}")
    if rounded == 0.0 or not 1e-4 <= abs(rounded) < 1e9:
        return f"{rounded:g}"
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{number:,.{max(decimals, 0)}f}"


def percent(value: float) -> str:
    """A percentage with as many digits as one reads.

    Examples
    --------
    >>> percent(4.23), percent(-0.034), percent(312.7)
    ('4.2 %', '-0.03 %', '313 %')
    """
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 1 else 2
    return f"{value:.{digits}f} %"


def lower(value: float) -> str:
    """A gain in percent as a loss that is lower, or higher if the gain is below zero.

    Examples
    --------
    >>> lower(4.2), lower(-0.5)
    ('4.2 % lower', '0.50 % higher')
    """
    return f"{percent(abs(value))} {'lower' if value >= 0 else 'higher'}"


def many(count: int, one: str, more: str) -> str:
    """A count with its noun or verb.

    Examples
    --------
    >>> many(1, "row waits", "rows wait"), many(1200, "row waits", "rows wait")
    ('1 row waits', '1,200 rows wait')
    """
    return f"{count:,} {one if count == 1 else more}"


def size(count: float) -> str:
    """A number of bytes.

    Examples
    --------
    >>> size(12), size(123_456), size(2_500_000_000)
    ('12 bytes', '123 kB', '2.5 GB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:.{0 if count >= 100 * unit else 1}f} {name}"
    return f"{count:.0f} bytes"


def short_name(label: object, longest: int) -> str:
    """A name for a figure: cut to fit, and without characters that no XML file may have.

    Examples
    --------
    >>> short_name("Castelfranco Veneto", 12), short_name("bell\\x07", 12)
    ('Castelfranc…', 'bell\N{REPLACEMENT CHARACTER}')
    """
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(label))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
