"""The nearest items of a query, tie by tie: which items are relevant, and which are tied."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from tieproof.distances import reported
from tieproof.engine.problem import Problem
from tieproof.errors import InputError
from tieproof.evaluation.evaluated import Origin, function_of
from tieproof.evaluation.fingerprints import origin_of_embeddings, origin_of_run
from tieproof.evaluation.given_lists import as_judged, evaluate_lists
from tieproof.evaluation.measured import Measured
from tieproof.evaluation.problems import ANY_KIND, ArgumentSide, as_budget, in_memory, make_problem
from tieproof.evaluation.scoring import reads_judged
from tieproof.inputs.documents import Documents, DocumentTable
from tieproof.inputs.identities import Digests
from tieproof.inputs.ids import decoded
from tieproof.inputs.judged_runs import JudgedDocuments, ranked_of, read_qrels
from tieproof.inputs.list_rules import ListRules, documents_of_run
from tieproof.inputs.lists import LabeledRows, Rows, in_float64, rounded_rows
from tieproof.inputs.mapped import paths_of, unchanged
from tieproof.inputs.options import find_format, rounded
from tieproof.inputs.readers import trec
from tieproof.inputs.scored_tables import lists_in
from tieproof.inputs.sources import Source
from tieproof.ties import FloatArray, IntArray

LISTED = 10  # the number of nearest items that are listed for each query
_JUDGED_BY = ("relevance", "labels", "gallery_labels", "n_relevant", "n_items", "complete")


class NearTie(NamedTuple):
    """Items at exactly the same distance from the query; an item alone at its distance is a tie of one."""

    rank: int  # the first rank of the tie, counted from 1
    value: float  # the distance or the score that its items share
    size: int  # size, relevant: how many items the tie holds, and how many of them are relevant
    relevant: int
    # The ids of the listed items, which may be fewer than `size`, each with whether it is relevant.
    items: tuple[tuple[Any, bool], ...]

    @property
    def ambiguous(self) -> bool:
        """Whether it holds both relevant and other items, so that its order changes scores."""
        return 0 < self.relevant < self.size


class Nearest(NamedTuple):
    """What is nearest to a query, which no result keeps: how many items are relevant, and ties, nearest first."""

    query: Any
    relevant: int
    ties: tuple[NearTie, ...]


def nearest(result: Measured, places: IntArray, evaluated: Mapping[str, Any]) -> list[Nearest]:
    """Return the ten nearest items of some queries of a result, with their ties.

    places : the positions of the queries in `result.query_ids`
    evaluated : the arguments of the evaluation by their names; arguments that change no ranking, such as measures,
        are ignored

    Raises InputError for unknown names, and if the arguments are not those of the result: another distance or
    precision, another fingerprint, or the same data with the queries in another order.

    >>> import tieproof as tp
    >>> data = {"embeddings": [[1.0], [1.0], [3.0], [4.0]], "labels": ["a", "a", "b", "b"], "distance": "euclidean"}
    >>> for tie in nearest(tp.evaluate(**data), np.array([2]), data)[0].ties:
    ...     print(tie)
    NearTie(rank=1, value=1.0, size=1, relevant=1, items=((3, True),))
    NearTie(rank=2, value=2.0, size=2, relevant=0, items=((0, False), (1, False)))
    """
    with data_of(result, evaluated) as (kind, given):
        return list(CALLS[kind][1](result, places, given))


@contextmanager
def data_of(result: Measured, evaluated: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The argument that identifies an evaluation, and the arguments that are not None, whose files may not change."""
    if not result.fingerprint:
        raise InputError(
            "This is the result of one category, which has no fingerprint of its data. Use the result of all queries."
        )
    given = {name: value for name, value in evaluated.items() if value is not None}
    kind = next((name for name in CALLS if name in given), None)
    if kind is None:
        raise InputError(
            f"One of the arguments {', '.join(CALLS)} is needed, but {', '.join(given) or 'nothing'} was passed. "
            "Pass the arguments of the evaluation again, by their names."
        )
    call, _ = CALLS[kind]
    arguments = signature(function_of(call)).parameters
    strange = [name for name in given if name not in arguments]
    if strange:
        raise InputError(
            f"{call} has no argument {', '.join(strange)}. Pass the arguments of the evaluation again, by their "
            "names."
        )
    with unchanged({path for value in given.values() for path in paths_of(value)}):
        yield kind, given


