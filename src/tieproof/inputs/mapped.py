"""Memory-mapped files must not change while they are evaluated, nor others while they are read.

What is promised: a file whose size or time of change is another one at the end than at the start is refused, and so
is one that is shorter at the start than the array that maps it. What cannot be promised: a file that is cut short
during the evaluation may end the process, since the operating system has nothing to give for what is gone; a file
whose writer leaves the time of change as it was is not noticed; and neither is the file behind an array that does not
say which one it maps (`numpy.memmap` and views of it do).
"""

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from tieproof.errors import InputError

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def unchanged_files(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """A function that refuses memory-mapped arguments whose files change before it returns."""

    @wraps(function)
    def watching(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        paths = {path for value in (*args, *kwargs.values()) for path in paths_of(value)}
        if not paths:
            return function(*args, **kwargs)
        with unchanged(paths):
            return function(*args, **kwargs)

    return watching


class Watched(NamedTuple):
    """A file that is mapped: kept open, so that another one of its name is not taken for it."""

    path: str
    descriptor: int
    size: int
    changed: int

    def check(self) -> None:
        """Refuse the file if it is not what it was."""
        now = os.fstat(self.descriptor)
        if (now.st_size, now.st_mtime_ns) != (self.size, self.changed):
            raise InputError(
                f"The file {self.path} changed while it was evaluated, so that the result would be of neither "
                "version. Evaluate it again when nothing writes to it, or a copy of it in memory."
            )


@contextmanager
def unchanged(paths: Iterable[str]) -> Iterator[None]:
    """Refuse files that change before the end."""
    with ExitStack() as stack:
        files = [opened(path, stack) for path in paths]
        watched = [file for file in files if file is not None]
        try:
            yield
        except Exception as error:
            for file in watched:
                try:
                    file.check()
                except InputError as changed:  # it explains whatever went wrong
                    raise changed from error
            raise
        for file in watched:
            file.check()


def opened(path: str, stack: ExitStack) -> Watched | None:
    """The file as it is now; nothing where it has been removed: what is mapped stays as it is then."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    stack.callback(os.close, descriptor)
    now = os.fstat(descriptor)
    return Watched(path, descriptor, now.st_size, now.st_mtime_ns)


def paths_of(value: Any) -> Iterator[str]:
    """The files that an array, or a list of arrays, maps; refused where one was cut short since."""
    if isinstance(value, list | tuple):
        for each in value:
            if isinstance(each, np.ndarray):
                yield from paths_of(each)
    while isinstance(value, np.ndarray):
        if isinstance(value, np.memmap) and isinstance(value.base, mmap.mmap):
            needed, present = value.offset + value.nbytes, value.base.size()
            if present < needed:
                raise InputError(
                    f"The file {value.filename} was cut short after it was mapped: the array needs {needed} bytes of "
                    f"it, and {present} are there. Write or copy it again, and map it again."
                )
            if value.filename is not None:
                yield os.fspath(value.filename)
        value = value.base
