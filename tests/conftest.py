"""Makes the modules of this folder, such as `oracle`, importable from the tests below it."""

import gc

import pytest
from hypothesis import settings
from numba.core import event

# How long a test takes on a busy machine says nothing about what it claims.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


class Unswept(event.Listener):
    """Compiling makes millions of objects that stay: to look for garbage is a sixth of its time."""

    def __init__(self):
        self.depth = 0  # kernels compile those that they call

    def on_start(self, event):
        self.depth += 1
        gc.disable()

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0:
            gc.enable()


event.register("numba:compile", Unswept())


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Tests that were collected stay to the end, and are no garbage either."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
