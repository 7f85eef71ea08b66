"""A small data set with the methods that `EmbeddingMetrics` and `RetrievalResults` need."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import LongTensor

from tieproof.compat.oml.split import SEQUENCE
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array, check_count
from tieproof.inputs.labels import as_labels

CATEGORY = "category"
"""The key of `extra_data` that names the category of each item."""

OVERALL = "OVERALL"
"""The name of the category that contains all items."""


class QueryGalleryLabeledDataset:
    """Labelled items, split into queries and a gallery, which may overlap.

    Parameters
    ----------
    labels : (n,) integers or strings
    is_query, is_gallery : (n,) bools; by default every item is both a query and in the gallery
    categories, sequences : (n,) integers or strings
        Metrics are also computed for each category. Items of a query's sequence are not ranked for it.
    images : n arrays (height, width) or (height, width, 3) to show
    texts : n strings to show if there are no images

    Notes
    -----
    Any other object can be used instead if it has `len()`, `get_labels()`, `get_query_ids()`, `get_gallery_ids()`,
    `extra_data` and, for pictures, `visualize(item, color)`, which returns an image or a text.

    Examples
    --------
    >>> dataset = QueryGalleryLabeledDataset([3, 3, 4], is_query=[True, False, False], texts=["a", "b", "c"])
    >>> len(dataset), dataset.get_query_ids(), dataset.get_gallery_ids(), dataset.visualize(2)
    (3, tensor([0]), tensor([0, 1, 2]), 'c')

    """

    def __init__(
        self,
        labels: Any,
        is_query: Any = None,
        is_gallery: Any = None,
        categories: Any = None,
        sequences: Any = None,
        images: Sequence[Any] | None = None,
        texts: Sequence[str] | None = None,
    ) -> None:
        count = len(labels)
        self._labels = as_labels(labels, count, "labels", "items", columns=False)
        self._query_ids = chosen(is_query, count, "is_query")
        self._gallery_ids = chosen(is_gallery, count, "is_gallery")
        named = {CATEGORY: categories, SEQUENCE: sequences}
        self.extra_data = {
            name: as_labels(values, count, f"values of {name}", "items", columns=False).tolist()
            for name, values in named.items()
            if values is not None
        }
        for values, name in ((images, "images"), (texts, "texts")):
            if values is not None:
                check_count(len(values), name, count, "items")
        self._shown = images if images is not None else texts

    def __len__(self) -> int:
        """The number of items."""
        return len(self._labels)

    def get_labels(self) -> Any:
        """The labels, (n,)."""
        return self._labels

    def get_query_ids(self) -> LongTensor:
        """The ids of the queries."""
        return self._query_ids

    def get_gallery_ids(self) -> LongTensor:
        """The ids of the gallery items."""
        return self._gallery_ids

    def visualize(self, item: int, color: Any = None) -> Any:
        """The image or the text of an item, or its number if it has neither."""
        return str(item) if self._shown is None else self._shown[item]


def chosen(flags: Any, count: int, name: str) -> LongTensor:
    """The ids of the items whose flag is set; all ids without flags."""
    if flags is None:
        return torch.arange(count)
    array = as_array(flags, name)
    if array.shape != (count,) or not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} must be {count} bools, one for each item, but has shape {array.shape}.")
    return torch.from_numpy(np.flatnonzero(array))
