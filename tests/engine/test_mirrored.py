"""Values that stripes hand over to each other: the same pairs, each computed once, within the memory."""

import json

import numpy as np
import pytest

import tieproof as tp
from exact_oracle import ORDERS
from hard_sets import HARD_SETS
from tieproof.distances.gauge import Gauge
from tieproof.engine import collisions, plan
from tieproof.engine.mirrored import MirroredValues
from tieproof.evaluation.problems import ArgumentSide, as_budget, in_memory, make_problem
from tieproof.ties import FloatArray

COUNT, HEIGHT = 120, 7


def gauge_of(distance: str) -> Gauge:
    data = np.random.default_rng(3).normal(size=(COUNT, 9)).astype(np.float32)
    labels = np.arange(COUNT) % 7
    problem = in_memory(
        make_problem(ArgumentSide(data, labels, None), ArgumentSide(None, None, None), distance, as_budget("1GiB", 1))
    )
    return problem.gauge()


def computed(mirrored: MirroredValues, monkeypatch: pytest.MonkeyPatch) -> tuple[FloatArray, int, int]:
    """The values of all stripes, the number of values that were computed, and the most that were kept for others."""
    kept, most, pairs = 0, 0, 0
    original = mirrored.gauge.values

    def counted(rows: slice, columns: slice) -> FloatArray:
        nonlocal pairs
        pairs += (rows.stop - rows.start) * (columns.stop - columns.start)
        return original(rows, columns)

    monkeypatch.setattr(mirrored.gauge, "values", counted)
    values = np.full((COUNT, COUNT), np.nan)
    for stripe, rows in enumerate(mirrored.rows):
        mirrored.write(stripe, values[rows])
        kept = sum(part.size for handed in mirrored.handed for _, part in handed or ())
        most = max(most, kept)
    return values, pairs, most


def stripes_of(count: int, height: int) -> list[slice]:
    return [slice(start, min(start + height, count)) for start in range(0, count, height)]


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "dot", "cityblock"])
@pytest.mark.parametrize("entries", [0, COUNT, COUNT**2 // 32, COUNT**2])
def test_values_are_those_of_the_gauge(distance: str, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    gauge = gauge_of(distance)
    expected = gauge.wide_values(slice(0, COUNT), slice(0, COUNT))
    mirrored = MirroredValues(gauge, stripes_of(COUNT, HEIGHT), 8 * entries, 1)
    values, pairs, most = computed(mirrored, monkeypatch)
    absolute, relative = gauge.errors()
    assert (np.abs(values - expected) <= 2.1 * (absolute + relative * np.abs(expected))).all()
    assert most <= entries
    if entries == COUNT**2:
        assert pairs == (COUNT**2 + sum((rows.stop - rows.start) ** 2 for rows in mirrored.rows)) / 2


def test_stripes_that_share_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    gauge = gauge_of("dot")
    rows = [slice(max(0, span.start - 1), span.stop) for span in stripes_of(COUNT, HEIGHT)]
    values, *_ = computed(MirroredValues(gauge, rows, 2**20, 1), monkeypatch)
    np.testing.assert_allclose(values, gauge.wide_values(slice(0, COUNT), slice(0, COUNT)))


@pytest.mark.few(8)
@pytest.mark.filterwarnings("ignore::tieproof.InputWarning")  # some hard sets look like packed codes
@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", HARD_SETS)
def test_collisions_are_the_same(name: str, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    data, labels = HARD_SETS[name](random, (40, 5)), random.integers(0, 5, size=40)
    found = []
    for share, stripe, threads in ((0.0, 512, 1), (0.5, 512, 3), (0.5, 9, 1), (0.5, 9, 3), (0.0, 9, 3)):
        with monkeypatch.context() as patch:
            patch.setattr(collisions, "MIRRORED", share)
            patch.setattr(plan, "LARGEST_STRIPE", stripe)
            patch.setattr(collisions, "STRIPES", 2.0**-16 if stripe == 9 else 0.125)
            result = tp.collisions(data, labels, distance=distance, threads=threads, memory="64MiB")
        found.append(json.loads(result.to_json()))
    assert found == [found[0]] * 5
