"""The means of a result in one order of its tied items: as a library prints them by its rule, or as orders are drawn.

result, the data again ──► the items of each tie in one order ──► rankings without ties ──► `Printed` or `OneOrderStd`
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, import_extra
from tieproof.evaluation.evaluated import EMPTY
from tieproof.evaluation.given_lists import list_parts
from tieproof.evaluation.measured import Measured
from tieproof.evaluation.nearest import data_of, lists_of, problem_of, run_of
from tieproof.evaluation.run_ties import join, join_judged, run_parts
from tieproof.evaluation.scoring import by_policy, reads_judged, score
from tieproof.inputs.judged_runs import ranked_of
from tieproof.inputs.lists import LabeledRows, Rows, as_limits
from tieproof.inputs.options import check_choice, check_whole
from tieproof.inputs.sources import Source
from tieproof.measures import Measure
from tieproof.ties import Array, FloatArray, IntArray, Parts

RULES = {
    "trec_eval": "as trec_eval 10.0 does: by document id, the largest first",
    "pytrec_eval": "as pytrec_eval and trec_eval up to 9.0.8 do, which round scores to single precision: by "
    "document id, the largest first",
    "ranx": "as Run of ranx does: in the order given in lists of up to 15 documents, in longer lists by a sort that "
    "is not stable",
    "descending": "by document id, the largest first",
    "ascending": "by document id, the smallest first",
    "position": "in the order given, as a stable sort does",
    "reversed": "in the reverse of the order given, as a stable sort does that is read from its end",
}
"""The rules by which ties are broken, in words: in which order items with equal scores are ranked."""

# The rules of programs that cut grades to whole numbers, and how they count the hits of IPrec.
READS_AS = {"trec_eval": "nearest", "pytrec_eval": "enough"}
WHOLE_GRADES = "fractions of grades are cut off, as trec_eval reads them"
OTHER_HITS = "the hits that have a recall are counted as that version of trec_eval does"
SINGLE_PRECISION = "scores that differ are equal in single precision"
"""What differs from an evaluation besides the order of equal scores."""

OF_LISTS = ("position", "reversed")  # the rules for lists, whose items have no ids


class Printed(Mapping[str, float]):
    """The mean of each measure if ties are broken by a rule, by the name of the measure; `Result.as_printed` has it.

    rule : the name of the rule
    meaning : in which order the rule ranks items with equal scores, in words
    differences : what else differs from the evaluation, in words
    """

    def __init__(self, rule: str, values: Measured, differences: Sequence[str]) -> None:
        self.rule, self.meaning, self._values = rule, RULES[rule], values
        self.differences = tuple(differences)

    def __getitem__(self, measure: str | Measure) -> float:
        """The mean; an unknown measure raises an InputError, also a KeyError."""
        return self._values[measure].expected

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def per_query(self, measure: str | Measure) -> FloatArray:
        """The value of every query, in the order of the result's `query_ids`."""
        return self._values.per_query(measure).expected

    def category_means(self, measure: str | Measure) -> dict[Any, float]:
        """The mean over the queries of each category."""
        return {name: mean.expected for name, mean in self._values.category_means(measure).items()}


def printed(result: Measured, rule: str, evaluated: Mapping[str, Any]) -> Printed:
    """Return what is printed by a rule; `evaluated` has the arguments of the evaluation by their names."""
    check_choice("rule", rule, RULES)
    call, options = result.evaluated.origin.call, "qrels, run"
    if call != "evaluate_run":
        options = f"{call.removeprefix('evaluate_')}, relevance"
        if call not in ("evaluate_scores", "evaluate_distances"):
            raise InputError(
                f"as_printed takes results of evaluate_run, evaluate_scores and evaluate_distances, not of {call}. "
                "Write the ranking as a run, and evaluate that."
            )
        if rule not in OF_LISTS:
            raise InputError(
                f"The rule '{rule}' needs the ids of documents, but lists of {options.split(',')[0]} have none. Use "
                f"{' or '.join(OF_LISTS)}, or evaluate_run.",
                "rule",
            )
    absent = [name for name in options.split(", ") if evaluated.get(name) is None and name != "relevance"]
    if absent:
        raise InputError(
            f"A result does not keep its data. Pass it again, by the names of the arguments: as_printed({rule!r}, "
            f"{', '.join(f'{name}=…' for name in options.split(', '))})."
        )
    measures = list(result.evaluated.per_query)
    used = [each(hits=READS_AS[rule]) if rule in READS_AS and each.name == "IPrec" else each for each in measures]
    differences = [OTHER_HITS] if used != measures else []
    with data_of(result, evaluated) as (_, given):
        if call == "evaluate_run":
            parts, count, further = _of_run(result, rule, given)
            differences += further
        else:
            parts, count = _of_lists(result, rule, given)
        return Printed(rule, without_ties(result, parts, count, dict(zip(measures, used, strict=True))), differences)


