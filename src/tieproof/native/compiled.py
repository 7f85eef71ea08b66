"""How every kernel is compiled: without the interpreter lock, with IEEE arithmetic, once per machine.

The machine code is kept on disk, with a digest of all the source that it was made of (`sources.py`). Whatever is
wrong with that disk costs time, for the kernel is compiled again, and nothing else: what cannot be read, or is not
what was written, is not run, and what cannot be written is done without.
"""

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

import numba
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps

from tieproof.native.sources import digest_of_sources
from tieproof.native.waiting import Wait

P = ParamSpec("P")
R = TypeVar("R")

KEPT = "tieproof: compiling kernels, once on this machine; about 10 s"
WAIT = Wait(KEPT)
NOT_KEPT = (
    "tieproof: compiling kernels, about 10 s in every process; let NUMBA_CACHE_DIR name a folder to keep them in"
)

_ours: "WeakSet[Any]" = WeakSet()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function`; the machine code is kept on disk, where that can be written, for later processes.

    Parallelism is the engine's business (its thread pool), and reordering of sums nobody's: a bound is proven
    for the arithmetic as written.
    """
    return compiled(function)


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of kernels that only they call. Without an entry from Python it takes less time."""
    return compiled(function, no_cpython_wrapper=True)


def compiled(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    """`function`, compiled when it is first called.

    Every array that a kernel takes and every function of NumPy that it calls adds to the time for that, so kernels
    are given what they read and write, and make nothing themselves.
    """
    options |= {"no_cfunc_wrapper": True}
    result: Any = numba.njit(nogil=True, fastmath=False, **options)(function)
    with suppress(RuntimeError, OSError):  # numba finds no folder that it may write
        result._cache = KernelCache(function)
    _ours.add(result)
    return result  # type: ignore[no-any-return]


class SealedFile(IndexDataCacheFile):  # type: ignore[misc]
    """Machine code with a digest of it and of what it is for: damage is noticed before the code is run."""

    def save(self, key: Any, data: Any) -> None:
        """Write the code of one signature."""
        content = dumps((key, data))
        super().save(key, (hashlib.sha256(content).digest(), content))

    def load(self, key: Any) -> Any:
        """Read the code of one signature; None where there is none."""
        found = super().load(key)
        if found is None:
            return None
        digest, content = found
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("the file is damaged")
        known, data = pickle.loads(content)
        if known != key:
            raise ValueError("the file belongs to another signature")
        return data


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The machine code of a kernel on disk, which never fails."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = (self._impl.locator.get_source_stamp(), digest_of_sources(function))
        self._cache_file = SealedFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, or None; files that cannot be read are emptied for the next process."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with suppress(Exception):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature, if that can be done."""
        with suppress(Exception):
            super().save_overload(sig, data)


class Compiling(event.Listener):  # type: ignore[misc]
    """Notices when one of our kernels is compiled, rather than read from disk."""

    def on_start(self, happening: Any) -> None:
        """One begins."""
        if happening.data["dispatcher"] in _ours:
            if not isinstance(happening.data["dispatcher"]._cache, KernelCache):
                WAIT.what = NOT_KEPT
            WAIT.begin()

    def on_end(self, happening: Any) -> None:
        """One ends, or fails."""
        if happening.data["dispatcher"] in _ours:
            WAIT.end()


event.register("numba:compile", Compiling())
