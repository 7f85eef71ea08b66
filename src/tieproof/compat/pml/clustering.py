"""AMI and NMI: how well a k-means clustering of the queries matches their labels, by scikit-learn."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tieproof.compat.extras import need
from tieproof.inputs.arrays import Embeddings, as_array
from tieproof.ties import Array

CLUSTERING = {"AMI": "adjusted_mutual_info_score", "NMI": "normalized_mutual_info_score"}
"""The functions of scikit-learn by the metric's name in pytorch-metric-learning."""

STARTS = 10
"""How many times k-means is started; the best clustering is used."""

Clustering = Callable[[Any, int], Any]
"""A function that takes the queries and the number of clusters, and returns the cluster of each query."""


def clustering_scores(
    names: Sequence[str], queries: Embeddings, labels: Array, cluster: Clustering | None
) -> dict[str, float]:
    """The scores of one clustering with as many clusters as there are distinct labels (extra `sklearn`)."""
    metrics = need("sklearn.metrics", " and ".join(names), "sklearn")
    number = np.unique(labels, return_inverse=True)[1].ravel()
    found = as_array((cluster or k_means)(queries, int(number.max()) + 1), "clusters").ravel()
    return {name: float(getattr(metrics, CLUSTERING[name])(number, found)) for name in names}


def k_means(queries: Embeddings, count: int) -> Array:
    """The cluster of each query, with a fixed seed; queries are sorted first, so that their order does not matter."""
    sklearn = need("sklearn.cluster", "k-means", "sklearn")
    order = np.lexsort(queries.T[::-1])
    clusters = np.empty(len(queries), dtype=np.int64)
    clusters[order] = sklearn.KMeans(count, n_init=STARTS, random_state=0).fit_predict(queries[order])
    return clusters
