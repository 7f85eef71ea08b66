"""The metrics of open-metric-learning under their own names, with intervals where distances are tied (extra `torch`).

>>> from tieproof.compat.oml import EmbeddingMetrics, QueryGalleryLabeledDataset
>>> import torch
>>> dataset = QueryGalleryLabeledDataset(labels=[0, 0, 1, 1])
>>> metrics = EmbeddingMetrics(dataset, cmc_top_k=(1,), precision_top_k=(), map_top_k=(), verbose=False)
>>> metrics.setup()
>>> metrics.update(torch.tensor([[0.0], [1.0], [2.0], [3.0]]), indices=[0, 1, 2, 3])
>>> metrics.compute_metrics()
{'OVERALL': {'cmc': {1: tensor(0.5000)}, 'pcf': {0.5: tensor(1.)}}}
"""

from importlib.util import find_spec

from tieproof import errors

if find_spec("torch") is None:
    raise errors.MissingExtraError("tieproof.compat.oml", "torch")

from tieproof.compat.oml.dataset import QueryGalleryLabeledDataset
from tieproof.compat.oml.embedding_metrics import EmbeddingMetrics, calc_pcf, calc_topological_metrics
from tieproof.compat.oml.metrics import (
    calc_cmc,
    calc_fnmr_at_fmr,
    calc_fnmr_at_fmr_rr,
    calc_map,
    calc_precision,
    calc_retrieval_metrics,
    calc_retrieval_metrics_rr,
)
from tieproof.compat.oml.retrieval_results import RetrievalResults

__all__ = [
    "EmbeddingMetrics",
    "QueryGalleryLabeledDataset",
    "RetrievalResults",
    "calc_cmc",
    "calc_fnmr_at_fmr",
    "calc_fnmr_at_fmr_rr",
    "calc_map",
    "calc_pcf",
    "calc_precision",
    "calc_retrieval_metrics",
    "calc_retrieval_metrics_rr",
    "calc_topological_metrics",
]
