"""The packages of the extra `live`: who lacks them is told which extra to install."""

from collections.abc import Iterator
from contextlib import contextmanager

PACKAGES = (
    "cryptography", "fastapi", "httpx", "nicegui", "prometheus_client", "pydantic", "starlette",
    "uvicorn", "zenoh",
)  # fmt: skip
"""What the extra brings, by the names that are imported."""


@contextmanager
def told_if_missing() -> Iterator[None]:
    """Import packages of the extra: if one is not there, the error says what to install.

    Examples
    --------
    >>> with told_if_missing():
    ...     raise ModuleNotFoundError("No module named 'zenoh'", name="zenoh")
    Traceback (most recent call last):
    ImportError: live networks need zenoh, which is not installed: pip install "mtcool[live]"
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in PACKAGES:
            raise
        raise ImportError(
            f'live networks need {package}, which is not installed: pip install "mtcool[live]"',
            name=package,
        ) from None
