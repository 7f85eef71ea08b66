"""Values known from the paper and from independent computations."""

import numpy as np
import pytest

import tieproof as tp
from shared_data import load_shared


def close(value: float, expected: float) -> bool:
    return abs(value - expected) <= 1e-12 * expected


def test_figure_1_of_the_paper() -> None:
    # 100 items: ranks {1, 2} are tied, and so are ranks {5, 6, 7}, each with one relevant item.
    distances = [[1.0, 1.0, 3.0, 4.0, 5.0, 5.0, 5.0, *range(8, 101)]]
    relevance = [[1, 0, 0, 0, 1, 0, 0] + [0] * 93]
    found = tp.evaluate_distances(np.array(distances), np.array(relevance), measures=["AP"])["AP"]
    assert close(found.lower, (1 / 2 + 2 / 7) / 2)
    assert close(found.upper, (1 + 2 / 5) / 2)
    # Mean of the six orderings: first hit at rank 1 or 2, second at rank 5, 6 or 7.
    orderings = [(1 / a + 2 / b) / 2 for a in (1, 2) for b in (5, 6, 7)]
    assert close(found.expected, sum(orderings) / 6)


def test_all_zero_embeddings_of_section_5_2() -> None:
    found = tp.evaluate(np.zeros((1000, 1000)), np.arange(1000) % 10, measures=["AP"])["AP"]
    assert close(found.lower, 0.05177291227644108)
    assert close(found.expected, 0.10495267188480596)
    assert found.upper == 1


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        ("cosine", 0.9554905756319327),
        ("euclidean", 0.9578088831318462),
        ("sqeuclidean", 0.9578088831318462),
        ("cityblock", 0.9569107952421201),
    ],
)
def test_phocnet_on_george_washington(distance: str, expected: float) -> None:
    file = load_shared("phocnet.npz")
    result = tp.evaluate(file["phocnet_features"], file["phocnet_labels"], distance=distance, measures=["AP"])
    assert result.ties.queries == 899
    assert result.ties.ambiguous_ties == 0
    assert close(result["AP"].lower, expected)
    assert result["AP"].lower == result["AP"].expected == result["AP"].upper
    assert result["AP"].std == 0
