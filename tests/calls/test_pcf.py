"""PCF: the example of its source, known spectra, an independent decomposition, and refusals."""

from typing import Any

import numpy as np
import pytest

import tieproof as tp


def test_example_of_the_source() -> None:
    assert tp.pcf(np.eye(4, 10, dtype=np.float32), explained=(0.5, 1)).tolist() == [0.2, 0.5]


@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-310, 2.0**1023])
def test_known_spectrum(scale: float) -> None:
    # Pairs of opposite points on the axes: eigenvalues in proportion to 16, 4, 1 and 0, that is 16/21, 20/21, 1, 1.
    axes = np.diag([4.0, 2.0, 1.0, 0.0]) / 4
    data = np.concatenate([axes, -axes]) * scale
    shares = (0, 0.5, 0.77, 0.96, 1)
    assert tp.pcf(data, shares).tolist() == [0.25, 0.25, 0.5, 0.75, 1.0]


def test_shares_that_are_met_exactly() -> None:
    # Ten equal eigenvalues: m of them explain m / 10, so m + 1 components are the largest number for a share m / 10.
    axes = np.eye(10)
    data = np.concatenate([axes, -axes])
    random = np.random.default_rng(0)
    for _ in range(5):
        permuted = data[random.permutation(20)][:, random.permutation(10)]
        found = tp.pcf(permuted + random.normal(size=10), np.arange(10) / 10)
        assert found.tolist() == (np.arange(1, 11) / 10).tolist()


@pytest.mark.parametrize("shape", [(40, 7), (7, 40), (1, 2), (30, 30)])
def test_as_numpy_decomposes_the_covariance(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(3)
    data = random.normal(size=(shape[0] + 1, shape[1])) * random.random(shape[1])
    variances = np.sort(np.linalg.eigvalsh(np.cov(data.T)))[::-1]
    sums = np.cumsum(variances) / variances.sum()
    shares = random.random(50)
    expected = [(1 + np.searchsorted(sums, share, side="right")) / shape[1] for share in shares]
    assert tp.pcf(data, shares).tolist() == expected
    assert tp.pcf(data, 0.5).tolist() == tp.pcf(data).tolist()


BAD: dict[str, tuple[Any, Any, str]] = {
    "NaN": ([[1.0, 2.0], [np.nan, 1.0]], 0.5, r"embeddings must contain only finite numbers, but row 1 contains nan"),
    "one row": ([[1.0, 2.0]], 0.5, r"do not vary: all 1 rows are equal"),
    "a constant": (np.full((7, 3), 0.1), 0.5, r"do not vary: all 7 rows are equal"),
    "one dimension": ([1.0, 2.0], 0.5, r"must have the shape \(items, dimensions\)"),
    "no rows": (np.zeros((0, 3)), 0.5, r"embeddings must have at least one row"),
    "strings": ([["a"]], 0.5, r"must contain real numbers"),
    "a share above 1": ([[1.0], [2.0]], (0.5, 1.5), r"from 0 to 1, not 1.5"),
    "a share that is NaN": ([[1.0], [2.0]], np.nan, r"from 0 to 1, not nan"),
    "a share in words": ([[1.0], [2.0]], "half", r"from 0 to 1, not 'half'"),
    "no share": ([[1.0], [2.0]], (), r"A share of the variance is missing"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(name: str) -> None:
    data, shares, message = BAD[name]
    with pytest.raises(tp.InputError, match=message):
        tp.pcf(data, shares)
