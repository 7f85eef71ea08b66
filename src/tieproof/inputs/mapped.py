"""Files that arrays map, or that are read: none may change meanwhile, or end the process when one is cut short.

Mapped arrays are copied into memory while there is room. A file is refused if its size or its time of change differs
between the start and the end, or if at the start it is shorter than the array that maps it. Three cases cannot be
detected: a file that is cut short during the evaluation may end the process if more of it is mapped than a quarter of
`memory`, which is not copied, because the operating system cannot read the missing part; a writer may reset the time
of change; and an array may not tell which file it maps (`numpy.memmap` and its views do).
"""

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.multi_vectors import MultiVectors
from tieproof.inputs.options import parse_memory
from tieproof.ties import Array

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

PIPED = 2**16  # the bytes that a pipe holds


class Copies:
    """Copies mapped arrays while there is room for them: the bytes that all copies may still take."""

    def __init__(self, room: int) -> None:
        self.room = room

    def of(self, value: Any) -> Any:
        """An array, or a list of arrays, in memory, if it maps a file and has room; anything else as it is."""
        if isinstance(value, list | tuple) and any(isinstance(each, np.ndarray) for each in value):
            return [self.of(each) for each in value]
        root: Any = value
        while isinstance(root, np.ndarray) and not isinstance(root.base, mmap.mmap):
            root = root.base
        if os.name != "posix" or not isinstance(root, np.ndarray):
            return value
        first, last = np.lib.array_utils.byte_bounds(value)
        if last - first > self.room:
            return value
        self.room -= last - first
        mapping: Any = root.base
        letters = np.frombuffer(mapping, np.uint8)
        start = first - letters.ctypes.data
        content = _through_a_pipe(letters[start : start + last - first], root)
        return np.ndarray(value.shape, value.dtype, content, value.ctypes.data - first, value.strides)


def _through_a_pipe(letters: Array, mapped: Array) -> Array:
    """Copy mapped bytes by the operating system, to which a missing part is an error, and no reason to end us."""
    content = np.empty(letters.size, np.uint8)
    out, into = os.pipe()
    os.set_blocking(into, False)  # so that a write ends when the pipe is full
    try:
        done = 0
        while done < letters.size:
            count = os.write(into, letters[done : done + PIPED].data)
            while count:
                read = os.readv(out, [content[done : done + count].data])
                done, count = done + read, count - read
    except OSError as error:
        raise InputError(
            f"The file {getattr(mapped, 'filename', None) or 'of a mapped array'} was cut short while it was read "
            f"({error.strerror}). Write or copy the file again, and map it again."
        ) from None
    finally:
        os.close(out)
        os.close(into)
    return content


def unchanged_files(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Make a function refuse memory-mapped arguments whose files change before it returns.

    Mapped arrays are copied first if they fit into a quarter of the memory, of which less is then left for the rest:
    a file that is cut short meanwhile cannot end the process.
    """
    default: Any = getattr(signature(function).parameters.get("memory"), "default", None)

    @wraps(function)
    def watching(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        paths = {path for value in (*args, *kwargs.values()) for path in paths_of(value)}
        if not paths:
            return function(*args, **kwargs)
        with unchanged(paths):
            asked: Any = kwargs.get("memory", default or "1GiB")
            memory = parse_memory(asked)
            copies = Copies(memory // 4)
            given: Any = [*map(copies.of, args)], {name: copies.of(value) for name, value in kwargs.items()}
            if default is not None:
                given[1]["memory"] = memory - memory // 4 + copies.room
            return function(*given[0], **given[1])

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


class FileChangedError(InputError):
    """A file changed while it was evaluated."""


def _state_of(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns


def _check(states: Iterable[tuple[str, int, tuple[int, int]]]) -> None:
    for path, descriptor, before in states:
        if _state_of(descriptor) != before:
            raise FileChangedError(
                f"The file {path} changed while it was evaluated, so that the result would belong to neither "
                "version. Evaluate it again when nothing writes to it, or pass a copy in memory."
            )


def paths_of(value: Any) -> Iterator[str]:
    """Yield the files that an array, or a list of arrays, maps; refuse one that was cut short since."""
    if isinstance(value, list | tuple):
        for each in value:
            if isinstance(each, np.ndarray):
                yield from paths_of(each)
    if isinstance(value, MultiVectors):
        value = value.vectors
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
