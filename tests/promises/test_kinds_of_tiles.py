"""Promise 1 for each kind of tiles: what is counted and found by them, compared with a brute force in fractions.

Collisions and error rates need no tests here: their tiles are always float64.
"""

from typing import Any

import numpy as np
import pytest
from test_exact import assert_exact, labels_of
from test_noisy_embeddings import check_bounds

import tieproof as tp
from exact_oracle import fractions, mean_average_precision
from forced import FORCED, no_integers, small_tiles
from hard_sets import HARD_SETS, NEAR_DUPLICATES
from nearest_oracle import keys, nearest

pytestmark = pytest.mark.filterwarnings("ignore::tieproof.InputWarning")

KINDS = (
    "codes_sifted",
    "two slices",
    "three slices",
    "float32 tiles",
    "float32 tiles of short sums",
    "float64 tiles",
)
SETS = HARD_SETS | {f"near duplicates: {name}": made for name, made in NEAR_DUPLICATES.items()}
LONG = "six hundred orders"  # numbers of thousands of bits


@pytest.mark.few(8)
@pytest.mark.parametrize("with_gallery", [False, True])
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "dot"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name == LONG else ()) for name in SETS]
)
def test_every_kind(name: str, distance: str, with_gallery: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    random, k = np.random.default_rng(len(name)), 4
    rows, labels = SETS[name](random, (13, 6)), labels_of(random, 13, 3)
    labels[5:7] = 0, 1
    first = slice(5 if with_gallery else None)
    queries, of_queries = rows[first], labels[first]
    gallery: tuple[Any, Any] = (rows[5:], labels[5:]) if with_gallery else (None, None)
    task: dict[str, Any] = {"gallery": gallery[0], "gallery_labels": gallery[1], "distance": distance}
    average = mean_average_precision(distance, queries, of_queries.tolist(), *gallery)
    items = fractions(queries if gallery[0] is None else gallery[0])
    lists = [
        nearest(distance, keys(distance, row, items, set() if with_gallery else {query}), k)
        for query, row in enumerate(fractions(queries))
    ]
    for kind in KINDS:
        with monkeypatch.context() as patch:
            no_integers(patch)
            small_tiles(patch, 7)
            FORCED[kind](patch)
            assert_exact(tp.evaluate(queries, of_queries, measures=["AP"], **task), average)
            found = tp.nearest(queries, gallery[0], k, distance=distance)
            assert found.ids.tolist() == [each.ids for each in lists], kind
            assert found.distances.tolist() == [each.distances for each in lists], kind
            assert [found.tie(query).tolist() for query in range(len(queries))] == [each.tie for each in lists], kind
            check_bounds(queries, of_queries, *gallery, distance)