def without_ties(result: Measured, parts: Parts, count: int, measures: Mapping[Measure, Measure]) -> Measured:
    """Return the values of a result's queries in rankings without ties; `measures` has what is computed for each."""
    scores = score(parts, [*measures.values()], count)
    # Where a run is cut to whole grades, a query may lose all that is relevant, and then scores 0.
    of_run = result.evaluated.origin.call == "evaluate_run"
    nothing = np.isin(result.query_ids, result.empty_ids) if of_run else scores.n_relevant == 0
    values = scores.values[:, 1].copy()  # the expected values: of lists that were cut off, those of the given part
    for at in by_policy(measures, result.setting.empty):
        values[at, nothing] = EMPTY[result.setting.empty]
    kept = ~nothing if result.setting.empty == "skip" else slice(None)
    per_query = {
        measure: np.stack([row[kept], row[kept], row[kept], np.where(np.isnan(row[kept]), np.nan, 0.0)])
        for measure, row in zip(measures, values, strict=True)
    }
    return Measured(result.evaluated._replace(per_query=per_query, kept=None))


def _of_run(result: Measured, rule: str, given: Mapping[str, Any]) -> tuple[Parts, int, list[str]]:
    """Return the rankings of the documents of a run, the number of queries, and what differs from the evaluation."""
    judged, source, table, names = run_of(result, given)
    differences = []
    if rule in READS_AS:
        grade = np.trunc(judged.grade)
        differences += [WHOLE_GRADES] if (grade != judged.grade).any() else []
        judged = judged._replace(grade=grade, sought=grade >= 0)
    values = source.value
    if rule == "pytrec_eval":
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
        differences += [SINGLE_PRECISION] if _merges(source, values) else []
    place = {name: at for at, name in enumerate(result.query_ids.tolist())}
    number, count = np.array([place.get(name, -1) for name in names]), len(place)
    ranked = ranked_of(source._replace(value=-_ranks(source, values, rule)), table, judged)
    scores = join(judged, ranked, number, count)
    alone = join_judged(judged, ranked, number, scores) if reads_judged(result.evaluated.per_query) else None
    return run_parts(scores, result.query_ids, False, None, alone, with_unjudged=True), count, differences


def _merges(source: Source, values: Array) -> bool:
    order = np.lexsort((source.value, source.documents.query))
    query, scores, rounded = source.documents.query[order], source.value[order], values[order]
    return bool(((np.diff(query) == 0) & (scores[1:] > scores[:-1]) & (rounded[1:] == rounded[:-1])).any())


def _ranks(source: Source, values: Array, rule: str) -> FloatArray:
    """Return a number for each document, smaller the earlier a rule ranks it; `values` are the scores as compared."""
    query = source.documents.query
    key = np.arange(len(values))
    if rule == "reversed":
        key = -key
    elif rule == "ranx":
        key = _places_in_ranx(query, values)
    elif rule != "position":
        key = _places_of_ids(source, values)
        key = key if rule == "ascending" else -key
    ranks = np.empty(len(values))
    ranks[np.lexsort((key, -values, query))] = np.arange(len(values))
    return ranks


def _places_of_ids(source: Source, values: Array) -> IntArray:
    """Return numbers in the order of the ids of tied documents, by their bytes in UTF-8; 0 for all others."""
    documents = source.documents
    order = np.lexsort((values, documents.query))
    query, ordered = documents.query[order], values[order]
    equal = np.append(False, (query[1:] == query[:-1]) & (ordered[1:] == ordered[:-1]))
    tied = order[equal | np.append(equal[1:], False)]
    ids = np.empty(len(tied), dtype=object)
    ids[:] = [documents.id(row) for row in tied.tolist()]
    places = np.zeros(len(values), dtype=np.int64)
    places[tied[np.argsort(ids, kind="stable")]] = np.arange(len(tied))
    return places


def _places_in_ranx(query: IntArray, values: FloatArray) -> IntArray:
    """Return the place of each document in the list of its query, as ranx sorts it."""
    ranx, lists = import_extra("ranx", "The rule 'ranx'", "ranx"), dict[str, dict[str, float]]()
    for row, (of_query, value) in enumerate(zip(query.tolist(), values.tolist(), strict=True)):
        lists.setdefault(str(of_query), {})[str(row)] = value  # the ids do not matter to ranx
    places = np.empty(len(values), dtype=np.int64)
    for documents in ranx.Run(lists).run.values():
        places[[int(row) for row in documents]] = np.arange(len(documents))
    return places


