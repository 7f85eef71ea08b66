"""Standard input and pipes such as `<(zcat run.gz)`, which are read whole, once, and have no extension."""

import io
import stat
import sys
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tieproof.errors import InputError

STANDARD_INPUT = "-"
STANDARD_INPUT_IN_WORDS = "standard input"


class Piped(NamedTuple):
    """What came through a pipe, with the methods of `pathlib.Path` that readers of TREC files use."""

    name: str
    content: bytes

    def __str__(self) -> str:
        return self.name

    def __fspath__(self) -> str:
        return self.name

    @property
    def suffix(self) -> str:
        """The extension: none."""
        return ""

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open the content for reading, as bytes."""
        return io.BytesIO(self.content)


def with_pipes_read(*files: str) -> list[str | Piped]:
    """Return the paths of the files, and the contents of those that are pipes or standard input.

    Raises InputError if standard input is given twice, or cannot be read.
    """
    if files.count(STANDARD_INPUT) > 1:
        raise InputError(
            f"{STANDARD_INPUT} is given twice, but standard input can be read only once; save one of them to a file."
        )
    return [read(file) if file == STANDARD_INPUT or is_pipe(file) else file for file in files]


def is_pipe(file: str) -> bool:
    """Whether a path is that of a pipe."""
    try:
        return stat.S_ISFIFO(Path(file).stat().st_mode)
    except (OSError, ValueError):
        return False


def read(file: str) -> Piped:
    """Read all that comes through a pipe or standard input."""
    if file != STANDARD_INPUT:
        name, stream = file, None
    elif sys.stdin is None:
        raise InputError("Standard input is closed; give the path of a file instead of -.")
    else:
        name, stream = STANDARD_INPUT_IN_WORDS, sys.stdin.buffer
    try:
        content = Path(file).read_bytes() if stream is None else stream.read()
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror or error}); save its content to a file.") from error
    if not content:
        raise InputError(f"{name} is empty (0 bytes), perhaps because the command that writes it failed.")
    return Piped(name, content)
