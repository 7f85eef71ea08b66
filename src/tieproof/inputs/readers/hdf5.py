"""HDF5 files (.h5, .hdf5), read by another process, because a damaged file can crash the library.

this process ──► one line of JSON: what to read of which file ──► `serve` of `hdf5_process.py`
             ◄── one line of JSON, then the numbers of an array ◄──

The other process is started for the first file, and again for the next file after a crash. It reads remote files by
asking for their bytes.
"""

import atexit
import json
import os
import subprocess
import sys
from ast import literal_eval
from collections.abc import Collection
from contextlib import ExitStack, suppress
from threading import Lock
from typing import IO, Any

import numpy as np

from tieproof.errors import InputError, library
from tieproof.inputs.readers.columns import Entry
from tieproof.inputs.readers.hdf5_storage import PREFIX
from tieproof.inputs.readers.location import File, RemoteFile, broken, reading
from tieproof.ties import Array

HDF5 = "an HDF5 file (.h5)"
CODE = "from tieproof.inputs.readers.hdf5_process import serve; serve()"


def entries(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the data sets of the file, in all groups."""
    return [_entry(path, *told) for told in _ask(path, "listed")]


def attributes(path: File) -> dict[str, str]:
    """Return the attributes of the file itself, as texts."""
    return dict(_ask(path, "attributes"))


def _entry(path: File, name: str, shown: str, shape: list[int], kind: str) -> Entry:
    """A data set; its name is in hexadecimal digits, because any bytes may be in it."""
    checked = False

    def rows(start: int | None, stop: int | None) -> Array:
        nonlocal checked
        values: Array = _ask(path, "read", name, shown, start, stop, not checked)
        checked = True
        return values

    return Entry(shown, tuple(shape), kind, lambda: rows(None, None), rows=rows if len(shape) == 2 else None)


class _Process:
    """The other process; several threads ask it in turn."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.running: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def started(self) -> subprocess.Popen[bytes]:
        """The process, which is started if it does not run."""
        if self.running is None:
            self.running = subprocess.Popen(
                [sys.executable, "-P", "-c", CODE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # an interrupt is for this process
            )
        return self.running

    def close(self) -> None:
        """End the process."""
        if self.running is not None:
            process, self.running = self.running, None
            process.kill()
            with suppress(BrokenPipeError), process:  # a question may be left that was not sent
                process.wait()


_PROCESSES: dict[int, _Process] = {}
"""By the number of the process that asks, because the processes that it forks must not share its pipes."""


def _ask(path: File, call: str, *arguments: Any) -> Any:
    """The answer to a question about a file; InputError if the file is refused, or the other process crashes."""
    library("h5py", f"Reading {path}", "h5")
    asked = _PROCESSES.get(os.getpid()) or _PROCESSES.setdefault(os.getpid(), _Process())
    with asked.lock, ExitStack() as stack:
        try:
            stream = None
            if isinstance(path, RemoteFile):
                with reading(path, HDF5):
                    stream = stack.enter_context(path.open("rb"))
            question = {
                "path": os.fspath(path),
                "length": None if stream is None else stream.seek(0, os.SEEK_END),
                "call": call,
                "arguments": arguments,
                "folder": os.getcwd(),
                "prefix": os.environ.get(PREFIX),
            }
            process = asked.started()
            assert process.stdin is not None
            assert process.stdout is not None
            return _answer(path, question, process.stdin, process.stdout, stream)
        except (BrokenPipeError, EOFError):
            asked.close()
            raise InputError(broken(path, HDF5)) from None
        except InputError:
            raise
        except BaseException:  # an answer may be half read
            asked.close()
            raise


def _answer(path: File, question: dict[str, Any], into: IO[bytes], out: IO[bytes], stream: IO[bytes] | None) -> Any:
    """Send a question, send the bytes of a remote file that are asked for, and return the answer."""
    _send(into, json.dumps(question).encode())
    while True:
        line = out.readline()
        if not line:
            raise EOFError
        match json.loads(line):
            case {"refused": str(why)}:
                raise InputError(why)
            case {"memory": _}:
                raise MemoryError
            case {"array": str(kind), "shape": shape}:
                values = np.empty(shape, np.lib.format.descr_to_dtype(literal_eval(kind)))
                if values.nbytes and out.readinto(values.reshape(-1).view(np.uint8)) < values.nbytes:  # type: ignore[attr-defined]
                    raise EOFError
                return values
            case {"start": start, "length": length}:
                assert stream is not None
                stream.seek(start)
                _send(into, stream.read(length))
            case {"answer": answer}:
                return answer


def _send(into: IO[bytes], content: bytes) -> None:
    into.write(len(content).to_bytes(8, "little") + content)
    into.flush()