def _of_lists(result: Measured, rule: str, given: Mapping[str, Any]) -> tuple[Parts, int]:
    name, rows, judged = lists_of(result, given)
    limits = as_limits(given.get("n_relevant"), given.get("n_items"), given.get("complete", False), len(rows))

    step = 1 if (rule == "position") == (name == "distances") else -1

    def ranks(row: Array) -> IntArray:
        numbers = np.empty(len(row), dtype=np.int64)
        numbers[np.lexsort((step * np.arange(len(row)), row))] = np.arange(len(row))
        return numbers

    ranked = np.stack([*map(ranks, rows)]) if isinstance(rows, np.ndarray) else [*map(ranks, rows)]
    return list_parts(ranked, judged, limits, name, name == "distances"), len(rows)


class OneOrderStd(NamedTuple):
    """The standard deviation of a mean over orders of the gallery; `Result.std_of_one_order` returns it."""

    std: float  # the standard deviation over the drawn orders, each of which ranks the tied items of all queries
    standard_error: float  # the standard error of `std`, because the orders are drawn
    draws: int  # the number of drawn orders


def std_of_one_order(
    result: Measured, measure: Measure, draws: int, seed: int, evaluated: Mapping[str, Any]
) -> OneOrderStd:
    """Return the standard deviation of the mean over drawn orders of all items; see `Result.std_of_one_order`."""
    check_whole("draws", draws, 2)
    check_whole("seed", seed, 0)
    with data_of(result, evaluated) as (kind, given):
        if kind == "run":
            raise InputError(
                "One order of the gallery breaks ties of embeddings and of matrices, not of a run, whose lists have "
                "few documents in common. as_printed tells what an order of their ids gives.",
                "run",
            )
        ties, judged = (_ties_of_embeddings if kind == "embeddings" else _ties_of_lists)(result, given)
        queries, items = ties.shape
        ties *= items  # so that the place of an item in an order can be added
        random, means = np.random.default_rng(seed), []
        for _ in range(draws):
            parts = list_parts(ties + random.permutation(items), judged, None, "distances", True)
            means.append(without_ties(result, parts, queries, {measure: measure})[measure].expected)
    return OneOrderStd(*_std_of(means), int(draws))


def _std_of(values: list[float]) -> tuple[float, float]:
    """Return the standard deviation of drawn values, and its standard error."""
    # The variance of the sample variance is (m4 - m2^2 (n - 3) / (n - 1)) / n (Mood, Graybill and Boes 1974, chapter
    # VI), and the error of its root follows by the derivative.
    n, mean = len(values), math.fsum(values) / len(values)
    squares = [(value - mean) * (value - mean) for value in values]
    variance, fourth = math.fsum(squares) / (n - 1), math.fsum(square * square for square in squares) / n
    error = max(0.0, fourth - variance * variance * (n - 3) / (n - 1)) / n
    return math.sqrt(variance), math.sqrt(error / variance) / 2 if variance else 0.0


def _ties_of_embeddings(result: Measured, given: Mapping[str, Any]) -> tuple[IntArray, Rows]:
    """Return the number of the tie of each item for each query, (q, n), and the grades, -1 for excluded items."""
    from tieproof.engine import neighbors_of

    problem = problem_of(result, given)
    shape = problem.relevance.n_queries, problem.relevance.n_items
    queries = np.arange(shape[0])
    block = problem.relevance.block(queries)
    ties, grades = np.zeros(shape, dtype=np.int64), np.full(shape, -1.0)
    for query, (near, _) in enumerate(neighbors_of(problem, queries, shape[1])):
        ties[query, near.item], grades[query, near.item] = near.tie, 0
    relevant = np.repeat(queries, np.diff(block.pointer)), block.items
    grades[relevant] = 1.0 if block.grades is None else block.grades
    return ties, grades


def _ties_of_lists(result: Measured, given: Mapping[str, Any]) -> tuple[IntArray, Rows | LabeledRows]:
    """Return the number of the tie of each column for each list, (q, n), and the relevance."""
    name, rows, judged = lists_of(result, given)
    if len({len(row) for row in rows}) > 1 or given.get("n_relevant") is not None:
        raise InputError(
            f"One order of the gallery needs a matrix of {name} with the same items in each row, and not lists of "
            "several lengths or lists that were cut off. Write the ranking as a run, with the ids of items.",
            name,
        )
    ties = np.stack([np.unique(row, return_inverse=True)[1] for row in rows])
    together = judged if isinstance(judged, LabeledRows) else np.stack([*judged])
    return (ties if name == "distances" else ties.max() - ties), together
