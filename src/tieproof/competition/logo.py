"""A default logo: the bars of a ranking, two of them tied."""

import struct
import zlib
from pathlib import Path

SIZE = 256
BLUE, AMBER, WHITE = b"\x1f\x4e\x79", b"\xd9\x82\x1b", b"\xff\xff\xff"
BARS = ((0.9, BLUE), (0.7, BLUE), (0.5, AMBER), (0.5, AMBER), (0.3, BLUE))
"""The length of each bar, as a share of the width, and its colour."""


def logo_name(picture: Path | None) -> str:
    """The name of the logo's file in the bundle."""
    return "logo.png" if picture is None else f"logo{picture.suffix.lower()}"


def logo() -> bytes:
    r"""A picture of 256 by 256 pixels as a PNG.

    >>> logo()[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    rows = b"".join(b"\0" + row(at) for at in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, data) for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    )


def row(at: int) -> bytes:
    """The pixels of a row; each bar fills two thirds of its share of the height."""
    bar, within = divmod(at * len(BARS), SIZE)
    length, colour = BARS[bar]
    filled = round(length * SIZE) if SIZE // 6 <= within < SIZE * 5 // 6 else 0
    return colour * filled + WHITE * (SIZE - filled)


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG, with its length and its checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
