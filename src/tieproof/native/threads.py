"""Run functions in a pool of threads that works a few items ahead of the caller, and divide work into stripes."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import chain, islice
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tieproof.ties import IntArray

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Found = TypeVar("Found")


def in_order(
    function: Callable[[Item], Found], items: Iterable[Item], threads: int, stop: Event | None = None, ahead: int = 1
) -> Generator[Found, None, None]:
    """Yield function(item) for each item in order; about as many items as threads are computed and stored at a time.

    stop : set before threads are waited for, if something fails or nobody takes more, so that long tasks end early
    ahead : so many items for each thread may be taken before the first of them is done

    A single item, or all items if there is one thread, are computed in the caller's thread.

    However the generator ends, the pool is shut down, and `items` is closed if it is a generator. Otherwise an error
    that is kept with its traceback would keep everything that the generator refers to.

    >>> list(in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    try:
        remaining = iter(items)
        first = tuple(islice(remaining, min(threads, 2)))
        if len(first) < 2:  # nothing to share: starting a thread takes longer than a small task
            yield from map(function, chain(first, remaining))
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[Future[Found]] = deque()
            try:
                for item in chain(first, remaining):
                    waiting.append(pool.submit(function, item))
                    if len(waiting) > ahead * threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BaseException:
                if stop is not None:
                    stop.set()
                raise
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        close(items)


def for_each(
    function: Callable[[Item], None], items: Iterable[Item], threads: int, stop: Event | None = None, ahead: int = 1
) -> None:
    """Call function(item) for each item, as `in_order` does; however this ends, no thread is still working."""
    with closing(in_order(function, items, threads, stop, ahead)) as done:
        for _ in done:
            pass


@contextmanager
def borrowed(desks: deque[Item]) -> Iterator[Item]:
    """Take one of the desks, of which there are as many as threads, and return it in the end."""
    desk = desks.pop()
    try:
        yield desk
    finally:
        desks.append(desk)


def stripes(start: int, stop: int, size: int) -> Iterator[slice]:
    """Yield slices of at most `size` of the numbers start … stop-1, which are handled together.

    >>> list(stripes(3, 8, 3))
    [slice(3, 6, None), slice(6, 8, None)]
    """
    for first in range(start, stop, size):
        yield slice(first, min(first + size, stop))


def cut(pairs: IntArray, size: int) -> Iterator[slice]:
    """Yield slices of consecutive queries with about `size` of their `pairs` each, and with at least one query each.

    >>> list(cut(np.array([3, 0, 9, 1]), 5))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    # Queries without pairs need some memory, too.
    ends = np.cumsum(pairs + 1)
    start = 0
    while start < len(pairs):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + size, side="right")))
        yield slice(start, stop)
        start = stop


def close(items: Iterable[Any]) -> None:
    """Close a generator; do nothing for other iterables."""
    if isinstance(items, Generator):
        items.close()
