"""Records the calls of kernels during evaluations: the input of `kernel_driver.c`, and the results that it must give.

As a script, `recorded_calls.py FOLDER` evaluates data of every kind, and writes `calls`, `results` and `calls.h`.
"""

import ctypes
import sys
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.native import calls, conversions

RESULT = 128
"""Bytes that the driver writes of a result."""

EACH = 12
"""So many first calls of each kernel are kept; of later ones, those whose number is a power of two."""

MOST_BYTES = 1 << 20


class Recorder:
    """Replaces `calls.resolved`, and records the arguments of all calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, int] = {}
        self.lines: list[str] = []
        self.seen: Counter[str] = Counter()
        self.resolve = calls.resolved
        self.calls = (folder / "calls").open("wb")
        self.results = (folder / "results").open("wb")

    def resolved(self, function: Callable[..., Any], of: ctypes.CDLL) -> Callable[[tuple[Any, ...]], Any]:
        """A kernel that is recorded."""
        kernel = self.resolve(function, of)
        hints = typing.get_type_hints(function)
        returned = hints.pop("return")
        path = next(conversions.paths_to_generic(tuple(hints.values())), None)

        def call(arguments: tuple[Any, ...]) -> Any:
            name, element = function.__name__, None
            if name == "sift":  # which lists pairs in the order of blocks, whose sizes differ between processors
                arguments = (arguments[0]._replace(way=0), *arguments[1:])
            if path is not None:
                array: Any = arguments
                for place in path:
                    array = array[place]
                element = array.dtype
                name = f"{name}_{calls.NAMES[element]}"
            self.seen[name] += 1
            extents = list(merged(extents_of(hints, arguments)))
            if not self.wanted(name, extents):
                return kernel(arguments)
            if name not in self.names:
                self.names[name] = len(self.names)
                self.lines.append(case(self.names[name], name, hints, returned, element))
            self.calls.write(written(self.names[name], hints, arguments, element, extents))
            result = kernel(arguments)
            self.results.write(bytes_of(returned, result).ljust(RESULT, b"\0"))
            self.results.write(b"".join(ctypes.string_at(start, stop - start) for start, stop in extents))
            return result

        return call

    def wanted(self, name: str, extents: list[tuple[int, int]]) -> bool:
        """Whether this call is kept: ever fewer as their number grows, and none with much memory."""
        count = self.seen[name]
        return (count <= EACH or count & (count - 1) == 0) and sum(b - a for a, b in extents) <= MOST_BYTES

    def close(self) -> None:
        """Write the header with which the driver is compiled."""
        (self.folder / "calls.h").write_text("\n".join(self.lines) + "\n", "utf-8")
        self.calls.close()
        self.results.close()


def arrays_of(hint: Any, value: Any) -> Iterator[npt.NDArray[Any] | None]:
    """The arrays of a value, in the order of the fields of its struct."""
    hint, _ = conversions.without_none(hint)
    if conversions.is_array(hint):
        yield value
    elif conversions.is_named_tuple(hint):
        for part, each in zip(typing.get_type_hints(hint).values(), value, strict=True):
            yield from arrays_of(part, each)


def extents_of(hints: dict[str, Any], arguments: tuple[Any, ...]) -> Iterator[tuple[int, int]]:
    """The memory range of each array."""
    for hint, argument in zip(hints.values(), arguments, strict=True):
        for array in arrays_of(hint, argument):
            if array is not None:
                yield np.lib.array_utils.byte_bounds(array) if array.size else (start_of(array), start_of(array))


def start_of(array: npt.NDArray[Any]) -> int:
    """The address of an array."""
    return int(array.__array_interface__["data"][0])


def merged(extents: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The same memory without overlaps, because arrays may be views of other arrays."""
    waiting: list[int] = []
    for start, stop in sorted(extents):
        if waiting and start < waiting[1]:
            waiting[1] = max(waiting[1], stop)
        else:
            if waiting:
                yield waiting[0], waiting[1]
            waiting = [start, stop]
    if waiting:
        yield waiting[0], waiting[1]


def case(number: int, name: str, hints: dict[str, Any], returned: Any, element: Any) -> str:
    """The line of C that calls a kernel with arguments at `a`."""
    taken, at = [], 0
    for hint in hints.values():
        kind = in_c(hint, element)
        taken.append(f"{'' if conversions.is_named_tuple(hint) else '*'}({kind} *)(a + {at})")
        at += size_of(hint)
    call = f"{name}({', '.join(taken)})"
    field = {int: "whole", float: "number", bool: "truth"}.get(returned)
    if returned is type(None):
        return f"case {number}: {call}; break;"
    if field:
        return f"case {number}: result.{field} = {call}; break;"
    layout = conversions.layout(conversions.without_none(returned)[0])
    fields = [getattr(layout, field[0]) for field in layout._fields_]  # the memory between them has no value
    copied = " ".join(f"memcpy(result.bytes + {f.offset}, (char *)&found + {f.offset}, {f.size});" for f in fields)
    return f"case {number}: {{ __auto_type found = {call}; {copied} break; }}"


