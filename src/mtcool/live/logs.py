"""What a node tells whoever runs it: lines of JSON on standard error."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

LOG = logging.getLogger("mtcool.live")
LOG.addHandler(logging.NullHandler())  # silent, unless whoever runs nodes wants to hear
FIELDS = ("host", "peer", "reason", "count")


class JsonFormatter(logging.Formatter):
    """One line of JSON for each event: when, how bad, what, where, about whom, why.

    Examples
    --------
    >>> record = logging.LogRecord("mtcool.live", logging.INFO, "", 0, "start", None, None)
    >>> record.created, record.host = 0.0, "rome"
    >>> JsonFormatter().format(record)
    '{"time": "1970-01-01T00:00:00.000+00:00", "level": "info", "event": "start", "host": "rome"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        when = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": when.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        for name in FIELDS:
            value = getattr(record, name, None)
            if value is not None:
                line[name] = value
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_to(stream: TextIO | None = None, level: int = logging.INFO) -> logging.Handler:
    """Write the events of nodes in this process to a stream, standard error if not given.

    Examples
    --------
    >>> import io
    >>> lines = io.StringIO()
    >>> handler = log_to(lines)
    >>> LOG.warning("refused", extra={"peer": "rome", "reason": "too long"})
    >>> LOG.removeHandler(handler)
    >>> lines.getvalue()[-58:]
    '"event": "refused", "peer": "rome", "reason": "too long"}\\n'
    """
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonFormatter())
    LOG.addHandler(handler)
    LOG.setLevel(level)
    LOG.propagate = False
    return handler
