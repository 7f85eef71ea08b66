"""HDF5 files (.h5, .hdf5), read by another process, because a damaged file can crash the library.

this process ──► what to read of which file ──► `serve` of `hdf5_process.py`
             ◄── what was read, or an error ◄──

The other process is started for the first file, and again for the next file after a crash. It reads remote files by
asking for their bytes. Both pickle what they tell each other; nothing of a file is ever unpickled.
"""

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Collection
from contextlib import ExitStack, suppress
from threading import Lock
from typing import Any

from tieproof.errors import InputError, import_extra
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
    import_extra("h5py", f"Reading {path}", "h5")
    asked = _PROCESSES.get(os.getpid()) or _PROCESSES.setdefault(os.getpid(), _Process())
    with asked.lock, ExitStack() as stack:
        stream: Any = None
        if isinstance(path, RemoteFile):
            with reading(path, HDF5):
                stream = stack.enter_context(path.open("rb"))
        try:
            process: Any = asked.started()
            length = None if stream is None else stream.seek(0, os.SEEK_END)
            told: Any = path, length, call, arguments, os.getcwd(), os.environ.get(PREFIX)
            while True:
                pickle.dump(told, process.stdin)
                process.stdin.flush()
                answer = pickle.load(process.stdout)
                if not isinstance(answer, range):
                    break
                stream.seek(answer.start)
                told = stream.read(len(answer))
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            asked.close()
            raise InputError(broken(path, HDF5)) from None
        except BaseException:  # an answer may be half read
            asked.close()
            raise
    if isinstance(answer, Exception):
        raise answer
    return answer
