"""Refuses files that change while they are evaluated or read.

A memory-mapped file is refused if its size or its time of change differs between the start and the end, or if at the
start it is shorter than the array that maps it. Three cases cannot be detected: a file that is cut short during the
evaluation may crash the process, because the operating system cannot read the missing part; a writer may reset the
time of change; and an array may not tell which file it maps (`numpy.memmap` and its views do).
"""

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tieproof.errors import InputError

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def unchanged_files(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Make a function refuse memory-mapped arguments whose files change before it returns."""

    @wraps(function)
    def watching(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        paths = {path for value in (*args, *kwargs.values()) for path in paths_of(value)}
        if not paths:
            return function(*args, **kwargs)
        with unchanged(paths):
            return function(*args, **kwargs)

    return watching


@contextmanager
def unchanged(paths: Iterable[str]) -> Iterator[None]:
    """Refuse files that change within the block."""
    with ExitStack() as stack:
        states = []
        for path in paths:
            try:
                descriptor = os.open(path, os.O_RDONLY)  # kept open, so that a new file of this name is another one
            except OSError:
                continue  # it was removed, and keeps its mapped content
            stack.callback(os.close, descriptor)
            states.append((path, descriptor, _state_of(descriptor)))
        try:
            yield
        except Exception as error:
            try:
                _check(states)
            except InputError as changed:  # the change explains the first error
                raise changed from error
            raise
        _check(states)


def _state_of(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns


def _check(states: Iterable[tuple[str, int, tuple[int, int]]]) -> None:
    """Refuse an open file whose size or time of change differs from what it was."""
    for path, descriptor, before in states:
        if _state_of(descriptor) != before:
            raise InputError(
                f"The file {path} changed while it was evaluated, so that the result would belong to neither "
                "version. Evaluate it again when nothing writes to it, or pass a copy in memory."
            )


def paths_of(value: Any) -> Iterator[str]:
    """Yield the files that an array, or a list of arrays, maps; refuse one that was cut short since."""
    if isinstance(value, list | tuple):
        for each in value:
            if isinstance(each, np.ndarray):
                yield from paths_of(each)
    while isinstance(value, np.ndarray):
        if isinstance(value, np.memmap) and isinstance(value.base, mmap.mmap):
            needed, present = value.offset + value.nbytes, value.base.size()
            if present < needed:
                raise InputError(
                    f"The file {value.filename} was cut short after it was mapped: the array needs {needed} bytes, "
                    f"but the file has {present}. Write or copy the file again, and map it again."
                )
            if value.filename is not None:
                yield os.fspath(value.filename)
        value = value.base
