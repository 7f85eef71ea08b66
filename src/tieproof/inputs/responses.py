"""The responses of Elasticsearch and OpenSearch as runs: the hits of each query, with their ids and scores."""

from collections.abc import Mapping
from typing import Any

from tieproof.errors import InputError


def of_responses(values: Any) -> Any:
    """A run {query: {document: score}} where {query: response} or {query: list of hits} is given; others unchanged.

    Empty lists alone are left unchanged.

    >>> of_responses({"q": {"took": 3, "hits": {"hits": [{"_id": "d1", "_score": 2.5}]}}})
    {'q': {'d1': 2.5}}
    """
    if not isinstance(values, Mapping):
        return values
    hits = {query: _hits_of(value) for query, value in values.items()}
    if all(
        found is None or values[query] == [] for query, found in hits.items()
    ):  # an empty list alone may be anything
        return values
    return {query: values[query] if found is None else _scores_of(query, found) for query, found in hits.items()}


def _hits_of(value: Any) -> list[Any] | None:
    """The hits of a response, of its `hits` or of a list of hits; None for anything else."""
    found = getattr(value, "body", value)  # the client of Elasticsearch wraps its answer
    while isinstance(found, Mapping) and isinstance(found.get("hits"), Mapping | list):
        found = found["hits"]
    is_list = isinstance(found, list) and all(isinstance(hit, Mapping) and "_id" in hit for hit in found)
    return found if is_list else None


def _scores_of(query: Any, hits: list[Any]) -> dict[str, float]:
    """The score of each hit by its id."""
    scores: dict[str, float] = {}
    for hit in hits:
        name, score = hit["_id"], hit.get("_score")
        if score is None:
            raise InputError(
                f"The hit {name!r} of query {query!r} has no _score, as if hits were sorted by a field. Sort them by "
                "_score, or pass track_scores in the search.",
                "run",
            )
        if name in scores:
            raise InputError(
                f"The hits of query {query!r} have the _id {name!r} twice, as hits of two indices may. Pass runs of "
                "one index, or make the ids different.",
                "run",
            )
        scores[name] = score
    return scores
