"""While kernels are compiled nobody looks for garbage; afterwards it is as it was."""

import gc

import pytest
from numba.extending import overload

from mtcool.kernels import inline, kernel

SEEN = []


def looked_at(number):
    """Notes whether garbage is looked for while somebody compiles a call of this."""


@overload(looked_at, strict=False)
def _(number):
    SEEN.append(gc.isenabled())
    return lambda number: 1


@inline
def below(number):
    return number + looked_at(number)


@kernel
def above(number):
    return below(number) + below(number)


@kernel
def wrong(number):
    return number + looked_at(number) + number.nothing_of_this_name


@pytest.mark.parametrize(("swept", "number"), [(True, 3), (False, 0.5)])
def test_garbage_is_not_looked_for_while_a_kernel_is_compiled(swept, number):
    """Another type of number is compiled anew."""
    SEEN.clear()
    before = gc.isenabled()
    (gc.enable if swept else gc.disable)()
    try:
        above(number)
        with pytest.raises(Exception, match="nothing_of_this_name"):
            wrong(number)
        assert gc.isenabled() == swept
    finally:
        (gc.enable if before else gc.disable)()
    assert SEEN
    assert not any(SEEN)
