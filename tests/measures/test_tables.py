"""Tables of running sums have the same bits however they are extended, and take little memory after an evaluation."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.measures import numbers, rank_weights
from tieproof.measures.numbers import Pair
from tieproof.measures.rank_weights import HARMONIC, LOGARITHMIC, RunningSums, growing_tables

MEASURES = ["AP", "nDCG", "RR", "RBP(p=0.9)"]


def harmonic() -> RunningSums:
    return RunningSums(lambda i: 1.0 / Pair.of(i))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> int:
    """Tables of which almost nothing is kept."""
    monkeypatch.setattr(rank_weights, "KEPT", 300)
    with growing_tables():
        pass
    return 300


def lengths() -> set[int]:
    return {table._table.shape[1] for table in rank_weights._tables}


@pytest.mark.parametrize("at_once", [256, 512, 1 << 16])
@pytest.mark.parametrize("last", [1, 255, 256, 257, 5000, 70_000])
def test_bits_do_not_depend_on_what_is_asked_for_at_a_time(
    at_once: int, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = harmonic().up_to(140_000)
    monkeypatch.setattr(numbers, "_TERMS_AT_ONCE", at_once)
    part = harmonic().up_to(last)
    assert np.array_equal(part, whole[:, : part.shape[1]])


def test_sums_are_those_of_fractions() -> None:
    table, exact = harmonic().up_to(3000), Fraction(0)
    for i in range(1, 3001):
        exact += Fraction(1, i)
        found = Fraction(float(table[0, i])) + Fraction(float(table[1, i]))
        assert abs(found - exact) <= exact / 2**98


def task() -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {
        "scores": random.integers(0, 300, size=(7, 2000)).astype(float),
        "relevance": (random.random(size=(7, 2000)) < 0.2).astype(int),
        "measures": MEASURES,
    }


def test_results_have_the_same_bits_whatever_is_kept(short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [tp.evaluate_scores(**task()).to_json() for _ in range(2)]
    monkeypatch.setattr(rank_weights, "KEPT", 1 << 18)
    assert [tp.evaluate_scores(**task()).to_json() for _ in range(2)] == before


CALLS: dict[str, Callable[[], Any]] = {
    "evaluate_scores": lambda: tp.evaluate_scores(**task()),
    "collisions": lambda: tp.collisions(np.zeros((2000, 1)), np.arange(2000) % 2, distance="euclidean"),
    "a table": lambda: HARMONIC.sums.up_to(5000),
    "tables of tables": lambda: LOGARITHMIC.squares.up_to(5000),
}


@pytest.mark.parametrize("call", CALLS)
def test_little_is_kept(call: str, short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    longest: list[int] = []
    shorten = RunningSums.shorten

    def watched(table: RunningSums) -> None:
        longest.append(table._table.shape[1])
        shorten(table)

    monkeypatch.setattr(RunningSums, "shorten", watched)
    CALLS[call]()
    assert max(longest) > 1000
    assert max(lengths()) <= short


def test_little_is_kept_after_an_error(short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Any) -> None:
        raise RuntimeError("mine")

    monkeypatch.setattr("tieproof.evaluation.scoring.count_by_query", fails)
    with pytest.raises(RuntimeError, match="mine"):
        tp.evaluate_scores(**task())
    assert max(lengths()) <= short


def test_persistences_do_not_pile_up() -> None:
    for i in range(1, 40):
        tp.evaluate_scores([[2.0, 1.0, 1.0]], [[0, 1, 0]], measures=[f"RBP(p={i / 50})"])
    assert rank_weights._geometric_tables.cache_info().currsize <= 8


def test_threads_make_a_table_once(short: int) -> None:
    asked: list[int] = []
    start = threading.Barrier(4)

    def term(i: Any) -> Pair:
        asked.append(int(i[-1]))
        return 1.0 / Pair.of(i)

    table, expected = RunningSums(term), harmonic().up_to(4000)

    def ask(last: int) -> bool:
        start.wait()
        return np.array_equal(table.up_to(last)[:, : last + 1], expected[:, : last + 1])

    with growing_tables(), ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, [4000, 4000, 3999, 2100]))
        assert asked == [4095]
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, [4000, 700, 3999, 2100]))
    assert max(lengths()) <= short


def test_evaluations_at_once_agree(short: int) -> None:
    call = partial(tp.evaluate_scores, **task())
    expected = call().to_json()
    with ThreadPoolExecutor(4) as pool:
        assert {result.result().to_json() for result in [pool.submit(call) for _ in range(12)]} == {expected}
