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

from typing import TYPE_CHECKING

from tieproof import errors
from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.compat.oml.dataset import QueryGalleryLabeledDataset as QueryGalleryLabeledDataset
    from tieproof.compat.oml.embedding_metrics import EmbeddingMetrics as EmbeddingMetrics
    from tieproof.compat.oml.embedding_metrics import calc_pcf as calc_pcf
    from tieproof.compat.oml.embedding_metrics import calc_topological_metrics as calc_topological_metrics
    from tieproof.compat.oml.metrics import calc_cmc as calc_cmc
    from tieproof.compat.oml.metrics import calc_fnmr_at_fmr as calc_fnmr_at_fmr
    from tieproof.compat.oml.metrics import calc_fnmr_at_fmr_rr as calc_fnmr_at_fmr_rr
    from tieproof.compat.oml.metrics import calc_map as calc_map
    from tieproof.compat.oml.metrics import calc_precision as calc_precision
    from tieproof.compat.oml.metrics import calc_retrieval_metrics as calc_retrieval_metrics
    from tieproof.compat.oml.metrics import calc_retrieval_metrics_rr as calc_retrieval_metrics_rr
    from tieproof.compat.oml.retrieval_results import RetrievalResults as RetrievalResults
else:
    errors.import_extra("torch", "tieproof.compat.oml", "torch")
    __getattr__, __dir__ = exports(__name__)
