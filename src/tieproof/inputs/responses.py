"""What search engines and retrievers return, as runs: the hits of each query, with their ids and scores.

Elasticsearch and OpenSearch return dictionaries whose hits have `_id` and `_score`; LlamaIndex, Haystack and Qdrant
return objects with `node_id` or `id` and `score`.
"""

from collections.abc import Mapping
from typing import Any

from tieproof.errors import InputError

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
    hits = {query: _hits_of(value) for query, value in values.items()}
    if all(
        found is None or values[query] == [] for query, found in hits.items()
    ):  # an empty list alone may be anything
        return values
    return {query: values[query] if found is None else _scores_of(query, found) for query, found in hits.items()}


def _hits_of(value: Any) -> list[Any] | None:
    """The hits of a response, of its `hits` or of a list of hits; None for anything else."""
    if type(value) is dict and "hits" not in value and "documents" not in value:  # most often scores, which are many
        return None
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
