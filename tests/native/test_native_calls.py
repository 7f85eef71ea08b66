"""How arguments and results are passed between Python and C, by kernels that return what they receive."""

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import GenericAlias
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pytest

from tieproof.native import conversions
from tieproof.native.building import FLAGS, SOURCES, compiler, this_machine
from tieproof.native.calls import Output, native, packed, resolved
from tieproof.native.conversions import element_of, is_array, paths_to_generic

Longs = npt.NDArray[np.int64]
Row = npt.NDArray[Any]


class Inner(NamedTuple):
    first: Longs
    certain: bool
    whole: bool
    share: float


class Outer(NamedTuple):
    row: int
    certain: bool
    entries: Row
    inner: Inner


class Errors(NamedTuple):
    absolute: float
    relative: float


@native
def sum_of_all(twice: bool, inner: Inner, more: int | np.int64) -> int:
    pass


@native
def flags_and_share(inner: Inner) -> float:
    pass


@native
def is_absent(values: Longs | None) -> bool:
    pass


@native
def errors_of(value: float) -> Errors:
    pass


@native
def weighted(outer: Outer, weights: Row) -> float:
    pass


@native
def put_weights(outer: Outer, weights: Output[Row]) -> None:
    pass


@native
def put_first(inner: Output[Inner]) -> None:
    pass


Call = Callable[..., Any]


