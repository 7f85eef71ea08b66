"""`verify`: a record evaluated again, from the same data, and compared bit by bit."""

from collections.abc import Callable
from typing import Any

from tieproof.calls.answers import evaluate_answers
from tieproof.calls.embeddings import evaluate
from tieproof.calls.lists import evaluate_distances, evaluate_scores
from tieproof.calls.neighbors import evaluate_neighbors
from tieproof.calls.runs import evaluate_run
from tieproof.errors import InputError
from tieproof.results.records import load
from tieproof.results.results import Result
from tieproof.results.verification import Verification, compared

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
"""What evaluates again, and what it may be told: data, and how much of the machine it may take."""

BY_PLACE = ("relevance", "exclude")
"""What names items of embeddings by their places."""

FUNCTION = "function "
"""How the name of a distance begins that is a function of whoever evaluated."""


def verify(record: Any, *data: Any, **more: Any) -> Verification:
    """Evaluate again what a record says it is the result of, and compare every bit.

    The distance, the measures and all policies are the record's; the data is given as it was given to the call that
    made it. Where the same items come in another order, or under other numbers, queries of the same values are held
    together.

    Parameters
    ----------
    record : the path of a record, or a Result
    *data :
        What that call takes first: embeddings and labels; scores, or distances, and relevance; ids and distances;
        qrels and a run.
    **more :
        What it takes by name: `gallery`, `gallery_labels`, `relevance`, `labels`, `groups`, `gallery_groups`,
        `exclude`, `categories`, `confidence`, `n_relevant`, `n_items` (of lists), of neighbours also `scores` and
        `counts`, and of embeddings also `memory`, `threads` and `progress`; `distance` only where that is a
        function, which a record can only name.

    Returns
    -------
    Verification
        `agrees` is True where every bit does; `differences` says in sentences what does not.

    Raises
    ------
    InputError
        What is no record, what the record decides itself, and what the evaluation refuses.

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
    found = result.evaluated
    call, known = CALLS[found.origin.call]
    if not found.origin.fingerprint:
        raise InputError(
            "The result of one category can not be verified alone. Pass the whole result, which holds its categories."
        )
    if not 1 <= len(data) <= 2:
        raise InputError(
            f"This record is of {found.origin.call}: pass one or two arguments as to that, and {', '.join(known)} by "
            f"name. {len(data)} came."
        )
    for name in more:
        if name not in known:
            raise InputError(
                f"{name} is nothing that the verification of a record of {found.origin.call} is told; the record has "
                f"the setting. Known: {', '.join(known)}."
            )
    again = call(*data, **options_of(result, more), **more)
    from tieproof.installed import __version__

    return compared(result, again, __version__, any(more.get(name) is not None for name in BY_PLACE))


def options_of(result: Result, more: dict[str, Any]) -> dict[str, Any]:
    """The options that a record has, and that the call takes."""
    found = result.evaluated
    options = {
        **found.origin.options,
        "measures": result.measures,
        "average": found.setting.average,
        "empty": found.setting.empty,
    }
    if found.categories is not None and "categories" not in more and found.setting.average == "micro":
        raise InputError("This record has categories of its queries. Give them as they were given then: categories=.")
    if found.confidence is not None and "confidence" not in more:
        raise InputError(
            "This record has confidences of its queries. Give them as they were given then: confidence=."
        )
    if found.origin.call == "evaluate_answers":
        return {"measures": result.measures, "empty": found.setting.empty, "distance": found.setting.distance}
    if found.origin.call != "evaluate":
        return options
    options["precision"] = found.setting.precision
    named = found.setting.distance
    if named.startswith(FUNCTION) and not callable(more.get("distance")):
        raise InputError(f"This record is of the {named}, which it can only name. Pass it as distance=.")
    if not named.startswith(FUNCTION):
        if "distance" in more:
            raise InputError(f"The distance of this record is {named}. Leave distance out.")
        options["distance"] = named
    return options
