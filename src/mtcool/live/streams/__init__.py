"""What `mtcool up` feeds a network: rows from files, from standard input, or made up."""

from mtcool.live.streams.row import Row
from mtcool.live.streams.sources import OpenStream, check_fed, open_stream

__all__ = ["OpenStream", "Row", "check_fed", "open_stream"]