def _listed(
    query: Any,
    item: IntArray,  # (c,) the positions of the items, nearest first
    tie: IntArray,  # (c,) the number of the tie of each, from 0 on
    value: Sequence[float],  # (t,) the distance or score of each tie
    relevant: IntArray,  # the positions of all relevant items
    name: Callable[[int], Any] = int,  # returns the id of the item at a position
) -> Nearest:
    """Return the first items of a query, tie by tie, from its nearest items, of which the last tie is complete."""
    is_relevant = np.isin(item, relevant)
    size = np.bincount(tie)
    relevant_in_tie = np.bincount(tie, is_relevant).astype(np.int64)
    start = np.cumsum(size) - size
    ties = []
    for place in range(int(np.searchsorted(start, LISTED))):
        first, last = int(start[place]), min(int(start[place] + size[place]), LISTED)
        items = tuple((name(int(item[at])), bool(is_relevant[at])) for at in range(first, last))
        ties.append(NearTie(first + 1, float(value[place]), int(size[place]), int(relevant_in_tie[place]), items))
    return Nearest(query, len(relevant), tuple(ties))


def problem_of(result: Measured, given: Mapping[str, Any]) -> Problem:
    """Return the queries and the gallery in memory, with their relevance, if they are those of the result."""
    setting = result.setting
    distance, precision = given.get("distance", setting.distance), given.get("precision", setting.precision)
    if isinstance(distance, str) and distance.startswith("function "):
        raise InputError(
            f"The distance of the result is the {distance}, which a result does not store. Pass it again as "
            "distance=."
        )
    problem = in_memory(
        make_problem(
            ArgumentSide(given["embeddings"], given.get("labels"), given.get("groups")),
            ArgumentSide(given.get("gallery"), given.get("gallery_labels"), given.get("gallery_groups")),
            distance,
            as_budget(given.get("memory", "1GiB"), given.get("threads")),
            relevance=given.get("relevance"),
            exclude=given.get("exclude"),
            bits=given.get("bits"),
            rounding=None if precision is None else find_format(precision),
            kinds=ANY_KIND,
        )
    )
    relevance = problem.relevance
    _check_same("distance", reported(distance), setting.distance)
    _check_same("precision", precision, setting.precision)
    _check_same("number of queries", relevance.n_queries, result.setting.queries)
    _check_same("number of items", relevance.n_items, result.setting.gallery)
    _check_numbers(result, relevance.n_queries)
    origin = origin_of_embeddings(problem, given.get("bits"))
    _check_same("fingerprint", origin.fingerprint, result.fingerprint)
    _check_order(result, origin._replace(queries=origin.queries[result.query_ids]))
    return problem


def _in_embeddings(result: Measured, places: IntArray, given: Mapping[str, Any]) -> Iterator[Nearest]:
    from tieproof.engine import neighbors_of

    problem = problem_of(result, given)
    queries = result.query_ids[places].astype(np.int64)
    block = problem.relevance.block(queries)
    own = np.split(block.items, block.pointer[1:-1])
    for query, (near, distance), items in zip(queries, neighbors_of(problem, queries, LISTED), own, strict=True):
        yield _listed(int(query), *near, distance.tolist(), items)


def lists_of(result: Measured, given: Mapping[str, Any]) -> tuple[str, Rows, Rows | LabeledRows]:
    """Return what the lists contain, the lists, and their relevance, if they are those of the result."""
    name = "scores" if "scores" in given else "distances"
    given_by = [*map({"complete": False, **given}.get, _JUDGED_BY)]
    grouped_by = given.get("categories"), given.get("average", "micro")
    values, judged_by, grouped_by, _ = lists_in(name, given[name], given_by, grouped_by)
    rows = rounded_rows(values, name, result.setting.precision)
    judged = as_judged(rows, name, *judged_by[:-1])
    _check_same("distance", name, result.setting.distance)
    longest = rows.shape[1] if isinstance(rows, np.ndarray) else max(map(len, rows))
    _check_same("number of queries", len(rows), result.setting.queries)
    _check_same("number of items", longest, result.setting.gallery)
    origin = evaluate_lists(rows, name, judged_by, ["P@1"], grouped_by, result.setting.empty).origin
    _check_same("fingerprint", origin.fingerprint, result.fingerprint)
    _check_order(result, origin)
    return name, rows, judged


def _in_lists(result: Measured, places: IntArray, given: Mapping[str, Any]) -> Iterator[Nearest]:
    from tieproof.engine import nearest_of_numbers

    name, rows, judged = lists_of(result, given)
    sign = 1 if name == "scores" else -1
    _check_numbers(result, len(rows))
    for query in result.query_ids[places].tolist():
        row, (grades,) = np.asarray(rows[query]), judged[query : query + 1]
        numbers = in_float64(row[None], name, query)[0]
        item, tie = nearest_of_numbers(sign * numbers, np.flatnonzero(np.asarray(grades) < 0), LISTED)
        _, first = np.unique(tie, return_index=True)
        relevant = np.flatnonzero(np.asarray(grades) > 0)
        yield _listed(query, item, tie, row[item[first]].tolist(), relevant)


