"""Sparse rows in the forms in which they arrive, checked and converted; and the dimensions that two sides share."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import LARGEST, as_numbers, is_tensor, sparse_form
from tieproof.inputs.sparse_rows import AT_ONCE, SparseRows
from tieproof.native.threads import cut
from tieproof.ties import Array, IntArray, SmallIntArray

MOST_TERMS = 2**31 - 1  # the most dimensions of sparse rows, whose numbers take 32 bits


def is_sparse(values: Any) -> bool:
    """Whether these are sparse rows: of SciPy, of torch, or a list of dictionaries {term: weight}."""
    return sparse_form(values) != "" and (hasattr(values, "tocsr") or not hasattr(values, "toarray"))


def as_sparse(values: Any, name: str) -> SparseRows:
    """Check and convert sparse rows."""
    if isinstance(values, SparseRows):
        return values
    if isinstance(values, list | tuple | np.ndarray):
        return _from_dictionaries(values, name)
    if len(values.shape) != 2 or (is_tensor(values) and (values.dense_dim() or "_bs" in str(values.layout))):
        raise InputError(
            f"The {name} must be a matrix of single entries, without blocks and dense dimensions, not "
            f"{sparse_form(values)} of the shape {tuple(values.shape)}. Pass a row for each item."
        )
    if is_tensor(values):
        return _from_torch(values, name)
    rows = values.tocsr()
    added = getattr(values, "format", "") == "coo" and values.nnz != rows.nnz
    return of_parts(rows.indptr, rows.indices, rows.data, rows.shape, name, repeated=added)


def _from_torch(values: Any, name: str) -> SparseRows:
    values = values.detach().cpu()
    if values.dtype.is_floating_point and values.dtype.itemsize == 2:
        values = values.float()
    joined = values.coalesce() if "coo" in str(values.layout) else values
    repeated = joined is not values and joined.values().numel() != values._nnz()
    rows = joined.to_sparse_csr()
    parts = (rows.crow_indices().numpy(), rows.col_indices().numpy(), rows.values().numpy())
    return of_parts(*parts, tuple(rows.shape), name, repeated)


def _from_dictionaries(values: Any, name: str) -> SparseRows:
    starts = np.cumsum([0, *map(len, values)])
    vocabulary = ordered({term for row in values for term in row}, name)
    place = {term: at for at, term in enumerate(vocabulary)}
    numbers = [place[term] for row in values for term in row]
    weights = [weight for row in values for weight in row.values()]
    data = as_numbers(weights, "weights") if weights else np.zeros(0)
    if data.ndim > 1:
        raise InputError(f"The {name} must have one number for each term. Pass dictionaries {{term: weight}}.")
    rows = of_parts(starts, np.array(numbers, dtype=np.int64), data, (len(values), max(1, len(vocabulary))), name)
    rows.vocabulary = vocabulary
    return rows


def ordered(terms: set[Any], name: str) -> list[Any]:
    """Return the terms of dictionaries in ascending order; all must be strings, or all integers."""
    strings = sum(isinstance(term, str) for term in terms)
    integers = sum(isinstance(term, int | np.integer) and not isinstance(term, bool) for term in terms)
    if len(terms) not in (strings, integers):
        raise InputError(
            f"The {name} must have terms that are all strings or all integers, on both sides. Convert the others."
        )
    return sorted(terms)


def of_parts(
    starts: Any, terms: Any, data: Any, shape: Any, name: str, repeated: bool = False, before: int = 0
) -> SparseRows:
    """Return rows with ascending terms and without zeros; refuse what is not finite, repeated, or not exact.

    repeated : whether some terms are known to have been repeated
    before : how many rows of the same file are before these
    """
    if data.dtype.kind not in "fiub" or data.dtype.itemsize > 8:
        raise InputError(
            f"The {name} must have weights that are floats, integers or bools of at most 64 bits, not {data.dtype}. "
            "Convert them first."
        )
    if not shape[0] or not 0 < shape[1] <= MOST_TERMS:
        raise InputError(
            f"The {name} must have at least one row, and from 1 to 2**31 - 1 dimensions, not the shape {shape}."
        )
    starts, terms = np.asarray(starts, dtype=np.int64), np.asarray(terms)
    if (
        len(starts) != shape[0] + 1
        or starts[0] != 0
        or (np.diff(starts) < 0).any()
        or starts[-1] > min(len(terms), len(data))
    ):
        raise InputError(
            f"The {name} must not be damaged, but where rows start, terms and weights contradict each other. Make "
            "them again."
        )
    terms, data = terms[: starts[-1]], data[: starts[-1]]
    inside, finite, ascending, nonzero = _look_at(starts, terms, data, shape[1])
    if not inside:
        raise InputError(f"The {name} must have no entry outside of {shape[1]} dimensions. Correct the indices.")
    if not finite:
        bad = int(np.argmin(np.isfinite(data)))
        raise InputError(
            f"The {name} must contain only finite numbers, but row "
            f"{before + np.searchsorted(starts, bad, side='right') - 1} contains {data[bad]}. Find "
            "out why the model returned it, and leave the row out or repair it."
        )
    if not ascending:
        terms, data = terms.copy(), data.copy()
        for rows in cut(np.diff(starts), AT_ONCE):
            some = slice(starts[rows.start], starts[rows.stop])
            row = np.repeat(np.arange(rows.start, rows.stop), np.diff(starts[rows.start : rows.stop + 1]))
            order = np.lexsort((terms[some], row))
            terms[some], data[some] = terms[some][order], data[some][order]
        repeated = repeated or not _look_at(starts, terms, data, shape[1])[2]
    if repeated:
        raise InputError(
            f"The {name} must not have two entries of one dimension in a row, whose sum a float would round. Add "
            "them up first, as .sum_duplicates() and .coalesce() do."
        )
    small = data.dtype.itemsize < 4 or data.dtype == np.float32
    if data.dtype.kind in "iu" and max(-int(data.min(initial=0)), int(data.max(initial=0))) > LARGEST:
        raise InputError(
            f"The {name} must have no integers beyond 2**53, which sparse rows cannot have. Divide all of them."
        )
    data = np.ascontiguousarray(data, dtype=np.float32 if small else np.float64)
    if not nonzero:
        kept = data != 0
        starts = starts - np.searchsorted(np.flatnonzero(~kept), starts)
        terms, data = terms[kept], data[kept]
    return SparseRows(starts, np.ascontiguousarray(terms, dtype=np.int32), data, int(shape[1]))


def _look_at(starts: IntArray, terms: Array, data: Array, width: int) -> tuple[bool, bool, bool, bool]:
    """Whether terms are dimensions, weights are finite, terms ascend in each row, and no weight is 0."""
    inside, finite, nonzero, falls = True, True, True, 0
    for at in range(0, len(terms), AT_ONCE):
        own, weights, later = terms[at : at + AT_ONCE], data[at : at + AT_ONCE], terms[at + 1 : at + 1 + AT_ONCE]
        inside = inside and bool(own.min() >= 0 and own.max() < width)
        finite = finite and bool(np.isfinite(weights).all())
        nonzero = nonzero and bool((weights != 0).all())
        falls += int(np.count_nonzero(later <= own[: len(later)]))
    first = np.unique(starts[(starts > 0) & (starts < len(terms))])
    return inside, finite, falls == int(np.count_nonzero(terms[first] <= terms[first - 1])), nonzero


def alignments(given: list[Any]) -> list[Callable[[SparseRows], SparseRows]]:
    """For each side, the function that gives its rows the dimensions and the type of both; none if no side is sparse.

    Integers are the dimensions of their terms, unless one takes more than 32 bits; the places of strings in
    alphabetical order are. So neither the order of rows nor the form in which they come is seen in them.
    """
    if not any(getattr(rows, "longest", 0) for rows in given):
        return []
    if not all(getattr(rows, "longest", 0) for rows in given):
        raise InputError(
            "The queries and the gallery must both be sparse, or both be dense. Convert the dense side by "
            "scipy.sparse.csr_array(rows).",
            ("embeddings", "gallery"),
        )
    if len({rows.vocabulary is None for rows in given}) > 1:
        raise InputError(
            "Only one side is dictionaries, whose terms do not say which columns of the other side are theirs. Pass "
            "both sides as dictionaries, or both as matrices with the same columns.",
            ("embeddings", "gallery"),
        )
    longest, kind = max(rows.longest for rows in given), np.result_type(*(rows.dtype for rows in given))
    if given[0].vocabulary is None:
        width = max(rows.shape[1] for rows in given)
        return [partial(_aligned, kind, width, longest, None)] * len(given)
    terms = ordered(set().union(*(rows.vocabulary for rows in given)), "embeddings")
    numbers: Sequence[int] = range(len(terms))
    if terms and not isinstance(terms[0], str) and terms[0] >= 0 and terms[-1] < MOST_TERMS:
        numbers = [int(term) for term in terms]
    place, width = dict(zip(terms, numbers, strict=True)), max(numbers, default=0) + 1
    return [partial(_aligned, kind, width, longest, _numbers_of(rows.vocabulary, place)) for rows in given]


def _numbers_of(vocabulary: list[Any], place: dict[Any, int]) -> SmallIntArray:
    return np.array([place[term] for term in vocabulary], dtype=np.int32)


def _aligned(kind: Any, width: int, longest: int, numbers: SmallIntArray | None, rows: SparseRows) -> SparseRows:
    terms = rows.terms if numbers is None else numbers[rows.terms]
    return SparseRows(rows.starts, terms, rows.values.astype(kind, copy=False), width, longest)


def among_terms(rows: SparseRows, vocabulary: list[Any] | None) -> SparseRows:
    """Return rows of one file of several with the dimensions of all files, whose terms these are."""
    if vocabulary is None or rows.vocabulary is None:
        return rows
    numbers = _numbers_of(rows.vocabulary, {term: at for at, term in enumerate(vocabulary)})
    return SparseRows(rows.starts, numbers[rows.terms], rows.values, len(vocabulary), rows.longest, vocabulary)
