"""The ranked or judged documents of each query as people have them: ids in order, sets of ids, hits of any service.

Elasticsearch, OpenSearch, Qdrant, Pinecone, Weaviate, Haystack, LlamaIndex, FlashRank, sentence-transformers and
rank_llm return hits, as dictionaries or as objects, each with an id and mostly with a score. Some put the list of
hits into an answer, and some put the query beside it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import attrgetter, itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.inputs.frames import names_in_hits

WRAPPERS = (
    *("body", "source_nodes", "points", "hits", "documents", "matches", "objects", "results", "candidates", "ctxs"),
    *("result", "passages"),
)
"""The keys or attributes of answers that contain the hits."""

NAMES = (*names_in_hits("query"), "query")  # the names of the query beside its documents


class Listed(NamedTuple):
    """The documents of a query."""

    names: list[Any]  # their ids
    values: list[Any] | None  # None: the order of a run ranks them, and in qrels the grade is 1
    kind: Literal["numbers", "hits", "ranks"] = "ranks"  # the scores of hits are expected to fall; ranks are negative


def entries_of(values: Any, owner: str, value: str) -> list[tuple[Any, Any]]:
    """Return pairs of a query and its documents from a dictionary or a list.

    The entries of a list name their query, as those of rank_llm do; they are rows of one document; or they are the
    documents of the queries 0, 1, ….

    owner, value : what has the documents, and what their numbers are, for messages

    >>> entries_of([{"query": {"qid": "q", "text": "…"}, "candidates": [{"docid": "d"}]}], "The run", "score")
    [('q', [{'docid': 'd'}])]
    >>> entries_of([["b", "a"], ["c"]], "The run", "score")
    [(0, ['b', 'a']), (1, ['c'])]
    """
    if isinstance(values, Mapping):
        _refuse_distances(values)
        if is_answer(values) and _found(values, NAMES):  # the only entry of a list
            return [entry_of(values, 0, owner, value)]
        return list(values.items())
    first = values[0] if values else None
    if not is_answer(first) and _found(first, names_in_hits("query")) and _found(first, names_in_hits("document")):
        queries = [found and found[1] for found in _column(values, names_in_hits("query"))]
        return [(query, [row]) for query, row in zip(queries, values, strict=True)]
    return [entry_of(each, place, owner, value) for place, each in enumerate(values)]


def entry_of(entry: Any, place: int, owner: str, value: str) -> tuple[Any, Any]:
    """Return the query and the documents of an entry of a list; `place` is the query of an entry that names none."""
    hits, query = _unwrapped(entry), _found(entry, NAMES)
    lists = [each for each in entry.values() if isinstance(each, list)] if isinstance(entry, Mapping) else []
    if hits is entry and query is not None and len(lists) == 1:
        (hits,) = lists
    if hits is entry:
        named = query or _found(entry, names_in_hits("document"))
        if _is_collection(entry) and not (isinstance(entry, Mapping) and named):
            return place, entry
        raise InputError(
            f"{owner} must have the documents of each query, but has {_shown(entry)} in place of those of query "
            f"{place}. Pass {{query: {{document: {value}}}}}, or a list of documents for each query."
        )
    if query is None:
        return place, hits
    name, called = query
    if name == "query":  # its text or, of rank_llm, a record with its id
        first = hits[0] if isinstance(hits, list | tuple) and hits else None
        inner = _found(called, (*names_in_hits("query"), "id")) or _found(first, names_in_hits("query"))
        called = called if inner is None else inner[1]
    return called, hits


def is_answer(value: Any) -> bool:
    """Whether a value contains hits, as answers of services do."""
    return _unwrapped(value) is not value


def listed(query: Any, given: Any, owner: str, value: str) -> Listed:
    """Return the documents of a query, whatever they came as; owner and value as in `entries_of`.

    >>> listed("q", [{"id": "b", "score": 0.9}, {"id": "a", "score": 0.8}], "The run", "score")
    Listed(names=['b', 'a'], values=[0.9, 0.8], kind='hits')
    """
    given = _unwrapped(given)
    if isinstance(given, Mapping):
        return Listed(list(given), list(given.values()), "numbers")
    is_set = isinstance(given, set | frozenset)
    if isinstance(given, np.ndarray) and given.ndim == 1:
        given = given.tolist()
    if not _is_collection(given) or (is_set and value == "score"):
        advice = "a list of ids in the order of the ranking" if value == "score" else "a list or a set of its ids"
        raise InputError(
            f"{owner} must be {{query: {{document: {value}}}}}, but the value of query {query!r} is "
            f"{type(given).__name__}{', which has no order' if is_set else ''}. Pass a dictionary for each query, or "
            f"{advice}."
        )
    _refuse_distances(given)
    items = list(given)
    if all(isinstance(each, str | int | float | np.generic) for each in items):
        return Listed(items, None)
    if all(isinstance(each, list | tuple) and not hasattr(each, "_fields") and len(each) == 2 for each in items):
        return Listed([name for name, _ in items], [number for _, number in items], "hits")
    named = _column(items, names_in_hits("document"))
    if None in named:
        raise InputError(
            f"{owner} must have an id for each document of query {query!r}, such as doc_id, docid or id, but one is "
            f"{_shown(items[named.index(None)])}. Pass {{query: {{document: {value}}}}}."
        )
    names = [str(name) if key == "uuid" else name for key, name in filter(None, named)]
    return Listed(names, *_numbers_of(query, items, names, owner, value))


def check_order(lists: Sequence[list[Any]]) -> None:
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
            "{query: [id, …]}, the ids in that order."
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


def _is_collection(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple | set | frozenset) and not hasattr(value, "_fields")


def _unwrapped(value: Any) -> Any:
    """The hits of an answer; anything else unchanged."""
    while isinstance(value, Mapping) or not isinstance(value, str | list | tuple | set | frozenset):
        inner = (_part(value, name) for name in WRAPPERS)
        found = next((each for each in inner if isinstance(each, Mapping | list)), None)
        if found is None:
            break
        _refuse_distances(value)
        value = found
    if isinstance(value, Mapping):
        _refuse_distances(value)
    return value


def _part(value: Any, name: str) -> Any:
    """What a dictionary or an object has by a name; None without it."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _found(value: Any, names: Sequence[str]) -> tuple[str, Any] | None:
    """The first of these names that a hit has, with what it names; None without any.

    Weaviate puts both into `_additional`, or scores into an object; dictionaries of metadata are the user's.
    """
    beside = _part(value, "metadata")
    for part in (value, _part(value, "_additional"), None if isinstance(beside, Mapping) else beside):
        for name in names:
            if name in part if isinstance(part, Mapping) else hasattr(part, name):
                return name, _part(part, name)
    return None


