"""Load the library of kernels for the highest level of processor that this machine has.

The environment variable TIEPROOF_PROCESSOR selects another level, such as x86-64-v3. Every level gives the same bits,
and tests compare them. TIEPROOF_KERNELS selects another folder of libraries, such as libraries with sanitizers.
"""

import ctypes
import os
from functools import cache

from tieproof.errors import TieproofError
from tieproof.native.building import FOLDER, library_file, sources_digest, this_machine

WANTED = "TIEPROOF_PROCESSOR"
ELSEWHERE = "TIEPROOF_KERNELS"


@cache
def best_library() -> ctypes.CDLL:
    """The library, loaded once."""
    levels = levels_of_this_machine()
    wanted = os.environ.get(WANTED) or levels[-1]
    if wanted not in levels:
        raise TieproofError(
            f"{WANTED} is {wanted!r}, but this machine has only {', '.join(levels)}. Choose one of them."
        )
    return load(wanted)


@cache
def levels_of_this_machine() -> tuple[str, ...]:
    """The levels of processor that this machine supports, the highest last."""
    levels = this_machine().levels
    if len(levels) == 1:
        return levels
    highest = load(levels[0]).processor_level()
    some = tuple(level for level in levels if int(level[-1]) <= highest)
    if not some:
        raise TieproofError(f"This processor is older than {levels[0]}, which tieproof needs.")
    return some


@cache
def load(level: str) -> ctypes.CDLL:
    """The library for a level; refused if it was not compiled from the sources in this folder."""
    file = library_file(level, this_machine().suffix, os.environ.get(ELSEWHERE) or FOLDER)
    if not os.path.exists(file):
        raise TieproofError(f"{file} does not exist. Run `make kernels`, or install tieproof again.")
    library = ctypes.CDLL(file)
    library.made_of.restype = library.flags.restype = ctypes.c_char_p
    if sources_digest() not in (None, library.made_of().decode()):
        raise TieproofError(f"{file} was not compiled from the sources next to it. Run `make kernels`.")
    return library
