"""What differs between a record and a new evaluation, in sentences, after the queries of both are matched."""

from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np

from tieproof.evaluation.evaluated import NOT_IN_RUN, NOTHING_RELEVANT, Evaluated, hash_of
from tieproof.ties import Array, BoolArray, IntArray

_DIGITS = 12
"""How many digits of a fingerprint are shown."""

_VALUES = ("lower", "expected", "upper", "variance")
_COUNTS = ("ties", "ambiguous ties", "size of the largest tie", "open ends")
_COUNT_OF_TIES = "The count of ties"
_LABELS = ("Categories", "Confidences")


def order_of_record(old: Evaluated, new: Evaluated) -> IntArray | None:
    """The index now of each query of the record; None if the order is the same, or cannot be told.

    Queries are matched by their rows of the data. Queries with equal rows and equal labels may stand for each other.
    """
    before, now = old.query_digests(), new.origin.queries
    if old.origin.call == "evaluate_run" or len(before) != len(now):
        return None
    if _same(old.query_ids, new.query_ids) and _same(before, now):
        return None
    order = np.empty(len(now), dtype=np.int64)
    order[np.argsort(before)] = np.argsort(now)
    return order if _same(before, now[order]) else None


def reordered(new: Evaluated, order: IntArray, names: Array) -> Evaluated:
    """The queries in another order and under other names."""
    origin, categories = new.origin, new.categories
    return new._replace(
        query_ids=names,
        origin=origin._replace(relevant=origin.relevant[order], queries=origin.queries[order]),
        per_query={measure: values[:, order] for measure, values in new.per_query.items()},
        tie_counts=new.tie_counts[:, order],
        categories=None if categories is None else replace(categories, of_query=categories.of_query[order]),
        confidence=None if new.confidence is None else new.confidence[order],
    )


def found_differences(old: Evaluated, new: Evaluated, moved: bool) -> Iterator[str]:
    """All differences: in the data, the setting and which queries are left out, and then of single queries.

    moved : whether the queries had another order or other names, so that those left out can only be counted
    """
    if old.origin.fingerprint != new.origin.fingerprint:
        yield (
            f"The data differs: its fingerprint begins with {new.origin.fingerprint[:_DIGITS]}, but the record's "
            f"fingerprint begins with {old.origin.fingerprint[:_DIGITS]}."
        )
    elif isinstance(old.origin.relevant, str) and not _has_relevance(old, new):
        yield "The hash of what is relevant to all queries differs."
    setting_now = asdict(new.setting)
    for name, value in asdict(old.setting).items():
        if setting_now[name] != value:
            yield f"The record has {name} = {value!r}, but now it is {setting_now[name]!r}."
    if old.zero_vectors != new.zero_vectors:
        yield f"The record counts {old.zero_vectors} zero vectors, but now there are {new.zero_vectors}."
    none = old.query_ids[:0]
    left_out = {
        f"{reason}, left out,": (old.left_out.get(reason, none), new.left_out.get(reason, none))
        for reason in {**old.left_out, **new.left_out}
    }
    absent = [none if each.not_in_run is None else each.not_in_run for each in (old, new)]
    reasons = {NOTHING_RELEVANT: (old.empty_ids, new.empty_ids), **left_out, NOT_IN_RUN: absent}
    for what, (before, now) in reasons.items():
        if len(before) != len(now) if moved else not _same(np.sort(before), np.sort(now)):
            yield f"The queries with {what} differ: {len(before)} in the record, {len(now)} now."
    if (old.categories is None) != (new.categories is None):
        yield f"The record has {'' if new.categories is None else 'no '}categories, unlike the new evaluation."
    elif old.categories is not None and new.categories is not None:
        mine, yours = old.categories, new.categories
        of_empty = (np.sort(each.names[each.of_empty]) for each in (mine, yours))
        if not (_same(mine.names, yours.names) and _same(mine.counted, yours.counted) and _same(*of_empty)):
            yield "The names of the categories, or those of the queries with no relevant item, differ."
    if (old.confidence is None) != (new.confidence is None):
        yield f"The record has {'' if new.confidence is None else 'no '}confidences, unlike the new evaluation."
    yield from _about_queries(old, new)


def _has_relevance(old: Evaluated, new: Evaluated) -> bool:
    """Whether the hash of a record is that of what is relevant now to its queries, in their order or that of ids."""
    known, relevant = old.origin.relevant, new.origin.relevant
    if isinstance(relevant, str) or len(relevant) != len(old.query_ids):
        return bool(known == relevant)
    return known in (hash_of(relevant), hash_of(relevant[np.argsort(old.query_ids, kind="stable")]))


def _about_queries(old: Evaluated, new: Evaluated) -> Iterator[str]:
    """How many queries differ, and the first difference."""
    if not _same(old.query_ids, new.query_ids):
        yield (
            f"The queries differ: {len(old.query_ids)} in the record and {len(new.query_ids)} now, "
            f"{len(np.intersect1d(old.query_ids, new.query_ids))} of them with the same name."
        )
        return
    for what, differs in _unlike_parts(old, new):
        if differs.any():
            first = int(np.argmax(differs))
            yield (
                f"{what} differ{'' if what in _LABELS else 's'} for {int(differs.sum())} of {len(differs)} queries, "
                f"first for {old.query_ids[first].item()!r}{_difference(old, new, what, first)}."
            )


def _unlike_parts(old: Evaluated, new: Evaluated) -> Iterator[tuple[str, BoolArray]]:
    """For each kind of value, its name and the mask (Q,) of the queries in which it differs."""
    for measure, values in old.per_query.items():
        yield str(measure), (_bits(values) != _bits(new.per_query[measure])).any(axis=0)
    yield _COUNT_OF_TIES, (old.tie_counts != new.tie_counts).any(axis=0)
    if not isinstance(old.origin.relevant, str) and not isinstance(new.origin.relevant, str):
        yield "The set of relevant items", old.origin.relevant != new.origin.relevant
    if old.origin.fingerprint == new.origin.fingerprint:
        yield "The digest of the row", old.query_digests() != new.origin.queries
    labels = (
        (None if each.categories is None else each.categories.names[each.categories.of_query], each.confidence)
        for each in (old, new)
    )
    for what, before, now in zip(_LABELS, *labels, strict=True):
        if before is not None and now is not None:
            yield what, np.asarray(before != now)


def _difference(old: Evaluated, new: Evaluated, what: str, query: int) -> str:
    """The first value of one query that differs, as the end of a sentence."""
    if what == _COUNT_OF_TIES:
        rows = zip(_COUNTS, old.tie_counts[:, query].tolist(), new.tie_counts[:, query].tolist(), strict=True)
    else:
        measures = {str(measure): measure for measure in old.per_query}
        if what not in measures:
            return ""
        values = (each.per_query[measures[what]][:, query].tolist() for each in (old, new))
        rows = zip(_VALUES, *values, strict=True)
    name, before, now = next(row for row in rows if repr(row[1]) != repr(row[2]))
    return f": {name} {before!r} in the record, {now!r} now"


def _bits(values: Array) -> Array:
    """The bits of the values, with the same bits for every NaN."""
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)


def _same(one: Array, other: Array) -> bool:
    """Whether the ids are the same, in the same order."""
    return one.shape == other.shape and bool((one == other).all())
