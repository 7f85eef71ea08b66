"""`Verification`: whether a record and a new evaluation agree, bit by bit, and what differs if they do not."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tieproof.results.evaluated import NOT_IN_RUN, NOTHING_RELEVANT, Evaluated
from tieproof.results.results import Result
from tieproof.ties import Array, BoolArray

SHOWN = 12
"""How many digits of a fingerprint are shown."""

VALUES = ("lower", "expected", "upper", "variance")
COUNTS = ("ties", "ambiguous ties", "size of the largest tie", "open ends")


@dataclass(frozen=True)
class Verification:
    """The findings of `tp.verify`.

    agrees : every bit of the values of the record's queries and of its means was found again
    same_data : the fingerprints are equal; if they are not, the data differs, even if all values agree
    same_order : the queries have the record's order and names; if they have not, queries with the same values are
        matched
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
        from tieproof.views.text.verification import render

        return render(self)


def compared(record: Result, again: Result, version: str, by_place: bool = False) -> Verification:
    """Compare a record with a new evaluation of the same call by this version of tieproof.

    by_place : whether relevant or excluded items were named by their indices, which change with the order of the data
    """
    old, new = record.evaluated, again.evaluated
    if by_place:
        new = new._replace(origin=new.origin._replace(relevant=old.origin.relevant))
    in_order = same(old.query_ids, new.query_ids) and not any(unlike(old, new))
    others = not in_order and old.origin.call != "evaluate_run" and in_another_order(old, new)
    found = list(about_all(old, new))
    if not (in_order or others):
        found += about_queries(old, new)
    if {**record} != {**again} and not found:
        found.append("The means are not the same.")
    return Verification(
        agrees=not found,
        same_data=old.origin.fingerprint == new.origin.fingerprint,
        same_order=not others,
        differences=tuple(found),
        record=old.origin.version or version,
        evaluated=version,
    )


def about_all(old: Evaluated, new: Evaluated) -> Iterator[str]:
    """The differences in everything but single queries: the data, the setting, and which queries are left out."""
    if old.origin.fingerprint != new.origin.fingerprint:
        yield (
            f"The data differs: its fingerprint begins with {new.origin.fingerprint[:SHOWN]}, but the record's "
            f"fingerprint begins with {old.origin.fingerprint[:SHOWN]}."
        )
    before, now = asdict(old.setting), asdict(new.setting)
    for name, value in before.items():
        if now[name] != value:
            yield f"The record has {name} = {value!r}, but now it is {now[name]!r}."
    if old.zero_vectors != new.zero_vectors:
        yield f"The record counts {old.zero_vectors} zero vectors, but now there are {new.zero_vectors}."
    for what, ids, found in left_out_of(old, new):
        named = old.origin.call == "evaluate_run"
        if not same(np.sort(ids), np.sort(found)) if named else len(ids) != len(found):
            yield f"The queries with {what} differ: {len(ids)} in the record, {len(found)} now."
    if (old.categories is None) != (new.categories is None):
        yield f"The record has {'' if new.categories is None else 'no '}categories, unlike the new evaluation."
    if (old.confidence is None) != (new.confidence is None):
        yield f"The record has {'' if new.confidence is None else 'no '}confidences, unlike the new evaluation."


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
LABELS = ("Categories", "Confidences")


def unlike(old: Evaluated, new: Evaluated) -> BoolArray:
    """Whether each query differs in anything, (Q,)."""
    found = np.zeros(len(old.query_ids), dtype=np.bool_)
    for _, differs in unlike_parts(old, new):
        found |= differs
    return found


def unlike_parts(old: Evaluated, new: Evaluated) -> Iterator[tuple[str, BoolArray]]:
    """For each kind of value, its name and the mask (Q,) of the queries in which it differs."""
    for measure, values in old.per_query.items():
        yield str(measure), (bits(values) != bits(new.per_query[measure])).any(axis=0)
    yield COUNTED, (old.tie_counts != new.tie_counts).any(axis=0)
    yield RELEVANT, old.origin.relevant != new.origin.relevant
    for what, before, now in zip(LABELS, labels_of(old), labels_of(new), strict=True):
        if before is not None and now is not None:
            yield what, np.asarray(before != now)


def labels_of(found: Evaluated) -> tuple[Array | None, Array | None]:
    """The category and the confidence of every query."""
    groups = found.categories
    return None if groups is None else groups.names[groups.of_query], found.confidence


def in_another_order(old: Evaluated, new: Evaluated) -> bool:
    """Whether the queries are the same except for their order or their names."""
    if len(old.query_ids) != len(new.query_ids):
        return False
    tables = [
        [*map(bits, found.per_query.values()), found.tie_counts.view(np.uint64), found.origin.relevant[None]]
        for found in (old, new)
    ]
    for before, now in zip(labels_of(old), labels_of(new), strict=True):
        if before is not None and now is not None:
            known = np.unique(np.concatenate([before, now]))
            for rows, part in zip(tables, (before, now), strict=True):
                rows.append(np.searchsorted(known, part)[None].astype(np.uint64))
    one, other = (np.concatenate(rows) for rows in tables)
    return bool((one[:, np.lexsort(one)] == other[:, np.lexsort(other)]).all())


def bits(values: Array) -> Array:
    """The bits of the values, with the same bits for every NaN."""
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)


def same(one: Array, other: Array) -> bool:
    """Whether the ids are the same, in the same order."""
    return one.shape == other.shape and bool((one == other).all())
