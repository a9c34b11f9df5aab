"""Makes `small`, the experiment of these tests, importable from them."""

import pytest
import small


@pytest.fixture
def undrawn():
    """For tests that look at tables and words: drawing takes most of the time of a report."""
    with small.undrawn():
        yield
