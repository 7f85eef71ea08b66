"""`pcf`: the share of the principal components that explains a share of the variance."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import Embeddings, as_finite_embeddings
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.mistakes import warn_of_similarities
from tieproof.inputs.options import as_shares
from tieproof.ties import FloatArray

ROUNDING = 2.0**-52  # shares are equal if they differ by less than this times the number of rows or dimensions


@unchanged_files
def pcf(embeddings: Any, explained: float | Iterable[float] = (0.5,)) -> FloatArray:
    """Compute the principal components fraction (PCF): the share of components that explains a share of the variance.

    Let l_1 >= l_2 >= … be the min(n, d) eigenvalues of the covariance matrix of n rows and d dimensions. PCF is N / d
    for the largest N up to d with (l_1 + … + l_(N-1)) / (l_1 + l_2 + …) <= share.

    Parameters
    ----------
    embeddings : (n, d) floats, integers or bools
    explained : shares of the variance, numbers from 0 to 1

    Returns
    -------
    One fraction for each share, in their order.

    Raises
    ------
    InputError
        If the embeddings contain NaN or infinity, have a wrong shape, or have no variance because all rows are equal;
        if a share is outside [0, 1].

    Notes
    -----
    The definition is that of OpenMetricLearning's `calc_pcf`. Ties play no part here, and identical bits are not
    promised, because NumPy computes the eigenvalues in float64. A sum of variances that differs from the share by
    less than its rounding error, 2^-52 max(n, d), counts as equal to the share, so that the order of rows or
    dimensions does not matter if a share is met exactly.

    Examples
    --------
    >>> import numpy as np
    >>> import tieproof as tp
    >>> tp.pcf(np.eye(4, 10), explained=(0.5, 1)).tolist()
    [0.2, 0.5]

    """
    shares = as_shares(explained, "A share of the variance", "explained=(0.5,)")
    array = as_finite_embeddings(embeddings)
    if len(array) == array.shape[1]:
        warn_of_similarities(array, "embeddings")
    variances = eigenvalues(_centered(array))
    total = variances.sum()
    if total == 0.0:
        raise InputError(
            f"The embeddings do not vary: all {len(array)} rows are equal, so no component explains any variance. "
            "Pass rows that differ."
        )
    sums = np.cumsum(variances) / total
    reached = np.array(shares)[:, None] + ROUNDING * max(array.shape)
    needed = np.minimum(1 + (sums <= reached).sum(axis=1), array.shape[1])
    return np.asarray(needed / array.shape[1])


def _centered(array: Embeddings) -> FloatArray:
    """Return the rows minus their mean, scaled so that nothing overflows."""
    rows = array.astype(np.float64)
    largest = np.abs(rows).max()
    if largest > 0:
        # Scale all entries below 1/2, in two steps because the factor may be outside the range of float64.
        exponent = -int(np.frexp(largest)[1]) - 1
        rows *= 2.0 ** (exponent // 2)
        rows *= 2.0 ** (exponent - exponent // 2)
    rows -= rows[0].copy()  # equal rows become exactly zero, which subtracting the mean does not ensure
    rows -= rows.mean(axis=0)
    largest = np.abs(rows).max()
    if largest > 0:
        rows /= largest
    return rows


def eigenvalues(rows: FloatArray) -> FloatArray:
    """Return the min(n, d) largest eigenvalues of the covariance matrix, descending, up to a common factor."""
    product = rows.T @ rows if rows.shape[1] <= len(rows) else rows @ rows.T
    values = np.linalg.eigvalsh(product)[::-1]
    return np.asarray(np.maximum(values, 0.0))
