"""The space of items of several vectors: bounds of its tiles and keys, and exact keys, compared with fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from hard_sets import HARD_SETS
from maxsim_oracle import items_of, maxsim
from tieproof.distances import find_distance, make_space
from tieproof.distances.maxsim import MaxSim
from tieproof.distances.space import Resources

TILES = ((np.float32, 2**16), (np.float32, 2), (np.float64, 2**16), (np.int8, 2**16))


def space_of(name: str, dtype: Any, chunk: int) -> tuple[MaxSim, list[list[Fraction]]]:
    """A space of some queries and items, and its exact scores."""
    random = np.random.default_rng(7)
    data = HARD_SETS[name](random, (30, 5))
    queries: Any = tp.MultiVectors(data[:10], [0, 3, 4, 8, 10])
    gallery: Any = tp.MultiVectors(data[10:], [0, 1, 4, 6, 7, 13, 15, 20])
    order = np.arange(4), np.arange(7)
    resources = Resources(2**20, np.dtype(dtype), chunk)
    space = make_space(find_distance("maxsim"), queries, gallery, order, resources)
    assert isinstance(space, MaxSim)
    space.keep_rows()
    own, items = (items_of(side.vectors, side.offsets.tolist()) for side in (queries, gallery))
    divisor = Fraction(float(space.products.items.divisor[0])) * Fraction(float(space.products.queries.divisor[0]))
    exact = [[maxsim(own[i], items[j]) / divisor for j in space.items.first] for i in space.queries.first]
    return space, exact


@pytest.mark.parametrize(("dtype", "chunk"), TILES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_bounds(name: str, dtype: Any, chunk: int) -> None:
    space, exact = space_of(name, dtype, chunk)
    rows, columns = (np.ravel(each) for each in np.indices((len(space.queries), len(space.items))))
    error = space.all_errors
    tiles = space.tile(slice(0, len(space.queries)), slice(0, len(space.items))).ravel(), space.keys(rows, columns)
    bounds = error.relative * np.abs(tiles[0]) + error.row[rows] * error.column[columns] + error.constant[columns]
    for values, errors in ((tiles[0], bounds), tiles[1]):
        for value, bound, i, j in zip(values.tolist(), errors.tolist(), rows, columns, strict=True):
            assert abs(Fraction(value) - exact[i][j]) <= Fraction(bound)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", HARD_SETS)
def test_exact_keys_are_in_the_order_of_scores(name: str) -> None:
    space, exact = space_of(name, np.float32, 2**16)
    columns = np.arange(len(space.items))
    for row, scores in enumerate(exact):
        keys = list(map(tuple, space.exact_keys(np.full_like(columns, row), columns).tolist()))
        alone = [tuple(space.exact_keys(np.array([row]), columns[j : j + 1])[0].tolist()) for j in columns]
        assert keys == alone
        places = [sorted(set(scores)).index(score) for score in scores]
        assert places == [sorted(set(keys)).index(key) for key in keys]
