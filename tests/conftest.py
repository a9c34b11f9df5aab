"""Makes the modules of this folder, such as `oracle`, importable from the tests below it."""

import gc

import pytest
from hypothesis import settings

# How long a test takes on a busy machine says nothing about what it claims.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Tests that were collected stay to the end, and are no garbage either."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
