"""`verify`: the evaluation of a record is repeated with the same data, and compared bit by bit.

record ──► its call, options and measures ──► the call again, with the data that was passed
       ──► queries of both matched by their rows of the data ──► differences in sentences ──► Verification
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from tieproof.errors import InputError
from tieproof.evaluation.answers import evaluate_answers
from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.evaluated import Evaluated
from tieproof.evaluation.lists import evaluate_distances, evaluate_scores
from tieproof.evaluation.neighbors import evaluate_neighbors
from tieproof.evaluation.records.differences import found_differences, order_of_record, reordered
from tieproof.evaluation.records.record import load
from tieproof.evaluation.result import Result
from tieproof.evaluation.runs import evaluate_run
from tieproof.installed import __version__
from tieproof.show.shown import Verified

_CALLS: dict[str, Callable[..., Result]] = {
    "evaluate": evaluate,
    "evaluate_answers": evaluate_answers,
    "evaluate_scores": evaluate_scores,
    "evaluate_distances": evaluate_distances,
    "evaluate_neighbors": evaluate_neighbors,
    "evaluate_run": evaluate_run,
}

_DATA = (
    *("gallery", "gallery_labels", "relevance", "groups", "gallery_groups", "exclude", "categories", "confidence"),
    *("labels", "scores", "counts", "n_relevant", "n_items", "complete", "distance", "memory", "threads", "progress"),
    "documents",
)
"""The arguments of all these calls that are no settings of a record: data, memory, threads and progress."""

_SETTINGS = ("empty", "average", "precision", "distance")
"""The settings of a record that calls take."""

_FUNCTION = "function "
"""How the name of a distance begins if the distance is a function of the user."""


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
    """Return the verification of a result, and the result of evaluating the data again.

    data : by the names of the arguments of the function that made the result
    """
    parameters = signature(_CALLS[result.evaluated.origin.call]).parameters.values()
    first = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD and each.name in data]
    more = {name: value for name, value in data.items() if name not in first}
    return _verified(result, [data[name] for name in first], more)


def _verified(result: Result, data: Sequence[Any], more: Mapping[str, Any]) -> tuple[Verification, Result]:
    origin = result.evaluated.origin
    call = _CALLS[origin.call]
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
    """The options of a record that its call takes."""
    setting = recorded.setting
    options = {**recorded.origin.options, "measures": [*map(str, recorded.per_query)]}
    options |= {name: getattr(setting, name) for name in _SETTINGS if name in takes}
    if recorded.categories is not None and "categories" not in more and setting.average == "micro":
        raise InputError("This record has categories of its queries. Pass the same categories again, as categories=.")
    if recorded.confidence is not None and "confidence" not in more:
        raise InputError("This record has confidences of its queries. Pass the same confidences again: confidence=.")
    if "distance" not in options:
        return options
    if setting.distance.startswith(_FUNCTION):
        if not callable(more.get("distance")):
            raise InputError(
                f"This record uses the {setting.distance}, of which it stores only the name. Pass it as distance=."
            )
        del options["distance"]
    elif "distance" in more:
        raise InputError(f"The distance of this record is {setting.distance}. Leave distance out.")
    return options


def _compared(record: Result, again: Result, by_index: bool) -> Verification:
    """Compare a record with a new evaluation; `by_index` is as in `_verified`."""
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
