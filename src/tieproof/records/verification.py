"""`Verification`: whether a record and a new evaluation agree, bit by bit, and what differs if they do not."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tieproof.evaluation.evaluated import NOT_IN_RUN, NOTHING_RELEVANT, Evaluated, hash_of
from tieproof.evaluation.result import Result
from tieproof.show.parts import NARROWEST, WIDTH, paragraph
from tieproof.ties import Array, BoolArray, IntArray

SHOWN = 12
"""How many digits of a fingerprint are shown."""

VALUES = ("lower", "expected", "upper", "variance")
COUNTS = ("ties", "ambiguous ties", "size of the largest tie", "open ends")


@dataclass(frozen=True)
class Verification:
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

    def __bool__(self) -> bool:
        """Whether everything agrees."""
        return self.agrees

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain strings, lists and dictionaries."""
        return {**asdict(self), "differences": list(self.differences)}

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        import json

        return json.dumps(self.to_dict(), indent=indent)

    def __str__(self) -> str:
        """The sentences that the command line shows."""
        return render(self)


def compared(record: Result, again: Result, version: str, by_place: bool = False) -> Verification:
    """Compare a record with a new evaluation of the same call by this version of tieproof.

    by_place : whether relevant or excluded items were named by their indices, which change with the order of the data
    """
    old, new = record.evaluated, again.evaluated
    new = new._replace(origin=new.origin._replace(queries=new.query_digests()))
    place = matched(old, new)
    if place is not None:
        new = reordered(new, place, old.query_ids)
    if by_place:
        new = new._replace(origin=new.origin._replace(relevant=old.origin.relevant))
    found = [*about_all(old, new, moved=place is not None), *about_queries(old, new)]
    if {**record} != {**again} and not found:
        found.append("The means are not the same.")
    return Verification(
        agrees=not found,
        same_data=old.origin.fingerprint == new.origin.fingerprint,
        same_order=place is None,
        differences=tuple(found),
        record=old.origin.version or version,
        evaluated=version,
    )


def matched(old: Evaluated, new: Evaluated) -> IntArray | None:
    """The place now of each query of the record; None if the order is the same, or cannot be told.

    Queries are matched by their rows of the data. Queries with equal rows and equal labels may stand for each other.
    """
    before, now = old.query_digests(), new.origin.queries
    if before is None or now is None or old.origin.call == "evaluate_run" or len(before) != len(now):
        return None
    if same(old.query_ids, new.query_ids) and same(before, now):
        return None
    place = np.empty(len(now), dtype=np.int64)
    place[np.argsort(before)] = np.argsort(now)
    return place if same(before, now[place]) else None


def reordered(found: Evaluated, place: IntArray, names: Array) -> Evaluated:
    """The queries at these places, with other names."""
    origin, groups = found.origin, found.categories
    return found._replace(
        query_ids=names,
        origin=origin._replace(relevant=origin.relevant[place], queries=origin.queries[place]),
        per_query={measure: values[:, place] for measure, values in found.per_query.items()},
        tie_counts=found.tie_counts[:, place],
        categories=None if groups is None else replace(groups, of_query=groups.of_query[place]),
        confidence=None if found.confidence is None else found.confidence[place],
    )


def about_all(old: Evaluated, new: Evaluated, moved: bool) -> Iterator[str]:
    """The differences in everything but single queries: the data, the setting, and which queries are left out.

    moved : whether the queries had another order or other names, so that those left out can only be counted
    """
    if old.origin.fingerprint != new.origin.fingerprint:
        yield (
            f"The data differs: its fingerprint begins with {new.origin.fingerprint[:SHOWN]}, but the record's "
            f"fingerprint begins with {old.origin.fingerprint[:SHOWN]}."
        )
    elif isinstance(old.origin.relevant, str) and not has_relevance(old, new):
        yield "The hash of what is relevant to all queries differs."
    before, now = asdict(old.setting), asdict(new.setting)
    for name, value in before.items():
        if now[name] != value:
            yield f"The record has {name} = {value!r}, but now it is {now[name]!r}."
    if old.zero_vectors != new.zero_vectors:
        yield f"The record counts {old.zero_vectors} zero vectors, but now there are {new.zero_vectors}."
    for what, ids, found in left_out_of(old, new):
        if len(ids) != len(found) if moved else not same(np.sort(ids), np.sort(found)):
            yield f"The queries with {what} differ: {len(ids)} in the record, {len(found)} now."
    if (old.categories is None) != (new.categories is None):
        yield f"The record has {'' if new.categories is None else 'no '}categories, unlike the new evaluation."
    elif old.categories is not None and new.categories is not None:
        mine, yours = old.categories, new.categories
        left_out = (np.sort(each.names[each.of_empty]) for each in (mine, yours))
        if not (same(mine.names, yours.names) and same(mine.counted, yours.counted) and same(*left_out)):
            yield "The names of the categories, or those of the queries with no relevant item, differ."
    if (old.confidence is None) != (new.confidence is None):
        yield f"The record has {'' if new.confidence is None else 'no '}confidences, unlike the new evaluation."


