"""A progress bar that appears when work takes longer than two seconds."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SILENT_SECONDS = 2.0


@contextmanager
def progress_bar(total: int, what: str = "million pairs", unit: float = 1e6) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of pairs, or other units of work, done since its last call.

    Threads may call the function. The bar appears on standard error after two seconds, even if nothing is done by
    then, and disappears at the end. It shows `what` is counted, the number in `unit`s, and the time left.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),  # the current stream, even if sys.stderr is replaced later
        transient=True,
    )
    task = bar.add_task(what, total=round(total / unit))
    lock = threading.Lock()
    done = 0
    started = ended = False

    def advance(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            bar.update(task, completed=round(done / unit))

    def appear() -> None:
        nonlocal started
        with lock:
            if not ended:
                bar.start()
                started = True

    timer = threading.Timer(SILENT_SECONDS, appear)
    timer.daemon = True
    try:
        timer.start()
        yield advance
    finally:
        timer.cancel()
        with lock:
            ended = True
        if started:
            bar.stop()
