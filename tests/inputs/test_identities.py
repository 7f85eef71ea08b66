"""Floats that name something are refused where they may have been rounded, and integers where float64 would round."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.inputs.readers import read_labels

DATA = np.array([[0.0], [1.0], [3.0], [7.0]])
LIMITS = {"float16": 2**11, "float32": 2**24, "float64": 2**53, "longdouble": 2**53}


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_first_integer_that_may_be_a_rounded_one(dtype: str, sign: int, tmp_path: Path) -> None:
    limit = LIMITS[dtype]
    # The type itself takes the next integer for this one (long doubles become float64).
    narrow = "float64" if dtype == "longdouble" else dtype
    assert np.array(limit + 1).astype(narrow) == np.array(limit).astype(narrow)
    good = np.array([0, 0, sign * (limit - 1), sign * (limit - 1)]).astype(dtype)
    assert tp.evaluate(DATA, good, measures=["AP"]).query_ids.tolist() == [0, 1, 2, 3]
    bad = np.array([0, 0, sign * limit, sign * limit]).astype(dtype)
    with pytest.raises(tp.InputError, match=f"below {limit}, but row 2"):
        tp.evaluate(DATA, bad)
    if dtype != "longdouble":
        np.save(tmp_path / "good.npy", good)
        assert (read_labels(tmp_path / "good.npy") == good).all()
        np.save(tmp_path / "bad.npy", bad)
        with pytest.raises(tp.InputError, match=f"below {limit}"):
            read_labels(tmp_path / "bad.npy")


ROUNDED = np.array([0, 0, 2048, 2048], np.float16)
INTEGERS = [0, 0, 1, 1]

NAMING: dict[str, Callable[[], object]] = {
    "labels": lambda: tp.evaluate(DATA, ROUNDED),
    "labels in a list": lambda: tp.evaluate(DATA, list(ROUNDED)),
    "labels beside integers": lambda: tp.evaluate(DATA, [0, 0, 1, ROUNDED[2]]),
    "labels as arrays in a list": lambda: tp.evaluate(DATA, [ROUNDED[at, ...] for at in range(4)]),
    "labels of a gallery": lambda: tp.evaluate(DATA, INTEGERS, gallery=DATA + 1, gallery_labels=ROUNDED),
    "groups": lambda: tp.evaluate(DATA, INTEGERS, groups=ROUNDED),
    "groups of a gallery": lambda: tp.evaluate(
        DATA, INTEGERS, gallery=DATA + 1, gallery_labels=INTEGERS, groups=INTEGERS, gallery_groups=ROUNDED
    ),
    "categories": lambda: tp.evaluate(DATA, INTEGERS, categories=ROUNDED),
    "labels of an Evaluator": lambda: tp.Evaluator().update(DATA, ROUNDED),
    "labels of fnmr": lambda: tp.fnmr_at_fmr(DATA, ROUNDED),
    "labels of collisions": lambda: tp.collisions(DATA, ROUNDED),
    "categories of scores": lambda: tp.evaluate_scores([[1, 2]] * 4, [[0, 1]] * 4, categories=ROUNDED),
    "categories of a run": lambda: tp.evaluate_run({"q": {"d": 1}}, {"q": {"d": 1}}, categories={"q": ROUNDED[2]}),
}


@pytest.mark.parametrize("call", NAMING.values(), ids=NAMING)
def test_wherever_they_name_something(call: Callable[[], object]) -> None:
    with pytest.raises(tp.InputError, match=r"below 2048.*2048\.0, which may have been rounded"):
        call()


@pytest.mark.parametrize("name", ["relevance", "exclude"])
def test_indices_of_pairs(name: str) -> None:
    many = np.arange(2100.0)[:, None]
    labels: dict[str, Any] = {} if name == "relevance" else {"labels": np.arange(2100) // 2}
    exact: Any = np.array([[0, 2047], [1, 2047]], np.float16)
    rounded: Any = np.array([[0, 2047], [1, 2049]], np.float16)
    assert tp.evaluate(many, measures=["AP"], **labels, **{name: exact}).setting.queries == 2100
    with pytest.raises(tp.InputError, match=r"in float16 below 2048, .* row 1 contains 2048"):
        tp.evaluate(many, **labels, **{name: rounded})


def test_grades_that_float64_rounds() -> None:
    with pytest.raises(tp.InputError, match=r"grade beyond 2\^53"):
        tp.evaluate(DATA, relevance=np.array([[0, 1, 2**53 + 1], [0, 2, 2**53]]))
    grades = np.array([[0, 1, 2**60], [0, 2, 1]])
    graded = tp.evaluate(DATA, relevance=grades, measures=["AP"], distance="euclidean")
    assert graded["AP"].lower == 1.0


ODD, EXACT = 2**60 + 1, 2**60


def frame(first: Any, second: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({"a": first, "b": second})


def frame_of(rows: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(rows)


def table(first: Any, second: Any) -> Any:
    import pyarrow as pa

    return pa.table({"a": first, "b": second})


MIXED: dict[str, Callable[[int], Any]] = {
    "a list": lambda odd: [[odd, 0.5], [odd - 1, 0.5]],
    "a list of NumPy's integers": lambda odd: [[np.int64(odd), 0.5], [np.int64(odd - 1), 0.5]],
    "NumPy's unsigned integers": lambda odd: [[np.uint64(odd), 0.5], [np.uint64(odd - 1), 0.5]],
    "a tuple of tuples": lambda odd: ((np.int64(odd), 0.5), (np.int64(odd - 1), 0.5)),
    "a list of arrays": lambda odd: [np.array([odd, odd - 1]), np.array([0.5, 0.5])],
    "a list of signed and unsigned arrays": lambda odd: [np.array([odd, 1]), np.array([2**63, 1], np.uint64)],
    "a list of single arrays": lambda odd: [[np.array(odd), np.array(0.5)]] * 2,
    "a frame": lambda odd: frame([odd, odd - 1], [0.5, 0.5]),
    "a frame of signed and unsigned columns": lambda odd: frame(np.array([odd, -1]), np.array([2**63, 1], np.uint64)),
    "a table of pyarrow": lambda odd: table([odd, odd - 1], [0.5, 0.5]),
}


@pytest.mark.parametrize("make", MIXED.values(), ids=MIXED)
def test_integers_beside_floats(make: Callable[[int], Any]) -> None:
    with pytest.raises(tp.InputError, match="embeddings must not mix integers that float64 cannot represent"):
        tp.evaluate(make(ODD), [0, 0], distance="dot")


@pytest.mark.parametrize("odd", [7, EXACT])
def test_integers_that_float64_holds(odd: int) -> None:
    made = [[np.int64(odd), 0.5], [np.int64(odd), 0.25]]
    assert tp.evaluate(made, [0, 0], distance="dot", measures=["AP"])["AP"].lower == 1.0
    assert tp.pcf(frame([odd, 0], [0.5, 0.5])).tolist() == [0.5]


NARROW = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]], np.float16)


@pytest.mark.parametrize("make", [list, frame_of, lambda rows: [list(row) for row in rows]])
def test_narrow_floats_in_lists_and_frames(make: Callable[[Any], Any]) -> None:
    result = tp.evaluate(make(NARROW), [0, 0, 1], distance="euclidean", measures=["AP"])
    assert result.to_json() == tp.evaluate(NARROW, [0, 0, 1], distance="euclidean", measures=["AP"]).to_json()


@pytest.mark.parametrize(
    "labels", [[np.int64(ODD), 0.0], [np.int64(EXACT), 0.0], np.array([ODD, 0.0], object), [ODD, np.float32(0.0)]]
)
def test_labels_beside_floats(labels: Any) -> None:
    with pytest.raises(tp.InputError, match=f"below {2**53}"):
        tp.evaluate(DATA[:2], labels)


def test_scores_beside_floats() -> None:
    with pytest.raises(tp.InputError, match="scores must not mix integers that float64 cannot represent"):
        tp.evaluate_scores([[np.int64(ODD), np.int64(EXACT), 0.5]], [[1, 0, 0]])
    with pytest.raises(tp.InputError, match="confidences must not mix integers that float64 cannot represent"):
        tp.evaluate(DATA, INTEGERS, confidence=[np.int64(ODD), 1, 2, 0.5])
