"""Centres of the shapes of a shapefile, whose format is simple enough to read without a library."""

import struct
from pathlib import Path

import numpy as np

from mtcool.types import Floats

HEADER = 100
"""Bytes before the first shape."""
POLYGON = 5


def centres(path: Path) -> list[tuple[float, float]]:
    """Longitude and latitude of the centre of gravity of every polygon, in the order of the file.

    Parameters
    ----------
    path
        The file with the suffix .shp.
    """
    content, at, found = path.read_bytes(), HEADER, []
    while at < len(content):
        words = struct.unpack_from(">i", content, at + 4)[0]  # of two bytes each
        kind, *_, parts, points = struct.unpack_from("<i4d2i", content, at + 8)
        if kind != POLYGON:
            raise ValueError(f"path must be a file of polygons, got kind {kind} in {path.name}")
        start = at + 8 + 44
        cuts = np.frombuffer(content, "<i4", parts, start)
        corners = np.frombuffer(content, "<f8", 2 * points, start + 4 * parts).reshape(-1, 2)
        found.append(_centre(np.split(corners, cuts[1:])))
        at += 8 + 2 * words
    return found


def texts(path: Path, column: str) -> list[str]:
    """A column of the table beside a shapefile, which has a row for each shape.

    Parameters
    ----------
    path
        The file with the suffix .dbf.
    column
        Its name.
    """
    content = path.read_bytes()
    count, head, width = struct.unpack_from("<IHH", content, 4)
    offset = 1  # a row begins with a mark for deleted ones
    for at in range(32, head - 1, 32):
        name, size = content[at : at + 11].rstrip(b"\0").decode(), content[at + 16]
        if name == column:
            starts = range(head + offset, head + offset + count * width, width)
            return [content[start : start + size].decode().strip() for start in starts]
        offset += size
    raise ValueError(f"column must be one of {path.name}, got {column!r}")


def _centre(rings: list[Floats]) -> tuple[float, float]:
    """The centre of gravity of what rings enclose; those of holes turn the other way."""
    area, sums = 0.0, np.zeros(2)
    for ring in rings:
        a, b = ring[:-1], ring[1:]
        cross = a[:, 0] * b[:, 1] - b[:, 0] * a[:, 1]
        area += float(cross.sum()) / 2
        sums += ((a + b) * cross[:, np.newaxis]).sum(axis=0) / 6
    east, north = (sums / area).tolist()
    return east, north
