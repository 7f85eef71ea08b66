"""The nearest sparse rows, whose ties at 0 hold most items, by dictionaries and fractions."""

import pytest

import tieproof as tp
from sparse_oracle import WEIGHTS, product, ranked, rows_of

pytestmark = pytest.mark.filterwarnings("ignore::tieproof.InputWarning")


@pytest.mark.few(10)
@pytest.mark.parametrize("k", [1, 5, 17, 39])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("distance", ["dot", "cosine", "euclidean"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_ties_of_items_that_share_no_term(kind: str, distance: str, sides: int, k: int) -> None:
    gallery = rows_of(kind, 40, seed=1)
    queries = gallery if sides == 1 else rows_of(kind, 7, seed=2)
    found = tp.nearest(queries, None if sides == 1 else gallery, k=k, distance=distance)
    for query, x in enumerate(queries):
        items = {item: y for item, y in enumerate(gallery) if sides == 2 or item != query}
        ids, starts, tie = ranked(distance, x, items, k)
        assert found.ids[query].tolist() == ids
        assert found.tie_starts[query] == starts
        assert found.tie_ids[found.tie_indptr[query] : found.tie_indptr[query + 1]].tolist() == tie
        if distance == "dot":
            expected = [float(-product(x, gallery[item])) for item in ids]
            assert found.distances[query].tolist() == expected