def in_c(hint: Any, element: Any) -> str:
    """A type in C."""
    hint, _ = conversions.without_none(hint)
    numbers = {int: "int64_t", float: "double", bool: "bool"}
    if hint in numbers:
        return numbers[hint]
    if conversions.is_array(hint):
        return f"{calls.NAMES[conversions.element_of(hint) or element].capitalize()}s"
    generic = any(conversions.paths_to_generic(tuple(typing.get_type_hints(hint).values())))
    return f"{hint.__name__}_{calls.NAMES[element]}" if generic else str(hint.__name__)


def size_of(hint: Any) -> int:
    """Bytes of an argument, so that the next one begins where any can."""
    return -(-ctypes.sizeof(conversions.kind(conversions.without_none(hint)[0])) // 8) * 8


def written(
    number: int, hints: dict[str, Any], arguments: tuple[Any, ...], element: Any, extents: list[tuple[int, int]]
) -> bytes:
    """One call in the format that the driver reads."""
    packed, addresses = b"", b""
    starts = [start for start, _ in extents]
    count = 0
    for hint, argument in zip(hints.values(), arguments, strict=True):
        only, _ = conversions.without_none(hint)
        for place, array in zip(places_of(only, len(packed)), arrays_of(hint, argument), strict=True):
            if array is not None:
                block = int(np.searchsorted(starts, start_of(array), side="right")) - 1
                addresses += np.array([place, block, start_of(array) - starts[block]], dtype=np.int64).tobytes()
                count += 1
        packed += bytes_of(hint, argument, element).ljust(size_of(hint), b"\0")
    blocks = b"".join(
        (stop - start).to_bytes(8, "little") + ctypes.string_at(start, stop - start) for start, stop in extents
    )
    head = np.array([number, len(extents), len(packed), count], dtype=np.int64).tobytes()
    return head + blocks + packed + addresses


def places_of(hint: Any, start: int) -> Iterator[int]:
    """The positions of addresses in an argument that begins at `start`."""
    if hint in conversions.NUMBERS:
        return
    for place, field in conversions.leaves(conversions.kind(hint), start):
        if field is ctypes.c_void_p:
            yield place


def bytes_of(hint: Any, value: Any, element: Any = None) -> bytes:
    """The bytes of a value in memory."""
    only, _ = conversions.without_none(hint)
    if only is type(None):
        return b""
    if only in conversions.NUMBERS:
        return bytes(conversions.NUMBERS[only][0](value))
    if typing.get_origin(only) is tuple:
        return conversions.packing(conversions.layout(only)).pack(*value)
    return conversions.packing(conversions.kind(only)).pack(*conversions.reader(hint, "recorded", element)(value))


def evaluate_data_of_every_kind() -> None:
    """Call all functions that use kernels, with ties, near-ties and whole numbers."""
    import tieproof as tp
    from tieproof.distances import codes
    from tieproof.engine import plan

    random = np.random.default_rng(0)
    labels = random.integers(0, 8, 150)
    kinds: dict[str, npt.NDArray[Any]] = {
        "gaussian": random.normal(size=(150, 12)),
        "whole": random.integers(-3, 4, (150, 12)).astype(np.float32),
        "near": (1.0 + random.integers(0, 3, (150, 12)) * 2.0**-23).astype(np.float32),
        "wide": np.ldexp(random.normal(size=(150, 12)), random.integers(-40, 40, (150, 12))),
    }
    measures = ["AP", "AP@R", "AP(trapezoid)", "P@10", "nDCG", "RR"]
    for x in kinds.values():
        for distance in ("cosine", "euclidean", "sqeuclidean", "dot", "cityblock"):
            tp.evaluate(x, labels, distance=distance, measures=measures, threads=1)
            tp.evaluate(
                x[:40], labels[:40], gallery=x, gallery_labels=labels, distance=distance, measures=measures, threads=1
            )
            tp.collisions(x, labels, distance=distance, threads=1)
            tp.fnmr_at_fmr(x, labels, distance=distance, threads=1)
    tp.evaluate(random.integers(0, 2, (150, 40)).astype(bool), labels, distance="hamming", threads=1)
    tp.evaluate(random.choice(np.array([-1.0, 1.0]), (150, 40)), labels, threads=1)
    tp.evaluate(kinds["gaussian"], labels, precision="float16", threads=1)
    tp.evaluate_scores(random.integers(0, 9, (20, 60)), random.integers(0, 2, (20, 60)))
    codes.multiplies_codes = lambda: True
    plan.FEWEST_ENCODED, plan.CHOICES = (0, 0), tuple(each for each in plan.CHOICES if each.dtype is np.int8)
    pairs = random.normal(size=(75, 70)).repeat(2, axis=0) + 0.9 * random.normal(size=(150, 70))
    for way in (2, codes.MATRIX_UNIT):
        codes.fastest_way = lambda way=way: way  # type: ignore[assignment]
        for dimensions in (70, 66):
            tp.evaluate(random.normal(size=(150, dimensions)), labels, threads=1)
        tp.evaluate(pairs, np.arange(150) // 2, threads=1)


if __name__ == "__main__":
    recorder = Recorder(Path(sys.argv[1]))
    calls.resolved = recorder.resolved
    evaluate_data_of_every_kind()
    recorder.close()
