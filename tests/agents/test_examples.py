"""Whoever reads `help` of something public in `mtcool.agents` finds an example, which is run."""

import pytest

from mtcool import agents


@pytest.mark.parametrize("name", sorted(set(agents.__all__) - {"Message"}))
def test_everything_public_has_an_example(name):
    assert "Examples\n" in getattr(agents, name).__doc__
