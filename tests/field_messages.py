"""What is drawn, how messages are coded, and how many bytes they are, the obvious way.

Part of `field_oracle`: draws with Python's integers, codes as they are defined.
"""

import math

import numpy as np

# --- draws ------------------------------------------------------------------------------------

MASK, GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15
SPEAK, PICK, ROUND_ROW, ROUND_GRADIENT, LOST_ROW, LOST_GRADIENT = 1, 2, 3, 4, 5, 6
DELAY_ROW, DELAY_GRADIENT, DELAY_LABEL = 7, 8, 9


def mix(z):
    """The finaliser of SplitMix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def draw(seed, kind, i, j, n, c):
    """A number in [0, 1) for what happens between i and j in round n of i."""
    h = mix((seed + GOLDEN) & MASK)
    for value in (kind, i, j, n, c):
        h = mix(((h ^ value) + GOLDEN) & MASK)
    return (h >> 11) * 2.0**-53


# --- codes ------------------------------------------------------------------------------------


class Plain:
    """Nothing is coded."""

    kappa = power = 1.0

    def __init__(self, dim):
        self.content = 8 * dim


class Bits:
    """Every number is one of 2^b levels, rounded at random."""

    def __init__(self, dim, bits):
        root, self.levels = math.sqrt(dim), 2**bits - 1
        self.kappa = max(1.0, min(root, 1 + 2 * root / self.levels))
        self.power = min(1 + dim / self.levels**2, self.kappa**2)
        self.content = 4 + math.ceil(dim * bits / 8)

    def coded(self, v, uniforms):
        scale = float_up(np.abs(v).max())
        if scale == 0.0:
            return np.zeros_like(v)
        step = 2 * scale / self.levels
        level = np.clip(np.floor((v + scale) / step + uniforms), 0, self.levels)
        return -scale + step * level


def float_up(x):
    """The smallest 32-bit float that is at least x."""
    rounded = np.float32(x)
    if float(rounded) < x:
        rounded = np.nextafter(rounded, np.float32(math.inf))
    return float(rounded)


def code_of(dim, bits):
    return Plain(dim) if bits is None else Bits(dim, bits)


# --- bytes ------------------------------------------------------------------------------------


def name_size(name):
    """Bytes of a name in MessagePack: an integer that is not negative, or a short text."""
    if isinstance(name, str):
        return 1 + len(name.encode())
    return next(size for size, bits in ((1, 7), (2, 8), (3, 16), (5, 32)) if name < 2**bits)


def vector_size(content):
    return content + (2 if content < 2**8 else 3 if content < 2**16 else 5)


def plain_size(kind, sender, content):
    """Bytes of a request, an answer or a gradient as networks of old send them."""
    head = 3 + name_size(sender)  # the schema, an array, and which kind of message it is
    if kind == "request":
        return head
    return head + vector_size(content) + (vector_size(0) if kind == "answer" else 9)
