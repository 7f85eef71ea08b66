"""Files packed by gzip, xz, bzip2 or zstd, which are told by their first bytes, and files alone in a .tar."""

import io
import re
import tarfile
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from tieproof.errors import InputError


class Packing(NamedTuple):
    """A way to pack a file: its name, the module that unpacks it, and the program for where Python lacks that."""

    name: str
    module: str
    program: str

    def unpack(self, content: bytes, called: str) -> bytes:
        """The content as it was before it was packed."""
        try:
            module = import_module(self.module)
        except ImportError:
            raise InputError(
                f"{called} is packed by {self.name}, which this Python cannot unpack; run {self.program} on it first."
            ) from None
        decompress: Callable[[bytes], bytes] = module.decompress
        try:
            return decompress(content)
        except MemoryError:
            raise
        except Exception as error:  # EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, ZstdError
            raise InputError(
                f"{called} cannot be unpacked: the {self.name} file is damaged or cut short; write or copy it again."
            ) from error


PACKINGS = {
    rb"\x1f\x8b": Packing("gzip", "gzip", "gunzip"),
    rb"\xfd7zXZ\x00": Packing("xz", "lzma", "unxz"),
    rb"(?s)BZh.(1AY&SY|\x17rE8P\x90)": Packing("bzip2", "bz2", "bunzip2"),  # the id of a query may begin with BZh
    rb"\x28\xb5\x2f\xfd": Packing("zstd", "compression.zstd", "unzstd"),
}
"""The ways to pack a file, by its first bytes."""


def is_packed(head: bytes) -> bool:
    """Whether a file that begins with these bytes is packed, or is an archive .tar."""
    return any(re.match(start, head) for start in PACKINGS) or head[257:262] == b"ustar"


def unpacked_bytes(content: bytes, called: str) -> bytes:
    """The content of a file, unpacked if it is packed, and the only file of an archive .tar in it."""
    packing = next((packing for start, packing in PACKINGS.items() if re.match(start, content)), None)
    inner = content if packing is None else packing.unpack(content, called)
    return _only_file(inner, called) if inner[257:262] == b"ustar" else inner


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
