"""`verify`: the evaluation of a record is repeated with the same data, and compared bit by bit.

record ──► its call, options and measures ──► the call again, with the data that was passed
       ──► queries of both matched by their rows of the data ──► differences in sentences ──► Verification
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.evaluation.evaluated import NOT_IN_RUN, NOTHING_RELEVANT, Evaluated, function_of, hash_of
from tieproof.evaluation.records.record import load
from tieproof.evaluation.result import Result
from tieproof.installed import __version__
from tieproof.show.shown import Verified
from tieproof.ties import Array, BoolArray, IntArray

_DATA = (
    *("gallery", "gallery_labels", "relevance", "groups", "gallery_groups", "exclude", "categories", "confidence"),
    *("labels", "scores", "counts", "n_relevant", "n_items", "complete", "distance", "memory", "threads", "progress"),
    "documents",
)
"""The arguments of all calls that evaluate that are no settings of a record: data, memory, threads and progress."""

_SETTINGS = ("empty", "average", "precision", "distance")  # the settings of a record that calls take
_DIGITS = 12  # how many digits of a fingerprint are shown
_VALUES = ("lower", "expected", "upper", "variance")
_COUNTS = ("ties", "ambiguous ties", "size of the largest tie", "open ends")
_COUNT_OF_TIES = "The count of ties"
_LABELS = ("Categories", "Confidences")


@dataclass(frozen=True)
class Verification(Verified):
    """The findings of `tp.verify`.

    agrees : every bit of the values of the record's queries and of its means was found again
    same_data : the fingerprints are equal; if they are not, the data differs, even if all values agree
    same_order : the queries have the record's order and names; if they have not, they are matched by their rows of
        the data. Then the record or the data was reordered, or the queries have names that the data does not have
    differences : what differs, in whole sentences; empty if everything agrees
    record, evaluated : the versions of tieproof of the recorded and of the new evaluation
    """

    agrees: bool
    same_data: bool
    same_order: bool
    differences: tuple[str, ...]
    record: str
    evaluated: str

    def _sentences(self) -> Iterator[str]:
        yield "Every bit agrees." if self.agrees else "The record does not agree with what was evaluated."
        if not self.same_order:
            yield (
                "The queries are in another order or under other names in the record, where each has its own values. "
                "If the data was not reordered, the record was, so do not compare it with others query by query."
                if self.agrees
                else "The queries are in another order or under other names in the record; their rows match them."
            )
        yield from self.differences
        if self.differences and self.same_data:
            yield "The data is the same: the fingerprints agree."
        if self.record != self.evaluated:
            yield f"The record was written by tieproof {self.record}, but this is tieproof {self.evaluated}."


def verify(record: Any, *data: Any, **more: Any) -> Verification:
    """Repeat the evaluation of a record, and compare every bit.

    The distance, the measures and all policies are those of the record; pass the data as it was passed to the
    function that made the result. If the items are given in another order, or with other numbers, each query is
    compared with the query that has its row of the data.

    Parameters
    ----------
    record : the path of a record, or a Result
    *data :
        The first arguments of the function: embeddings and labels; scores, or distances, and relevance; ids and
        distances; qrels and a run.
    **more :
        Its arguments by name: `gallery`, `gallery_labels`, `relevance`, `labels`, `groups`, `gallery_groups`,
        `exclude`, `categories`, `confidence`; for lists `n_relevant`, `n_items`, `complete`; for neighbors also
        `scores` and `counts`; for embeddings also `memory`, `threads` and `progress`. Pass `distance` only if it is
        a function, of which a record only stores the name.

    Returns
    -------
    Verification
        `agrees` is True if every bit agrees; `differences` describes all differences in sentences.

    Raises
    ------
    InputError
        If the file is not a record, if an argument is a setting of the record, or if the evaluation refuses the data.

    Examples
    --------
    >>> import tieproof as tp
    >>> embeddings, labels = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]], ["a", "a", "b"]
    >>> result = tp.evaluate(embeddings, labels, measures=["AP"])
    >>> print(tp.verify(result, embeddings, labels))
    Every bit agrees.
    >>> tp.verify(result, embeddings, ["a", "b", "a"]).agrees
    False

    """
    return _verified(record if isinstance(record, Result) else load(record), data, more)[0]


def verified_by_name(result: Result, data: Mapping[str, Any]) -> tuple[Verification, Result]:
    """Return the verification of a result, and the result of its data, which is passed by names of arguments."""
    parameters = signature(function_of(result.evaluated.origin.call)).parameters.values()
    first = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD and each.name in data]
    more = {name: value for name, value in data.items() if name not in first}
    return _verified(result, [data[name] for name in first], more)


def _verified(result: Result, data: Sequence[Any], more: Mapping[str, Any]) -> tuple[Verification, Result]:
    origin = result.evaluated.origin
    call = function_of(origin.call)
    _, *further = signature(call).parameters
    known = [name for name in _DATA if name in further and name not in origin.options]
    if not origin.fingerprint:
        raise InputError(
            "The result of one category cannot be verified alone. Pass the whole result, which contains its "
            "categories."
        )
    if not 1 <= len(data) <= 2:
        raise InputError(
            f"This is a record of {origin.call}, which needs one or two arguments, not {len(data)}. Pass its "
            f"data as to that function, and {', '.join(known)} by name."
        )
    for name in more:
        if name not in known:
            raise InputError(
                f"{name} is not an argument for the verification of a record of {origin.call}; settings are "
                f"read from the record. Known: {', '.join(known)}."
            )
    again = call(*data, **_options_of(result.evaluated, further, more), **more)
    # Relevant or excluded items that are named by their indices have other names if the data has another order.
    by_index = more.get("relevance") is not None or more.get("exclude") is not None
    return _compared(result, again, by_index), again


def _options_of(recorded: Evaluated, takes: Collection[str], more: Mapping[str, Any]) -> dict[str, Any]:
    setting = recorded.setting
    options = {**recorded.origin.options, "measures": [*map(str, recorded.per_query)]}
    options |= {name: getattr(setting, name) for name in _SETTINGS if name in takes}
    if recorded.categories is not None and "categories" not in more and setting.average == "micro":
        raise InputError("This record has categories of its queries. Pass the same categories again, as categories=.")
    if recorded.confidence is not None and "confidence" not in more:
        raise InputError("This record has confidences of its queries. Pass the same confidences again: confidence=.")
    if "distance" not in options:
        return options
    if setting.distance.startswith("function "):
        if not callable(more.get("distance")):
            raise InputError(
                f"This record uses the {setting.distance}, of which it stores only the name. Pass it as distance=."
            )
        del options["distance"]
    elif "distance" in more:
        raise InputError(f"The distance of this record is {setting.distance}. Leave distance out.")
    return options


def _compared(record: Result, again: Result, by_index: bool) -> Verification:
    old, new = record.evaluated, again.evaluated
    new = new._replace(origin=new.origin._replace(queries=new.query_digests()))
    order = order_of_record(old, new)
    if order is not None:
        new = reordered(new, order, old.query_ids)
    if by_index:
        new = new._replace(origin=new.origin._replace(relevant=old.origin.relevant))
    differences = [*found_differences(old, new, moved=order is not None)]
    if {**record} != {**again} and not differences:
        differences.append("The means are not the same.")
    return Verification(
        agrees=not differences,
        same_data=old.origin.fingerprint == new.origin.fingerprint,
        same_order=order is None,
        differences=tuple(differences),
        record=old.origin.version or __version__,
        evaluated=__version__,
    )


def order_of_record(old: Evaluated, new: Evaluated) -> IntArray | None:
    """The index now of each query of the record; None if the order is the same, or cannot be told."""
    before, now = old.query_digests(), new.origin.queries
    if old.origin.call == "evaluate_run" or len(before) != len(now):
        return None
    if np.array_equal(old.query_ids, new.query_ids) and np.array_equal(before, now):
        return None
    order = np.empty(len(now), dtype=np.int64)
    order[np.argsort(before)] = np.argsort(now)  # queries with equal rows and labels may stand for each other
    return order if np.array_equal(before, now[order]) else None


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
    """All differences; if queries `moved` to another order or to other names, those left out are only counted."""
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
        if len(before) != len(now) if moved else not np.array_equal(np.sort(before), np.sort(now)):
            yield f"The queries with {what} differ: {len(before)} in the record, {len(now)} now."
    if (old.categories is None) != (new.categories is None):
        yield f"The record has {'' if new.categories is None else 'no '}categories, unlike the new evaluation."
    elif old.categories is not None and new.categories is not None:
        mine, yours = old.categories, new.categories
        parts = ((each.names, each.counted, np.sort(each.names[each.of_empty])) for each in (mine, yours))
        if not all(map(np.array_equal, *parts)):
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
    if not np.array_equal(old.query_ids, new.query_ids):
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
