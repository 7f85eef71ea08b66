"""`pcf`: the share of principal components that explain a share of the variance."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import Embeddings, as_finite_embeddings
from tieproof.inputs.lookalikes import warn_of_similarities
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.options import as_shares
from tieproof.ties import FloatArray

ROUNDING = 2.0**-52
"""Shares of variance that differ by less than this, times the number of rows or dimensions, count as equal."""


@unchanged_files
def pcf(embeddings: Any, explained: float | Iterable[float] = (0.5,)) -> FloatArray:
    """The principal components fraction (PCF): components needed to explain a share of the variance, over all.

    With the eigenvalues l_1 >= l_2 >= … of the covariance matrix, of which n rows of d dimensions have min(n, d), it
    is N / d for the largest N up to d with (l_1 + … + l_(N-1)) / (l_1 + l_2 + …) <= share.

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
        NaN or infinity, wrong shapes, shares outside [0, 1]; rows that are all equal and so have no variance.

    Notes
    -----
    The definition is that of OpenMetricLearning's `calc_pcf`. There are no ties here, and no promise of the same
    bits: eigenvalues are computed in float64, by NumPy. Sums of variance that differ from the share by less than
    their rounding, 2^-52 max(n, d), count as equal to it, so that the order of rows or dimensions changes nothing
    where a share is met exactly.

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
    variances = eigenvalues(centred(array))
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


def centred(array: Embeddings) -> FloatArray:
    """The rows minus their mean, times a power of two so that nothing overflows."""
    rows = array.astype(np.float64)
    largest = np.abs(rows).max()
    if largest > 0:
        # Entries below 1/2; in two steps, for the powers of two at both ends of float64.
        exponent = -int(np.frexp(largest)[1]) - 1
        rows *= 2.0 ** (exponent // 2)
        rows *= 2.0 ** (exponent - exponent // 2)
    rows -= rows[0].copy()  # equal rows become exact zeros, which a mean need not
    rows -= rows.mean(axis=0)
    largest = np.abs(rows).max()
    if largest > 0:
        rows /= largest
    return rows


def eigenvalues(rows: FloatArray) -> FloatArray:
    """The min(n, d) largest eigenvalues of the covariance matrix, falling, up to a common factor."""
    product = rows.T @ rows if rows.shape[1] <= len(rows) else rows @ rows.T
    values = np.linalg.eigvalsh(product)[::-1]
    return np.asarray(np.maximum(values, 0.0))
