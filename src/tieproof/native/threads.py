"""Work by a pool of threads, a few pieces ahead of whoever takes the results."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Found = TypeVar("Found")


def in_order(function: Callable[[Item], Found], items: Iterable[Item], threads: int) -> Generator[Found, None, None]:
    """function(item) for each item, in their order; about as many at a time, and in memory, as there are threads.

    A single item, or all of them where one thread is asked for, are the caller's own work.

    Whatever ends it, the pool is shut down, and `items` closed where they are a generator: an error that somebody
    keeps, with all that led to it, would else hold what the generator holds.

    >>> list(in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    try:
        remaining = iter(items)
        first = tuple(islice(remaining, min(threads, 2)))
        if len(first) < 2:  # nothing to share: to start a thread takes longer than small work
            yield from map(function, chain(first, remaining))
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[Future[Found]] = deque()
            try:
                for item in chain(first, remaining):
                    waiting.append(pool.submit(function, item))
                    if len(waiting) > threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        close(items)


def for_each(function: Callable[[Item], None], items: Iterable[Item], threads: int) -> None:
    """function(item) for each item, as `in_order` does it; when this ends, in whatever way, no thread is at work.

    A single item is done here, for which no thread is started.
    """
    try:
        waiting = iter(items)
        first = list(islice(waiting, 2))
        if len(first) < 2:
            for item in first:
                function(item)
            return
        with closing(in_order(function, chain(first, waiting), threads)) as done:
            for _ in done:
                pass
    finally:
        close(items)


def close(items: Iterable[Any]) -> None:
    """Close a generator; anything else has nothing to close."""
    if isinstance(items, Generator):
        items.close()
