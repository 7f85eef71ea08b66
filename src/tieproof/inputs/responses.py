"""What search engines and retrievers return, as runs: the hits of each query, with their ids and scores.

Elasticsearch and OpenSearch return dictionaries whose hits have `_id` and `_score`; LlamaIndex, Haystack and Qdrant
return objects with `node_id` or `id` and `score`.
"""

from collections.abc import Mapping
from typing import Any

from tieproof.errors import InputError, warn

_WORDS = {"hits", "documents", "ids"}
"""The keys of responses that are dictionaries: of search engines, Haystack and Chroma."""

WRAPPERS = ("body", "source_nodes", "points")
"""The attributes that hold the hits: of Elasticsearch's client, LlamaIndex's engines and Qdrant's client."""


def of_responses(values: Any) -> Any:
    """A run {query: {document: score}} where {query: response} or {query: list of hits} is given; others unchanged.

    Empty lists alone are left unchanged.

    >>> of_responses({"q": {"took": 3, "hits": {"hits": [{"_id": "d1", "_score": 2.5}]}}})
    {'q': {'d1': 2.5}}
    """
    if not isinstance(values, Mapping):
        return values
    _refuse_distances(values)
    hits = {query: _hits_of(value) for query, value in values.items()}
    if all(
        found is None or values[query] == [] for query, found in hits.items()
    ):  # an empty list alone may be anything
        return values
    run = {query: values[query] if found is None else _scores_of(query, found) for query, found in hits.items()}
    _check_order([list(run[query].values()) for query, found in hits.items() if found])
    return run


def _check_order(lists: list[list[Any]]) -> None:
    """Refuse hits whose scores increase along every list, and warn of most lists with hits in another order."""
    numbers = [each for each in lists if all(isinstance(score, int | float) for score in each)]
    different = [each for each in numbers if len(set(each)) > 1]
    if different and all(each == sorted(each) for each in different):
        raise InputError(
            "The scores of the hits increase along every list in which they differ, so that they are probably "
            "distances, of which the smallest is nearest, as those of Qdrant with Distance.EUCLID. Pass "
            "{query: {id: -score}}, with a negative score for each hit, or {query: {id: score}} if larger is nearer.",
            "run",
        )
    wrong = sum(each != sorted(each, reverse=True) for each in different)
    if 2 * wrong > len(different):
        warn(
            f"The hits of {wrong} of {len(different)} queries are not in the order of their scores. Documents are "
            "ranked by their scores, where larger is nearer; to rank hits as they were returned, pass "
            "{query: {id: -place}}, with the place of each hit."
        )


def _refuse_distances(value: Any) -> None:
    """Refuse results of Chroma and LangChain, whose values are distances, or may be."""
    if isinstance(value, Mapping) and {"ids", "distances"} <= value.keys():
        raise InputError(
            "This is a result of Chroma, with ids and distances, of which smaller ones are nearer, but the scores of "
            "a run are larger for nearer documents. Pass {query: {id: -distance}}.",
            "run",
        )
    if isinstance(value, list) and any(isinstance(hit, tuple) and hasattr(hit[0], "page_content") for hit in value):
        raise InputError(
            "These are pairs of LangChain, of a document and a score, which is a distance in some stores. Pass "
            "{query: {document.id: score}}, with -score for distances, so that nearer documents have larger scores.",
            "run",
        )


def _hits_of(value: Any) -> list[Any] | None:
    """The hits of a response, of its `hits` or of a list of hits; None for anything else."""
    if type(value) is dict and not _WORDS & value.keys():  # most often scores, which are many
        return None
    _refuse_distances(value)
    for name in WRAPPERS:
        value = getattr(value, name, value)
    while isinstance(value, Mapping) and isinstance(value.get("hits"), Mapping | list):
        value = value["hits"]
    if isinstance(value, Mapping) and isinstance(value.get("documents"), list):  # of a retriever of Haystack
        value = value["documents"]
    is_list = isinstance(value, list) and all(_id_of(hit) is not None for hit in value)
    return value if is_list else None


def _id_of(hit: Any) -> Any:
    """The id of a hit; None for anything else."""
    if isinstance(hit, Mapping):
        return hit.get("_id")
    return getattr(hit, "node_id", getattr(hit, "id", None)) if hasattr(hit, "score") else None


def _scores_of(query: Any, hits: list[Any]) -> dict[str, float]:
    """The score of each hit by its id."""
    scores: dict[str, float] = {}
    for hit in hits:
        name, score = _id_of(hit), hit.get("_score") if isinstance(hit, Mapping) else hit.score
        if score is None and isinstance(hit, Mapping):
            raise InputError(
                f"The hit {name!r} of query {query!r} has no _score, as if hits were sorted by a field. Sort them by "
                "_score, or pass track_scores in the search.",
                "run",
            )
        if score is None:
            raise InputError(
                f"The hit {name!r} of query {query!r} has the score None, as retrievers by keywords may return. "
                "Use a retriever that returns scores, or pass a dictionary of scores that fall in the order of the "
                "hits.",
                "run",
            )
        if name in scores:
            raise InputError(
                f"The hits of query {query!r} have the {'_id' if isinstance(hit, Mapping) else 'id'} {name!r} twice, "
                "as hits of two indices may. Pass runs of one index, or make the ids different.",
                "run",
            )
        scores[name] = score
    return scores