def _column(hits: Sequence[Any], names: Sequence[str]) -> list[tuple[str, Any] | None]:
    """What `_found` returns for each hit; mostly all have the same names."""
    first = _found(hits[0], names)
    if first is not None:
        key, _ = first
        value_of = itemgetter(key) if all(type(hit) is dict for hit in hits) else attrgetter(key)
        with suppress(KeyError, AttributeError):
            return [(key, value_of(hit)) for hit in hits]
    return [_found(hit, names) for hit in hits]


def _numbers_of(
    query: Any, hits: list[Any], names: list[Any], owner: str, value: str
) -> tuple[list[Any] | None, Literal["hits", "ranks"]]:
    """Return the scores or grades of hits, or minus their ranks, or None; and which of these."""
    found = _column(hits, names_in_hits(value))
    if not any(found) and value == "score":
        if any(_column(hits, names_in_hits("distance"))):
            raise InputError(
                f"The hits of query {query!r} have distances, of which smaller ones are nearer, and no scores. Pass "
                "{query: {id: -distance}}."
            )
        ranks = _column(hits, ("rank",))
        if all(each is not None and isinstance(each[1], int) and each[1] >= 0 for each in ranks):
            return [-each[1] for each in ranks if each is not None], "ranks"
    if not any(found):
        return None, "ranks"
    for hit, name, each in zip(hits, names, found, strict=True):
        if each is None:
            raise InputError(
                f"The hit {name!r} of query {query!r} has no {value}, although others have one: {_shown(hit)}. Give "
                f"every hit of the query a {value}, or none."
            )
        if each[1] is None:
            lacks = "no _score" if each[0] == "_score" else "the score None"
            raise InputError(
                f"The hit {name!r} of query {query!r} has {lacks}, as hits that are sorted by a field, or those of "
                "retrievers by keywords, may have. Ask for scores "
                "(track_scores in Elasticsearch), or pass {query: [id, …]}, the ids in the order of the hits."
            )
    return [each[1] for each in found if each is not None], "hits"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
