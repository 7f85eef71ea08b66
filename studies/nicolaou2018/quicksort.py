"""The quicksort that `numpy.argsort` was when the paper was written, for what it does to equal keys.

Median of three, partition by two pointers that both stop at keys equal to the pivot and swap them, the larger part
left for later, insertion sort for at most 16 keys (`aquicksort` of NumPy; compared with NumPy 1.24.4, which still has
it). That swapping is why equal keys come out in another order, always the same one. Today's NumPy sorts differently,
and not the same on all processors.
"""

import numpy as np
import numpy.typing as npt

SMALL = 16
"""Keys of a part that is not split further."""


def argsort(keys: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Indices that sort the keys, (n,).

    >>> argsort([3.0, 1.0, 2.0]).tolist()
    [1, 2, 0]
    >>> argsort(np.zeros(20)).tolist()
    [0, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 18, 19]
    """
    values = np.asarray(keys, dtype=np.float64).tolist()
    order = list(range(len(values)))
    parts = [(0, len(values) - 1)]
    while parts:
        first, last = parts.pop()
        while last - first >= SMALL:
            middle = partition(values, order, first, last)
            if middle - first < last - middle:
                parts.append((middle + 1, last))
                last = middle - 1
            else:
                parts.append((first, middle - 1))
                first = middle + 1
        insert(values, order, first, last)
    return np.array(order, dtype=np.int64)


def partition(values: list[float], order: list[int], first: int, last: int) -> int:
    """Bring smaller keys before a pivot and larger ones behind it; return its place."""

    def swap(i: int, j: int) -> None:
        order[i], order[j] = order[j], order[i]

    middle = first + (last - first) // 2
    for i, j in ((first, middle), (middle, last), (first, middle)):
        if values[order[j]] < values[order[i]]:
            swap(i, j)
    pivot = values[order[middle]]
    swap(middle, last - 1)
    left, right = first, last - 1
    while True:
        left, right = left + 1, right - 1
        while values[order[left]] < pivot:
            left += 1
        while pivot < values[order[right]]:
            right -= 1
        if left >= right:
            swap(left, last - 1)
            return left
        swap(left, right)


def insert(values: list[float], order: list[int], first: int, last: int) -> None:
    """Sort a small part by insertion; equal keys stay in their order."""
    for place in range(first + 1, last + 1):
        moved, j = order[place], place
        while j > first and values[moved] < values[order[j - 1]]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = moved
