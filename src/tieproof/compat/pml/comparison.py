"""Relevant pairs by a function that compares labels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tieproof.compat.extras import need
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array
from tieproof.ties import Array, IntArray


def compared(
    labels: Array,
    gallery_labels: Array,
    comparison: Callable[[Any, Any], Any],
    with_itself: bool,
) -> tuple[IntArray, IntArray]:
    """The relevant (query, item) pairs, (p, 2), and the index of each query's label among the distinct labels.

    labels, gallery_labels : (q, …) and (n, …) numbers
    comparison : takes a label (1, …) and the gallery's labels (n, …), both torch tensors, and returns n bools
    with_itself : whether the first q gallery items are the queries, which are not relevant to themselves
    """
    torch = need("torch", "label_comparison_fn", "torch")
    distinct, number = np.unique(labels, axis=0, return_inverse=True)
    others = torch.as_tensor(gallery_labels).float()
    pairs = []
    for place, label in enumerate(distinct):
        same = as_array(comparison(torch.as_tensor(label[None]).float(), others), "result of label_comparison_fn")
        if same.shape != (len(gallery_labels),):
            raise InputError(
                f"label_comparison_fn returned shape {same.shape} for a label of shape {label[None].shape} and "
                f"labels of shape {gallery_labels.shape}. It must return one bool for each of the labels."
            )
        query, item = np.flatnonzero(number.ravel() == place), np.flatnonzero(same)
        pairs.append(np.column_stack([np.repeat(query, len(item)), np.tile(item, len(query))]))
    found = np.concatenate(pairs)
    return found[found[:, 0] != found[:, 1]] if with_itself else found, number.ravel()
