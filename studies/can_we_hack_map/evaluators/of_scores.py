"""Evaluators of scores."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def torchmetrics_map(scores: Array, relevance: Array) -> float:
    """RetrievalMAP, updated once with every pair."""
    import torch
    from torchmetrics.retrieval import RetrievalMAP

    metric = RetrievalMAP()
    queries = torch.arange(len(scores))[:, None].expand(-1, scores.shape[1])
    metric.update(torch.from_numpy(scores).flatten(), torch.from_numpy(relevance).flatten(), queries.flatten())
    return float(metric.compute())


def sklearn_average_precision(scores: Array, relevance: Array) -> float:
    """average_precision_score over samples."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(relevance, scores, average="samples"))


def sklearn_lrap(scores: Array, relevance: Array) -> float:
    """label_ranking_average_precision_score."""
    from sklearn.metrics import label_ranking_average_precision_score

    return float(label_ranking_average_precision_score(relevance, scores))


def sklearn_roc_auc(scores: Array, relevance: Array) -> float:
    """roc_auc_score over samples."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(relevance, scores, average="samples"))


def sklearn_ranking_loss(scores: Array, relevance: Array) -> float:
    """1 - label_ranking_loss, so that larger is better."""
    from sklearn.metrics import label_ranking_loss

    return 1 - float(label_ranking_loss(relevance, scores))


def sklearn_ndcg(scores: Array, relevance: Array) -> float:
    """ndcg_score, which averages over ties."""
    from sklearn.metrics import ndcg_score

    return float(ndcg_score(relevance, scores))


def sklearn_ndcg_ignoring_ties(scores: Array, relevance: Array) -> float:
    """ndcg_score with ignore_ties=True."""
    from sklearn.metrics import ndcg_score

    return float(ndcg_score(relevance, scores, ignore_ties=True))


def sklearn_top_k_accuracy(scores: Array, query_labels: Array, gallery_labels: Array) -> dict[str, float]:
    """top_k_accuracy_score of the nearest neighbor: the score of a class is that of its best item."""
    from sklearn.metrics import top_k_accuracy_score

    classes = np.unique(gallery_labels)
    best = np.stack([scores[:, gallery_labels == label].max(axis=1) for label in classes], axis=1)
    return {f"k={k}": float(top_k_accuracy_score(query_labels, best, k=k, labels=classes)) for k in (1, 2)}


def trm_expected(scores: Array, relevance: Array) -> float:
    """The expected average precision of tie-aware-retrieval-metrics."""
    return float(trm(scores, relevance).expected)


def trm_oblivious(scores: Array, relevance: Array) -> float:
    """What the same library calls oblivious of ties: by the order of the list."""
    return float(trm(scores, relevance).oblivious)


def trm(scores: Array, relevance: Array) -> Any:
    """The average precision of tie-aware-retrieval-metrics, to the end of the list."""
    import trm as library

    depth = scores.shape[1]
    found = library.evaluate(scores.tolist(), (relevance > 0).tolist(), metrics=["map"], k_list=[depth])
    return found.metrics["map"][depth]
