"""A progress bar for work that takes longer than people like to wait in silence."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SILENT_SECONDS = 2.0


@contextmanager
def progress_bar(
    total: int, shown: bool, what: str = "million pairs", unit: float = 1e6
) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of pairs, or of other things, done since its last call.

    Threads may call it. The bar appears on standard error after two seconds, with `what` is done, in `unit`s, and the
    time left, and disappears at the end.
    """
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),  # this one, whatever is put in its place meanwhile
        transient=True,
    )
    task = bar.add_task(what, total=round(total / unit))
    started: list[Any] = []
    lock = threading.Lock()
    done = 0
    begin = time.monotonic()

    def advance(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            bar.update(task, completed=round(done / unit))
            if not started and time.monotonic() - begin > SILENT_SECONDS:
                bar.start()
                started.append(True)

    try:
        yield advance
    finally:
        if started:
            bar.stop()
