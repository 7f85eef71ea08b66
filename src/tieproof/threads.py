"""Work by a pool of threads, a few pieces ahead of whoever takes the results."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


def in_order(function: Callable[[Item], Found], items: Iterable[Item], threads: int) -> Iterator[Found]:
    """function(item) for each item, in their order; about as many at a time, and in memory, as there are threads.

    >>> list(in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Found]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
