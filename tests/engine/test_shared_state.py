"""Shared state is complete before threads start: no attribute is added or replaced while they work."""

import concurrent.futures
import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from exact_oracle import ORDERS
from hard_sets import HARD_SETS
from tieproof.distances.bits import Bits
from tieproof.distances.codes import Codes
from tieproof.distances.exact.rows import Rows
from tieproof.distances.gauge import Gauge
from tieproof.distances.prepared import Prepared
from tieproof.distances.space import Space
from tieproof.engine import levels, ranking
from tieproof.inputs.relevance import Relevance
from tieproof.ties import Ties

SETS = [
    "gaussian float32",
    "one ulp apart float32",
    "int8 few values",
    "±1",
    "duplicates",
    "sixty orders of magnitude",
]
"""Tiles of floats, no tiles, tiles of codes and bits, shared rows, and pairs that need every exact step."""


CALLS: dict[str, Callable[..., Any]] = {
    "evaluate": partial(tp.evaluate, measures=["AP", "nDCG", "P@5"]),
    "precision": partial(tp.evaluate, precision="float16"),
    "collisions": partial(tp.collisions, epsilon=1e-3),
    "fnmr_at_fmr": tp.fnmr_at_fmr,
}


def parts_of(thing: Any) -> Iterator[Any]:
    """The objects that a task can reach from here without calling anything."""
    if isinstance(thing, MethodType):
        yield from (thing.__self__, thing.__func__)
    elif isinstance(thing, partial):
        yield from (thing.func, *thing.args, *thing.keywords.values())
    elif isinstance(thing, FunctionType):
        yield from (cell.cell_contents for cell in thing.__closure__ or ())
    elif isinstance(thing, tuple | list | set):
        yield from thing
    elif isinstance(thing, dict):
        yield from thing.values()
    elif type(thing).__module__.startswith("tieproof"):
        yield from vars(thing).values()


def travelers(known: set[int], *roots: Any) -> list[Any]:
    """All objects of tieproof with attributes that tasks reach, except through objects that are already known."""
    seen: dict[int, Any] = {}
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or id(thing) in known or isinstance(thing, np.ndarray | type | str | CodeType):
            continue
        seen[id(thing)] = thing
        waiting.extend(parts_of(thing))
    return [
        thing
        for thing in seen.values()
        if type(thing).__module__.startswith("tieproof")
        and hasattr(thing, "__dict__")
        and not isinstance(thing, type)
    ]


class WatchingPool(ThreadPoolExecutor):
    """A pool that records what its tasks can reach before they run, and compares it at the end."""

    met: set[type] = set()  # noqa: RUF012  (shared on purpose: what all pools of a test have met)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.noted: list[tuple[Any, dict[str, Any]]] = []
        self.known: set[int] = set()

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> "Future[Any]":
        for thing in travelers(self.known, function, *args):
            self.known.add(id(thing))  # ids of objects that are kept here, so that no other object gets the same id
            self.noted.append((thing, dict(vars(thing))))
        return super().submit(function, *args, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        for thing, before in self.noted:
            WatchingPool.met.add(type(thing))
            lazy = [name for kind in type(thing).__mro__ for name, of in vars(kind).items() if is_lazy(of)]
            assert not lazy, f"{type(thing).__name__} is shared by threads and makes {lazy} lazily"
            after = vars(thing)
            changed = [name for name in before.keys() | after.keys() if before.get(name) is not after.get(name)]
            assert not changed, f"{type(thing).__name__}: {changed} changed in a thread"
        self.noted.clear()
        self.known.clear()


def is_lazy(attribute: Any) -> bool:
    return isinstance(attribute, cached_property)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[type]]:
    """The types that travel to threads; each pool checks that nothing of them changes there."""
    WatchingPool.met = set()
    monkeypatch.setattr(concurrent.futures, "ThreadPoolExecutor", WatchingPool)
    yield WatchingPool.met
    gc.collect()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.* of 40 queries are in the gallery")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_nothing_is_made_in_a_thread(
    name: str, distance: str, call: str, watched: set[type], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "SHARED", 3)
    monkeypatch.setattr(levels, "counts_by_level", lambda problem: False)  # which need no space in threads
    random = np.random.default_rng(7)
    data, labels = HARD_SETS[name](random, (90, 6)), np.arange(90) % 9
    # With little memory, there are several pieces; a single piece would need no thread.
    CALLS[call](data, labels, distance=distance, threads=3, memory=2**14)
    gallery = {"gallery": data, "gallery_labels": labels}
    CALLS[call](data[:40], labels[:40], **gallery, distance=distance, threads=3, memory=2**14)
    assert any(issubclass(kind, Space) for kind in watched)
    assert any(issubclass(kind, Relevance) for kind in watched)
    assert Rows in watched
    assert {Prepared, Bits, Codes} & watched
    assert call == "evaluate" or any(issubclass(kind, Gauge) for kind in watched)


def test_ties_are_shared_as_they_are(watched: set[type]) -> None:
    data = np.random.default_rng(0).normal(size=(600, 4)).astype(np.float32)
    tp.evaluate(data, np.arange(600) % 3, memory="400KiB", threads=3)
    assert Ties in watched


@pytest.mark.parametrize("distance", ORDERS)
def test_rows_are_kept_once(distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of threads: once for the matrices of keys, and once for the tiles."""
    kept: list[int] = []
    keep = Prepared.keep

    def counted(self: Prepared) -> None:
        was_kept = self.kept is not None
        keep(self)
        if self.kept is not None and not was_kept:
            assert threading.current_thread() is threading.main_thread()
            kept.append(self.kept.nbytes)

    monkeypatch.setattr(Prepared, "keep", counted)
    data = np.random.default_rng(0).normal(size=(1200, 8)).astype(np.float32)
    tp.evaluate(data, np.arange(1200) % 12, distance=distance, threads=4)
    assert len(kept) <= 2
    assert sum(kept) <= 3 * data.nbytes