def run_of(result: Measured, given: Mapping[str, Any]) -> tuple[JudgedDocuments, Source, DocumentTable, list[str]]:
    """Return the judgments, the run, the table of its documents and all queries, if they are those of the result."""
    _check_same("distance", "scores", result.setting.distance)
    numbers = trec.numbering()
    options = result.evaluated.origin.options
    rules = ListRules.of(options.get("own", "keep"), options.get("duplicates", "error"), given.get("documents"))
    judged = read_qrels(given.get("qrels"), numbers, reads_judged(result.evaluated.per_query), rules)
    ranked, table = documents_of_run(given["run"], judged.rules, numbers)
    ranked = ranked._replace(value=rounded(ranked.value, result.setting.precision))
    names, nobody = list(map(decoded, numbers)), np.full(len(numbers), -1)
    origin = origin_of_run(judged, ranked_of(ranked, table, judged), np.array(names), nobody, {})
    _check_same("fingerprint", origin.fingerprint, result.fingerprint)
    return judged, ranked, table, names


def _in_run(result: Measured, places: IntArray, given: Mapping[str, Any]) -> Iterator[Nearest]:
    judged, ranked, _, names = run_of(result, given)
    number = {name: place for place, name in enumerate(names)}
    for query in result.query_ids[places].tolist():
        scores = _values_of(ranked.documents, ranked.value, number[query])
        yield of_run(query, scores, _values_of(judged.documents, judged.grade, number[query]))


def _values_of(documents: Documents, values: FloatArray, number: int) -> dict[str, float]:
    rows = np.flatnonzero(documents.query == number).tolist()
    return {documents.id(row).decode(errors="replace"): float(values[row]) for row in rows}


def of_run(query: str, scores: Mapping[str, float], grades: Mapping[str, float]) -> Nearest:
    """Return the documents of one query with the largest scores; tied documents are sorted by name."""
    from tieproof.engine import nearest_of_numbers

    names = sorted(scores)
    values = np.array([scores[name] for name in names], dtype=np.float64)
    item, tie = nearest_of_numbers(values, np.zeros(0, dtype=np.int64), LISTED)
    _, first = np.unique(tie, return_index=True)
    relevant = np.array([at for at, name in enumerate(names) if grades.get(name, 0) > 0], dtype=np.int64)
    nearest_items = _listed(query, item, tie, values[item[first]].tolist(), relevant, names.__getitem__)
    return nearest_items._replace(relevant=sum(grade > 0 for grade in grades.values()))


CALLS: dict[str, tuple[str, Callable[[Measured, IntArray, Mapping[str, Any]], Iterator[Nearest]]]] = {
    "embeddings": ("evaluate", _in_embeddings),
    "run": ("evaluate_run", _in_run),
    "scores": ("evaluate_scores", _in_lists),
    "distances": ("evaluate_distances", _in_lists),
}
"""The argument that identifies an evaluation, its function, and what finds the nearest items."""


def _check_numbers(result: Measured, n_queries: int) -> None:
    """Refuse queries that have names."""
    ids = result.query_ids
    if ids.dtype.kind not in "iu" or (len(ids) and not 0 <= ids.min() <= ids.max() < n_queries):
        raise InputError(
            f"The queries of this result have names, such as {ids.tolist()[0]!r}, but those of the data are "
            f"numbered 0 to {n_queries - 1}. Items can only be looked up for queries that are numbered."
        )


def _check_order(result: Measured, origin: Origin) -> None:
    """Refuse the same data in another order, which would show other items than those of each query."""
    evaluated = result.evaluated
    known, arrived = evaluated.origin.data, origin.data
    pairs: list[tuple[Any, Any]]
    if isinstance(known, Digests) and isinstance(arrived, Digests):  # of few rows, and not from a record
        pairs = [*zip(known.sides, arrived.sides, strict=True)]
    else:  # the order of a gallery is not checked
        pairs = [(evaluated.query_digests(), evaluated._replace(origin=origin).query_digests())]
    if not all(np.array_equal(one, other) for one, other in pairs):
        raise InputError(
            "The data is that of the result, but in another order, so that the wrong items would be shown for each "
            "query. Pass the data in the order of the evaluation."
        )


def _check_same(what: str, arrived: Any, expected: Any) -> None:
    if arrived != expected:
        raise InputError(
            f"The data is not that of the result: its {what} is {arrived}, but that of the result is {expected}. "
            "Pass the data of this result."
        )
