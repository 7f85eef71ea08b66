"""The text of a file of lines: unpacked, with the same line ends, and split into pieces of whole lines.

Files packed by gzip, xz, bzip2 or zstd are told by their first bytes, and so are those alone in a .tar.

A file is read whole, not mapped: a mapped one that is cut short meanwhile ends the process, and reading takes a tenth
of the time. One that changes meanwhile is refused.
"""

import io
import os
import re
import tarfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.documents import Bytes
from tieproof.inputs.mapped import unchanged
from tieproof.inputs.options import parse_threads
from tieproof.inputs.readers.location import Piped, check
from tieproof.native.threads import in_order

BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # written by some editors at the beginning
TAB, NEWLINE, RETURN, BLANK, HASH, HIDDEN = map(np.uint8, b"\t\n\r #\x1f")

PIECE_BYTES = 2**22  # the lines that a thread reads between checks for an interruption: some milliseconds

LONGEST_LINE = 2**20

MOST_SHOWN = 60  # the letters of a line or a cell that a message shows

PACKINGS = {
    rb"\x1f\x8b": ("gzip", "gzip", "gunzip"),
    rb"\xfd7zXZ\x00": ("xz", "lzma", "unxz"),
    rb"(?s)BZh.(1AY&SY|\x17rE8P\x90)": ("bzip2", "bz2", "bunzip2"),  # the id of a query may begin with BZh
    rb"\x28\xb5\x2f\xfd": ("zstd", "compression.zstd", "unzstd"),
}
"""For the first bytes of packed files: the packing, the module that unpacks it, and a program that does."""


def is_packed(head: bytes) -> bool:
    """Whether a file that begins with these bytes is packed, or is an archive .tar."""
    return any(re.match(start, head) for start in PACKINGS) or head[257:262] == b"ustar"


def _unpacked_bytes(content: bytes, called: str) -> bytes:
    """The content of a file, unpacked if it is packed, and the only file of an archive .tar in it."""
    packing = next((packing for start, packing in PACKINGS.items() if re.match(start, content)), None)
    if packing is not None:
        name, module, program = packing
        try:
            content = import_module(module).decompress(content)
        except ImportError:
            raise InputError(
                f"{called} is packed by {name}, which this Python cannot unpack; run {program} on it first."
            ) from None
        except MemoryError:
            raise
        except Exception as error:  # EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, ZstdError
            raise InputError(
                f"{called} cannot be unpacked: the {name} file is damaged or cut short; write or copy it again."
            ) from error
    return _only_file(content, called) if content[257:262] == b"ustar" else content


def _only_file(content: bytes, called: str) -> bytes:
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            files = [each for each in archive.getmembers() if each.isfile()]
            if len(files) == 1 and (file := archive.extractfile(files[0])) is not None:
                return file.read()
    except tarfile.TarError as error:
        raise InputError(
            f"{called} is a .tar archive that is damaged or cut short; write or copy it again."
        ) from error
    names = ", ".join(each.name for each in files[:3])
    raise InputError(
        f"{called} is a .tar archive of {len(files):,} files{f', such as {names}' if names else ''}, where one is "
        "expected. Unpack it by tar -xf, and give the path of one of them."
    )


def unpacked(location: str | os.PathLike[str] | Piped) -> tuple[Path | Piped, Bytes]:
    """Return a path, or what came through a pipe, and the content, unpacked if compressed, with LF at line ends."""
    path = location if isinstance(location, Piped) else Path(location)
    if isinstance(path, Piped):
        return path, _with_newlines(_unpacked_bytes(path.content, str(path)))
    check(path)
    try:
        with unchanged([os.fspath(path)]):
            return path, _with_newlines(_unpacked_bytes(path.read_bytes(), str(path)))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}); check the disk it is on.") from error


def beginning(location: str | os.PathLike[str] | Piped) -> Bytes:
    """Return the content as `unpacked` does, of a file that is not packed only as much as a line may have."""
    if isinstance(location, Piped):
        return unpacked(location)[1]
    check(Path(location))
    with open(location, "rb") as file:
        head = file.read(LONGEST_LINE)
    return unpacked(location)[1] if is_packed(head) else _with_newlines(head)


def _with_newlines(text: bytes) -> Bytes:
    """Return a text in which LF ends a line that a CR alone ended, as on old Macs; CR and LF remain."""
    return np.frombuffer(re.sub(rb"\r(?!\n)", b"\n", text) if b"\r" in text else text, np.uint8)


def with_blanks_hidden(text: Bytes, tabs: int) -> Bytes:
    """Return the text with letters in place of single blanks between letters, in lines with so many tabs."""
    starts = np.append(0, 1 + np.flatnonzero(text == NEWLINE))
    starts = starts[starts < len(text)]
    inside = text == BLANK
    for beside in (text[:-2], text[2:]):
        inside[1:-1] &= (beside != BLANK) & ((beside < TAB) | (beside > RETURN))
    wide = np.add.reduceat(text == TAB, starts, dtype=np.int64) >= tabs
    inside &= np.repeat(wide, np.diff(starts, append=len(text)))
    return np.where(inside, HIDDEN, text)


def comments(text: Bytes, pieces: Sequence[slice]) -> Iterator[bytes]:
    """Yield the lines that begin with #, after blanks or none, of pieces of whole lines."""
    for piece in pieces:
        marks = text[piece] == HASH
        at = piece.start + np.flatnonzero(marks)
        for place in at[(at == piece.start) | (text[at - 1] <= BLANK)].tolist():
            before = text[max(piece.start, place - LONGEST_LINE) : place].tobytes().rpartition(b"\n")[2]
            if not before.strip():
                yield text[place : place + LONGEST_LINE].tobytes().partition(b"\n")[0].strip()


def pieces_of(text: Bytes, start: int) -> tuple[list[slice], list[slice]]:
    """Split a text into pieces of whole lines: the letters of each, and the rows that its lines may take."""
    starts = [start]
    for near in range(start + PIECE_BYTES, len(text), PIECE_BYTES):
        if near > starts[-1]:
            behind = text[near - 1 : near + LONGEST_LINE].tobytes().find(b"\n")
            starts.append(near + max(behind, 0))  # or within a line that is refused for its length
    letters = slices([*starts, len(text)])
    lines = in_order(lambda piece: _count_of_lines(text[piece]), letters, parse_threads(None))
    ends = [0, *accumulate(lines)]
    ends[-1] += 1  # the last line may have no end
    return letters, slices(ends)


def slices(bounds: Sequence[int]) -> list[slice]:
    """Return the slices between consecutive bounds."""
    return [slice(*pair) for pair in pairwise(bounds)]


def line_at(text: Bytes, at: int) -> int:
    """Return the number of the line, from 1, that contains a position."""
    return 1 + _count_of_lines(text[:at])


def _count_of_lines(text: Bytes) -> int:
    """The number of line ends, counted in parts, because a line may be most of a file."""
    parts = (text[start : start + PIECE_BYTES] for start in range(0, len(text), PIECE_BYTES))
    return sum(int(np.count_nonzero(part == NEWLINE)) for part in parts)


def is_number(cell: str | bytes) -> bool:
    """Whether other programs read a cell as a number; Python also accepts 1_000 and the digits of other scripts."""
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii() and (b"_" if isinstance(cell, bytes) else "_") not in cell  # type: ignore[operator]


def shown(line: bytes) -> str:
    """Return the beginning of a line, for messages."""
    text = line.strip().decode(errors="replace")
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