@pytest.fixture(scope="module")
def toy_library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The compiled `toy_kernels.c`."""
    library = tmp_path_factory.mktemp("toys") / "toys.so"
    source = Path(__file__).with_name("toy_kernels.c")
    command = [*compiler(this_machine()), *FLAGS, "-shared", f"-I{SOURCES}", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


@pytest.fixture(params=[0, conversions.FEW_CALLS], ids=["by a written function", "one by one"])
def toys(
    request: pytest.FixtureRequest, toy_library: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Any], Call]:
    """Kernels of `toy_kernels.c`, by their stubs; arguments are converted in both ways."""
    monkeypatch.setattr(conversions, "FEW_CALLS", request.param)

    def call(stub: Any) -> Call:
        kernel = resolved(stub.__wrapped__, toy_library)
        return lambda *arguments: kernel(arguments)

    return call


def inner(*first: int) -> Inner:
    return Inner(np.array(first, dtype=np.int64), True, False, 0.25)


def test_numbers_and_structs_of_arrays(toys: Callable[[Any], Call]) -> None:
    assert toys(sum_of_all)(False, inner(1, 2, 3), 4) == 10
    assert toys(sum_of_all)(np.True_, inner(), np.int64(-(2**62))) == -(2**63)
    assert toys(flags_and_share)(inner()._replace(whole=True)) == 11.25


def test_results_are_numbers_of_python(toys: Callable[[Any], Call]) -> None:
    assert type(toys(sum_of_all)(False, inner(), 1)) is int
    assert toys(errors_of)(np.float32(0.5)) == Errors(0.25, 1.0)
    assert toys(is_absent)(None) is True
    assert toys(is_absent)(np.zeros(1, dtype=np.int64)) is False


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_generic_kernels_take_the_type_of_their_arrays(toys: Callable[[Any], Call], dtype: Any) -> None:
    weights = np.array([1.0, 1e-9], dtype=dtype)
    entries = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=dtype)
    expected = 4.0 + 6.0 * float(weights[1]) + 7 + 0.25 + 5
    assert toys(weighted)(Outer(7, True, entries, inner(4, 5)), weights) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("change", ["read-only", "every other row", "first columns", "every row the same"])
def test_rows_may_be_apart_and_read_only(toys: Callable[[Any], Call], change: str) -> None:
    entries = np.arange(12.0).reshape(4, 3)
    if change == "read-only":
        entries.flags.writeable = False
    entries = {
        "every other row": entries[::2],
        "first columns": entries[:, :2],
        "every row the same": np.broadcast_to(entries[1], (4, 3)),
    }.get(change, entries)
    weights = np.array([100.0, 10.0, 1.0])[: entries.shape[1]]
    found = toys(weighted)(Outer(0, False, entries, inner(0, 0)), weights)
    assert found == float((entries * weights).sum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_packed_values_keep_their_arrays_and_pass_unchanged(toys: Callable[[Any], Call], dtype: Any) -> None:
    outer = Outer(7, True, np.array([[1.0, 2.0], [3.0, 4.0]], dtype=dtype), inner(4, 5))
    weights = np.array([1.0, 0.5], dtype=dtype)
    ready = packed(outer)
    assert ready is not outer
    assert all(a is b for a, b in zip(ready, outer, strict=True))
    expected = toys(weighted)(outer, weights)
    assert toys(weighted)(ready, weights) == expected
    outer.entries[0] += 1
    assert toys(weighted)(ready, weights) == toys(weighted)(outer, weights) != expected
    # A changed value is packed again, and a value packed for one type is not used for another.
    assert toys(weighted)(ready._replace(row=8), weights) == toys(weighted)(outer._replace(row=8), weights)
    with pytest.raises(TypeError, match=r"weighted_\w*: weights must be an array"):
        toys(weighted)(ready, weights.astype(np.float32 if dtype is np.float64 else np.float64))


def test_what_kernels_write_to_may_not_be_read_only(toys: Callable[[Any], Call]) -> None:
    outer, weights = Outer(7, True, np.ones((1, 2)), inner(4, 5)), np.zeros(2)
    toys(put_weights)(outer, weights)
    assert weights.tolist() == [7.0, 7.0]
    weights.flags.writeable = False
    with pytest.raises(TypeError) as caught:
        toys(put_weights)(outer, weights)
    assert str(caught.value) == "put_weights_double: weights is written to, but the array is read-only."
    first = inner(1, 2)
    toys(put_first)(first)
    assert first.first.tolist() == [25, 2]
    first.first.flags.writeable = False
    with pytest.raises(TypeError, match="is written to"):
        toys(put_first)(first)


WRONG: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "another type": (is_absent, (np.zeros(2),), "is_absent: values must be an array of int64, not of float64."),
    "another type in a tuple": (
        sum_of_all,
        (False, Inner(np.zeros(2, dtype=np.int32), True, True, 0.0), 1),
        "sum_of_all: inner.first must be an array of int64, not of int32.",
    ),
    "not all of one type": (
        weighted,
        (Outer(7, True, np.zeros((1, 1), dtype=np.float32), inner(4, 5)), np.zeros(1)),
        "weighted_float: weights must be an array of float32, not of float64.",
    ),
    "no such kernel": (
        weighted,
        (Outer(7, True, np.zeros((1, 1), dtype=np.int8), inner(4, 5)), np.zeros(1)),
        "weighted exists for float64, float32, not for int8.",
    ),
    "a list": (is_absent, ([1, 2],), "is_absent: values must be an array of int64, not of list."),
    "a column": (
        is_absent,
        (np.zeros((3, 2), dtype=np.int64)[:, 0],),
        "is_absent: values must have contiguous rows; its strides are (16,).",
    ),
    "the other order": (
        is_absent,
        (np.zeros((3, 2), dtype=np.int64).T,),
        "is_absent: values must have contiguous rows; its strides are (8, 16).",
    ),
    "None where an array must be": (
        sum_of_all,
        (False, Inner(None, True, True, 0.0), 1),  # type: ignore[arg-type]
        "sum_of_all: inner.first must be an array of int64, not of NoneType.",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arrays_are_refused_by_name(toys: Callable[[Any], Call], what: str) -> None:
    stub, arguments, message = WRONG[what]
    with pytest.raises(TypeError) as caught:
        toys(stub)(*arguments)
    assert str(caught.value) == message


def test_a_missing_argument_is_refused(toys: Callable[[Any], Call]) -> None:
    with pytest.raises(ValueError, match="shorter"):
        toys(sum_of_all)(False)


Scalar = TypeVar("Scalar", bound=np.generic)


class Alias:
    """`npt.NDArray` from NumPy 2.5 on: an alias of a type, which is not that type itself."""

    __value__ = np.ndarray[tuple[Any, ...], np.dtype[Scalar]]


@pytest.mark.parametrize("scalar", [np.int64, np.float32])
def test_arrays_are_known_by_an_alias(scalar: type[np.generic]) -> None:
    hint = GenericAlias(Alias, (scalar,))
    assert is_array(hint)
    assert element_of(hint) == np.dtype(scalar)
    assert list(paths_to_generic((hint,))) == []


def test_arrays_of_any_type_are_known_by_an_alias() -> None:
    assert list(paths_to_generic((int, GenericAlias(Alias, (Any,))))) == [(1,)]
