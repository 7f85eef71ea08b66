"""The library of kernels that this process runs: the one for the highest level of processor that this machine has.

The environment variable TIEPROOF_PROCESSOR names another one, as x86-64-v3: every level gives the same bits, and
tests compare them. TIEPROOF_KERNELS names another folder with libraries, as those that sanitizers watch.
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
        raise TieproofError(f"{WANTED} is {wanted!r}; this machine has {', '.join(levels)}.")
    return load(wanted)


@cache
def levels_of_this_machine() -> tuple[str, ...]:
    """The levels of processor that this machine has, the highest last."""
    levels = this_machine().levels
    if len(levels) == 1:
        return levels
    found = load(levels[0]).processor_level()
    some = tuple(level for level in levels if int(level[-1]) <= found)
    if not some:
        raise TieproofError(f"This processor is older than {levels[0]}, which tieproof needs.")
    return some


@cache
def load(level: str) -> ctypes.CDLL:
    """The library for a level; refused where it was not made of the sources beside it."""
    file = library_file(level, this_machine().suffix, os.environ.get(ELSEWHERE) or FOLDER)
    if not os.path.exists(file):
        raise TieproofError(f"There is no {file}. Run `make kernels`, or install tieproof again.")
    found = ctypes.CDLL(file)
    found.made_of.restype = found.flags.restype = ctypes.c_char_p
    if sources_digest() not in (None, found.made_of().decode()):
        raise TieproofError(f"{file} was made of other sources than those beside it. Run `make kernels`.")
    return found
