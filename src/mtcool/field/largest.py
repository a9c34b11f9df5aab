"""The largest few of many numbers, in a heap of their positions: O(n log k), no memory."""

from mtcool.kernels import inline
from mtcool.types import Floats, Integers


@inline
def find_largest(first: Floats, second: Floats, size: int, most: int, heap: Integers) -> None:
    """Put the positions of the `most` largest of `size` numbers into `heap`, in no order.

    Larger is what has the larger number in `first`; then in `second`; then the smaller position.
    `most` is between 1 and `size`.
    """
    for k in range(most):
        heap[k] = k
    for k in range(most // 2 - 1, -1, -1):
        _sink(first, second, heap, k, most)
    for position in range(most, size):
        if _is_less(first, second, heap[0], position):
            heap[0] = position
            _sink(first, second, heap, 0, most)


@inline
def _sink(first: Floats, second: Floats, heap: Integers, place: int, most: int) -> None:
    """Restore the order of a heap, least on top, below `place`."""
    position = heap[place]
    child = 2 * place + 1
    while child < most:
        if child + 1 < most and _is_less(first, second, heap[child + 1], heap[child]):
            child += 1
        if not _is_less(first, second, heap[child], position):
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = position


@inline
def _is_less(first: Floats, second: Floats, a: int, b: int) -> bool:
    """Whether the number at position a is less than the one at position b."""
    if first[a] != first[b]:
        return bool(first[a] < first[b])
    if second[a] != second[b]:
        return bool(second[a] < second[b])
    return a > b
