"""Small data sets that cross every type of number with every size of it, every kind of tie, shape and distance."""

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

Array = npt.NDArray[Any]
Row = list[int]

CASES = int(os.environ.get("TIEPROOF_FUZZ_CASES", "0"))
"""The number of cases that a test draws at random; 0 for a few cases that are the same in every run."""

FEW = 24

fuzz = settings(
    max_examples=CASES or FEW,
    derandomize=not CASES,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


class Kind(NamedTuple):
    """A type of numbers: its NumPy type, and the number of bits of its integers without the sign."""

    dtype: type
    bits: int
    signed: bool = True
    as_list: bool = False

    @property
    def limits(self) -> tuple[int, int]:
        """The range of integers that the type represents exactly."""
        largest = 2**self.bits - 1
        whole = np.issubdtype(self.dtype, np.integer)
        return (-largest - whole if self.signed else 0), largest

    @property
    def floating(self) -> bool:
        return issubclass(self.dtype, np.floating)

    def hand(self, array: Array) -> Any:
        """The arrays that are passed."""
        return array.tolist() if self.as_list else array


KINDS = {
    "bool": Kind(np.bool_, 1, signed=False),
    "int8": Kind(np.int8, 7),
    "int16": Kind(np.int16, 15),
    "int32": Kind(np.int32, 31),
    "int64": Kind(np.int64, 63),
    "uint8": Kind(np.uint8, 8, signed=False),
    "uint16": Kind(np.uint16, 16, signed=False),
    "uint32": Kind(np.uint32, 32, signed=False),
    "uint64": Kind(np.uint64, 64, signed=False),
    "float16": Kind(np.float16, 11),
    "float32": Kind(np.float32, 24),
    "float64": Kind(np.float64, 53),
    "bools of Python": Kind(np.bool_, 1, signed=False, as_list=True),
    "integers of Python": Kind(np.int64, 63, as_list=True),
    "floats of Python": Kind(np.float64, 53, as_list=True),
}


class Data(NamedTuple):
    """Queries and gallery (None: leave-one-out) with their labels, and the arguments of a call."""

    kind: Kind
    rows: Array
    labels: list[int]
    gallery: Array | None
    gallery_labels: list[int] | None

    def options(self) -> dict[str, Any]:
        """The gallery as arguments of a call."""
        if self.gallery is None:
            return {}
        return {"gallery": self.kind.hand(self.gallery), "gallery_labels": self.gallery_labels}

    def call(self, function: Callable[..., Any], **options: Any) -> Any:
        """Call a function of embeddings and labels with this data."""
        return function(self.kind.hand(self.rows), self.labels, **self.options(), **options)

    def counted(self) -> list[tuple[int, int, bool]]:
        """Every (query, item, whether relevant) that is ranked."""
        of_items = self.labels if self.gallery_labels is None else self.gallery_labels
        return [
            (query, item, label == other)
            for query, label in enumerate(self.labels)
            for item, other in enumerate(of_items)
            if self.gallery is not None or item != query
        ]


def sizes(bits: int) -> st.SearchStrategy[int]:
    """Numbers of bits of the entries: usually those of quantised embeddings, and others up to that of the type."""
    usual = st.integers(min(6, bits), min(14, bits))
    return st.one_of(usual, usual, st.integers(1, bits))


DIMENSIONS = st.one_of(st.integers(1, 4), st.integers(1, 4), st.integers(1, 16), st.integers(1, 64))


@st.composite
def integer_rows(draw: st.DrawFn, limits: tuple[int, int], bits: int, count: int, dimensions: int) -> list[Row]:
    """Rows of integers within limits: new rows of so many bits, and variants of earlier rows."""
    low, high = max(limits[0], -(2**bits) + 1), min(limits[1], 2**bits - 1)
    entries = st.lists(st.integers(low, high), min_size=dimensions, max_size=dimensions)
    rows = [draw(entries)]
    while len(rows) < count:
        relative = draw(st.sampled_from([*RELATIVES, None]))
        if relative is None:
            rows.append(draw(entries))
        else:
            parent = draw(st.sampled_from(rows))
            row = RELATIVES[relative](draw, parent)
            rows.append(row if all(limits[0] <= entry <= limits[1] for entry in row) else list(parent))
    return rows


def multiple(draw: st.DrawFn, row: Row) -> Row:
    factor = draw(st.sampled_from([2, 3, 5, -1, -2, -3]))
    return [factor * entry for entry in row]


def permuted(draw: st.DrawFn, row: Row) -> Row:
    return list(draw(st.permutations(row)))


def other_signs(draw: st.DrawFn, row: Row) -> Row:
    turned = draw(st.sets(st.integers(0, len(row) - 1)))
    return [-entry if place in turned else entry for place, entry in enumerate(row)]


def one_step(draw: st.DrawFn, row: Row) -> Row:
    place, step = draw(st.integers(0, len(row) - 1)), draw(st.sampled_from([-1, 1]))
    return [entry + step * (where == place) for where, entry in enumerate(row)]


RELATIVES: dict[str, Callable[[st.DrawFn, Row], Row]] = {
    "duplicate": lambda draw, row: list(row),
    "multiple": multiple,
    "permuted": permuted,
    "other signs": other_signs,
    "one step": one_step,
    "zeros": lambda draw, row: [0] * len(row),
}


@st.composite
def arrays(draw: st.DrawFn, kind: Kind, count: int) -> Array:
    """Rows of a type: whole numbers; for floats, also times powers of two, from the smallest to the largest."""
    bits, dimensions = draw(sizes(kind.bits)), draw(DIMENSIONS)
    rows = draw(integer_rows(kind.limits, bits, count, dimensions))
    if not kind.floating:
        return np.array(rows, dtype=kind.dtype)
    facts = np.finfo(kind.dtype)
    lowest, highest = int(facts.minexp) - int(facts.nmant), int(facts.maxexp) - kind.bits
    exponents = st.one_of(st.just(0), st.integers(-12, 12), st.integers(lowest, highest))
    powers = draw(
        st.one_of(exponents.map(lambda one: [one] * count), st.lists(exponents, min_size=count, max_size=count))
    )
    with np.errstate(all="ignore"):
        floats = np.ldexp(np.array(rows, dtype=np.float64), np.array(powers)[:, None]).astype(kind.dtype)
        for row in draw(st.sets(st.integers(0, count - 1), max_size=2)):
            place = draw(st.integers(0, dimensions - 1))
            floats[row, place] = np.nextafter(floats[row, place], kind.dtype(draw(st.sampled_from([-1, 1])) * np.inf))
    return np.asarray(np.clip(np.nan_to_num(floats, nan=0.0), -facts.max, facts.max))


@st.composite
def data_sets(draw: st.DrawFn, kinds: Sequence[str] = tuple(KINDS), largest: int = 24) -> Data:
    """Leave-one-out, or queries and a gallery; the first query has a relevant item, and one that is not."""
    kind = KINDS[draw(st.sampled_from(kinds))]
    usual = st.integers(3, min(8, largest))
    count = draw(st.one_of(usual, usual, st.integers(3, largest)))
    rows = draw(arrays(kind, count))
    labels = [0, 0, 1, *draw(st.lists(st.integers(0, 2), min_size=count - 3, max_size=count - 3))]
    queries = draw(st.sampled_from([0, 1, count - 2]))
    if queries == 0:
        return Data(kind, rows, labels, None, None)
    return Data(kind, rows[:queries], labels[1 : queries + 1], rows[queries:], [0, 1, *labels[queries + 2 :]])
