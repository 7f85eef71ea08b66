"""The metrics of open-metric-learning itself, without the libraries that it imports but its metrics never call."""

import types
from importlib import import_module
from typing import Any

import pytest

from studies.can_we_hack_map.evaluators.placeholders import placeholders


def load() -> types.SimpleNamespace:
    """The functions and classes of open-metric-learning; skips the test where it is not installed."""
    pytest.importorskip("oml", reason="install it: pip install --no-deps open-metric-learning==4.0.0")
    with placeholders():
        functional = import_module("oml.functional.metrics")
        embeddings = import_module("oml.metrics.embeddings")
        retrieval = import_module("oml.retrieval.retrieval_results")
        datasets = import_module("oml.interfaces.datasets")
        interfaces = import_module("oml.interfaces.metrics")
    return types.SimpleNamespace(
        calc_retrieval_metrics=functional.calc_retrieval_metrics,
        calc_cmc=functional.calc_cmc,
        calc_precision=functional.calc_precision,
        calc_map=functional.calc_map,
        calc_fnmr_at_fmr=functional.calc_fnmr_at_fmr,
        calc_pcf=functional.calc_pcf,
        calc_topological_metrics=functional.calc_topological_metrics,
        calc_retrieval_metrics_rr=embeddings.calc_retrieval_metrics_rr,
        calc_fnmr_at_fmr_rr=embeddings.calc_fnmr_at_fmr_rr,
        EmbeddingMetrics=embeddings.EmbeddingMetrics,
        RetrievalResults=retrieval.RetrievalResults,
        IQueryGalleryLabeledDataset=datasets.IQueryGalleryLabeledDataset,
        IMetricVisualisable=interfaces.IMetricVisualisable,
    )


def load_callback() -> Any:
    """The callback of open-metric-learning for Lightning."""
    with placeholders():
        return import_module("oml.lightning.callbacks.metric").MetricValCallback
