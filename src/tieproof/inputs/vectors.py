"""Embeddings in a data frame: a column of vectors, or columns of numbers beside columns of text."""

from typing import Any

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.inputs.frames import as_frame, column_called
from tieproof.inputs.readers.columns import NAMES, SURE, listing
from tieproof.ties import Array

LOOKED_AT = 100  # the cells that tell what a column has: the first ones may be missing


def vectors_of(values: Any, name: str) -> Any:
    """Return the vectors of a frame; anything else, and a frame of numbers alone, unchanged.

    A column of vectors is the embedding, whatever else the frame has; of several, the one that has a usual name.
    Without one, columns of text and columns with the names of labels, confidences and ids are left out if there is
    any text, and the others are dimensions.
    """
    if type(values).__name__ == "LazyFrame" or not hasattr(values, "columns"):
        return values
    frame = as_frame(values)
    names = list(frame.columns)
    if len(set(names)) < len(names):
        return values
    columns = {each: column_called(frame, each, f"The {name}") for each in names}
    vectors = [each for each, column in columns.items() if _has(column, (list, tuple, np.ndarray))]
    if vectors:
        usual = [each for known in NAMES["embeddings"] for each in vectors if str(each).lower() == known]
        if len(vectors) > 1 and not usual:
            raise InputError(
                f"The {name} are a frame with several columns of vectors, {listing(list(map(str, vectors)))}. Pass "
                f"one of them, as a list of its vectors: frame[{vectors[0]!r}].to_list().",
                name,
            )
        return columns[(usual or vectors)[0]].tolist()
    texts = [each for each, column in columns.items() if _has(column, str)]
    left_out = [each for each in names if each in texts or str(each).lower() in SURE]
    taken = [each for each in names if each not in left_out]
    if not texts or not taken:
        return values
    warn(
        f"The {name} are a frame with text, so that {listing(list(map(str, left_out)))} "
        f"{'is' if len(left_out) == 1 else 'are'} left out, and the dimensions are {listing(list(map(str, taken)))}. "
        "To choose them yourself, pass only columns of numbers."
    )
    return values.select(taken) if hasattr(values, "select") else values[taken]


def _has(column: Array, kind: Any) -> bool:
    """Whether one of the first cells of a column is of this kind; the rows of a column with two axes are arrays."""
    return any(isinstance(cell, kind) for cell in column[:LOOKED_AT])
