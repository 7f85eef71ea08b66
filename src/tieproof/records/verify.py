"""`verify`: the evaluation of a record is repeated with the same data, and compared bit by bit."""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from tieproof.errors import InputError
from tieproof.evaluation.answers import evaluate_answers
from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.lists import evaluate_distances, evaluate_scores
from tieproof.evaluation.neighbors import evaluate_neighbors
from tieproof.evaluation.result import Result
from tieproof.evaluation.runs import evaluate_run
from tieproof.records.record import load
from tieproof.records.verification import Verification, compared

LISTS = ("relevance", "labels", "gallery_labels", "n_relevant", "n_items", "categories")
NEIGHBORS = (
    *("scores", "counts", "labels", "gallery_labels", "relevance", "n_items"),
    *("groups", "gallery_groups", "exclude", "categories"),
)
ANSWERS = ("gallery", "gallery_labels", "groups", "gallery_groups", "labels", "memory", "threads", "progress")
SIDES = ("gallery", "gallery_labels", "relevance", "groups", "gallery_groups", "exclude", "categories", "confidence")

CALLS: dict[str, tuple[Callable[..., Result], tuple[str, ...]]] = {
    "evaluate": (evaluate, (*SIDES, "labels", "distance", "memory", "threads", "progress")),
    "evaluate_answers": (evaluate_answers, ANSWERS),
    "evaluate_scores": (evaluate_scores, LISTS),
    "evaluate_distances": (evaluate_distances, LISTS),
    "evaluate_neighbors": (evaluate_neighbors, NEIGHBORS),
    "evaluate_run": (evaluate_run, ("categories",)),
}
"""For each call: its function, and the arguments that `verify` accepts: data, memory, threads and progress."""

BY_PLACE = ("relevance", "exclude")
"""Arguments that name items of embeddings by their positions."""

FUNCTION = "function "
"""How the name of a distance begins if the distance is a function of the user."""


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
        `exclude`, `categories`, `confidence`, `n_relevant`, `n_items` (for lists); for neighbours also `scores` and
        `counts`; for embeddings also `memory`, `threads` and `progress`. Pass `distance` only if it is a function,
        of which a record only stores the name.

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
    result = record if isinstance(record, Result) else load(record)
    return verified(result, data, more)[0]


def verified(result: Result, data: Sequence[Any], more: Mapping[str, Any]) -> tuple[Verification, Result]:
    """Return the verification of a result, and the result of evaluating the data again."""
    found = result.evaluated
    call, known = CALLS[found.origin.call]
    if not found.origin.fingerprint:
        raise InputError(
            "The result of one category cannot be verified alone. Pass the whole result, which contains its "
            "categories."
        )
    if not 1 <= len(data) <= 2:
        raise InputError(
            f"This is a record of {found.origin.call}, which needs one or two arguments, not {len(data)}. Pass its "
            f"data as to that function, and {', '.join(known)} by name."
        )
    for name in more:
        if name not in known:
            raise InputError(
                f"{name} is not an argument for the verification of a record of {found.origin.call}; settings are "
                f"read from the record. Known: {', '.join(known)}."
            )
    again = call(*data, **options_of(result, more), **more)
    from tieproof.installed import __version__

    by_place = any(more.get(name) is not None for name in BY_PLACE)
    return compared(result, again, __version__, by_place), again


def verified_by_name(result: Result, given: Mapping[str, Any]) -> tuple[Verification, Result]:
    """Return the same as `verified`, for data that is given by the names of the function's arguments."""
    parameters = signature(CALLS[result.evaluated.origin.call][0]).parameters.values()
    first = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD and each.name in given]
    more = {name: value for name, value in given.items() if name not in first}
    return verified(result, [given[name] for name in first], more)


def options_of(result: Result, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a record that the call takes."""
    found = result.evaluated
    options = {
        **found.origin.options,
        "measures": result.measures,
        "average": found.setting.average,
        "empty": found.setting.empty,
    }
    if found.categories is not None and "categories" not in more and found.setting.average == "micro":
        raise InputError("This record has categories of its queries. Pass the same categories again, as categories=.")
    if found.confidence is not None and "confidence" not in more:
        raise InputError("This record has confidences of its queries. Pass the same confidences again: confidence=.")
    if found.origin.call == "evaluate_answers":
        options |= {"distance": found.setting.distance}
        del options["average"]
        return options
    if found.origin.call != "evaluate":
        return options
    options["precision"] = found.setting.precision
    named = found.setting.distance
    if named.startswith(FUNCTION) and not callable(more.get("distance")):
        raise InputError(f"This record uses the {named}, of which it stores only the name. Pass it as distance=.")
    if not named.startswith(FUNCTION):
        if "distance" in more:
            raise InputError(f"The distance of this record is {named}. Leave distance out.")
        options["distance"] = named
    return options