def has_relevance(old: Evaluated, new: Evaluated) -> bool:
    """Whether the hash of a record is that of what is relevant now to its queries, in their order or that of ids."""
    known, relevant = old.origin.relevant, new.origin.relevant
    if isinstance(relevant, str) or len(relevant) != len(old.query_ids):
        return bool(known == relevant)
    return known in (hash_of(relevant), hash_of(relevant[np.argsort(old.query_ids, kind="stable")]))


def left_out_of(old: Evaluated, new: Evaluated) -> Iterator[tuple[str, Array, Array]]:
    """Each reason why queries are left out or special, with their ids in the record and now."""
    none = old.query_ids[:0]
    yield NOTHING_RELEVANT, old.empty_ids, new.empty_ids
    for reason in {**old.left_out, **new.left_out}:
        yield f"{reason}, left out,", old.left_out.get(reason, none), new.left_out.get(reason, none)
    absent = [none if found.not_in_run is None else found.not_in_run for found in (old, new)]
    yield NOT_IN_RUN, absent[0], absent[1]


def about_queries(old: Evaluated, new: Evaluated) -> Iterator[str]:
    """How many queries differ, and the first difference."""
    if not same(old.query_ids, new.query_ids):
        yield (
            f"The queries differ: {len(old.query_ids)} in the record and {len(new.query_ids)} now, "
            f"{len(np.intersect1d(old.query_ids, new.query_ids))} of them with the same name."
        )
        return
    for what, differs in unlike_parts(old, new):
        if differs.any():
            place = int(np.argmax(differs))
            query = old.query_ids[place].item()
            yield (
                f"{what} differ{'' if what in LABELS else 's'} for {int(differs.sum())} of {len(differs)} queries, "
                f"first for {query!r}{difference(old, new, what, place)}."
            )


def difference(old: Evaluated, new: Evaluated, what: str, place: int) -> str:
    """The first value of one query that differs, as the end of a sentence."""
    if what == COUNTED:
        rows = zip(COUNTS, old.tie_counts[:, place].tolist(), new.tie_counts[:, place].tolist(), strict=True)
    else:
        measures = {str(measure): measure for measure in old.per_query}
        if what not in measures:
            return ""
        values = (found.per_query[measures[what]][:, place].tolist() for found in (old, new))
        rows = zip(VALUES, *values, strict=True)
    name, before, now = next(row for row in rows if repr(row[1]) != repr(row[2]))
    return f": {name} {before!r} in the record, {now!r} now"


COUNTED = "The count of ties"
RELEVANT = "The set of relevant items"
ROW = "The digest of the row"
LABELS = ("Categories", "Confidences")


def unlike_parts(old: Evaluated, new: Evaluated) -> Iterator[tuple[str, BoolArray]]:
    """For each kind of value, its name and the mask (Q,) of the queries in which it differs."""
    for measure, values in old.per_query.items():
        yield str(measure), (bits(values) != bits(new.per_query[measure])).any(axis=0)
    yield COUNTED, (old.tie_counts != new.tie_counts).any(axis=0)
    if not isinstance(old.origin.relevant, str) and not isinstance(new.origin.relevant, str):
        yield RELEVANT, old.origin.relevant != new.origin.relevant
    before, now = old.query_digests(), new.origin.queries
    if before is not None and now is not None and old.origin.fingerprint == new.origin.fingerprint:
        yield ROW, before != now
    for what, before, now in zip(LABELS, labels_of(old), labels_of(new), strict=True):
        if before is not None and now is not None:
            yield what, np.asarray(before != now)


def labels_of(found: Evaluated) -> tuple[Array | None, Array | None]:
    """The category and the confidence of every query."""
    groups = found.categories
    return None if groups is None else groups.names[groups.of_query], found.confidence


def bits(values: Array) -> Array:
    """The bits of the values, with the same bits for every NaN."""
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)


def same(one: Array, other: Array) -> bool:
    """Whether the ids are the same, in the same order."""
    return one.shape == other.shape and bool((one == other).all())


AGREES = {True: "Every bit agrees.", False: "The record does not agree with what was evaluated."}


def render(found: Verification, width: int | None = None, color: bool = False) -> str:
    """The answer, then the differences.

    >>> render(Verification(True, True, True, (), "0.1.0", "0.1.0"))
    'Every bit agrees.'
    """
    return "\n".join(paragraph(sentence, max(width or WIDTH, NARROWEST)) for sentence in sentences(found))


def sentences(found: Verification) -> Iterator[str]:
    """The answer, how the queries were matched, the differences, and the versions."""
    yield AGREES[found.agrees]
    if not found.same_order:
        yield (
            "The queries are in another order or under other names in the record, where each has its own values. If "
            "the data was not reordered, the record was, so do not compare it with others query by query."
            if found.agrees
            else "The queries are in another order or under other names in the record; their rows match them."
        )
    yield from found.differences
    if found.differences and found.same_data:
        yield "The data is the same: the fingerprints agree."
    if found.record != found.evaluated:
        yield f"The record was written by tieproof {found.record}, but this is tieproof {found.evaluated}."
