"""The metrics of open-metric-learning itself, without the libraries that it imports but its metrics never call.

It requires an old NumPy, and libraries for images and downloads. Its metrics need none of these, and run with a new
NumPy, too. It is therefore installed without its dependencies, which are replaced by placeholders for the import.
"""

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any
from unittest.mock import MagicMock

import pytest

NEVER_CALLED: tuple[str, ...] = (
    "albumentations",
    "bs4",
    "cv2",
    "gdown",
    "omegaconf",
    "requests",
    "torchvision",
    "validators",
    "oml.inference",
    "oml.lightning.pipelines",
    "oml.registry",
)


def never_called(module: str) -> bool:
    """Whether metrics never call a module."""
    return any(module == name or module.startswith(f"{name}.") for name in NEVER_CALLED)


class Placeholders(MetaPathFinder, Loader):
    """Finds a placeholder for each library that metrics never call, and for its modules."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if never_called(fullname) else None

    def create_module(self, spec: ModuleSpec) -> Any:
        return MagicMock(name=spec.name, __path__=[], __spec__=spec)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


@contextmanager
def placeholders() -> Iterator[None]:
    """Use placeholders, and remove them afterwards."""
    before = {name: module for name, module in sys.modules.items() if never_called(name)}
    for name in before:
        del sys.modules[name]
    finder = Placeholders()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in list(filter(never_called, sys.modules)):
            del sys.modules[name]
        sys.modules.update(before)


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
