"""Metrics of embeddings alone: the principal components fraction, of all of them and of those of each category."""

import warnings
from typing import Any

import torch
from torch import Tensor

from tieproof import pcf
from tieproof.compat.oml.dataset import OVERALL
from tieproof.compat.oml.rankings import shares_of
from tieproof.kit import Embeddings, as_embeddings, as_labels


def calc_pcf(embeddings: Tensor, pcf_variance: tuple[float, ...]) -> Tensor:
    """The share of principal components that explain given shares of the variance, by `tieproof.pcf`.

    Parameters
    ----------
    embeddings : (n, d)
    pcf_variance : shares of the variance from 0 to 1

    Returns
    -------
    A tensor with a fraction for each share.

    Examples
    --------
    >>> calc_pcf(torch.eye(4, 10, dtype=torch.float), pcf_variance=(0.5, 1))
    tensor([0.2000, 0.5000])

    """
    return torch.tensor(pcf(embeddings, shares_of(pcf_variance, "pcf_variance")), dtype=torch.float32)


def calc_topological_metrics(
    embeddings: Tensor, pcf_variance: tuple[float, ...], categories: Any = None, verbose: bool = False
) -> dict[Any, Any]:
    """`calc_pcf` of all embeddings and of the embeddings of each category.

    Parameters
    ----------
    embeddings : (n, d)
    pcf_variance : shares of the variance from 0 to 1; an empty tuple returns an empty dictionary
    categories : (n,) integers or strings
    verbose : accepted; this is too fast for a progress bar

    Returns
    -------
    dict
        {"pcf": {share: tensor}}; with categories, {"OVERALL": this dictionary, category: the dictionary of its
        embeddings, …}. If all embeddings are equal, their pcf is undefined: it is NaN, with a warning.

    Examples
    --------
    >>> calc_topological_metrics(torch.eye(4), (0.5,), categories=["a", "a", "a", "a"])
    {'OVERALL': {'pcf': {0.5: tensor(0.5000)}}, 'a': {'pcf': {0.5: tensor(0.5000)}}}

    """
    vectors = as_embeddings(embeddings)
    if not len(pcf_variance):
        return {}
    whole = _of_rows(vectors, pcf_variance, "embeddings")
    if categories is None:
        return whole
    own = as_labels(categories, len(vectors), "categories", "embeddings", columns=False)
    return {OVERALL: whole} | {
        name: _of_rows(vectors[own == name], pcf_variance, f"embeddings of category {name!r}")
        for name in sorted(set(own.tolist()))
    }


def _of_rows(vectors: Embeddings, pcf_variance: tuple[float, ...], name: str) -> dict[str, Any]:
    """The pcf of these embeddings; NaN, with a warning, if all of them are equal."""
    if (vectors == vectors[0]).all():
        warnings.warn(
            f"The {name} do not vary, so no component explains any variance, and their pcf is NaN.", stacklevel=3
        )
        values = [float("nan")] * len(pcf_variance)
    else:
        values = pcf(vectors, shares_of(pcf_variance, "pcf_variance")).tolist()
    return {"pcf": dict(zip(pcf_variance, map(torch.tensor, values), strict=True))}
