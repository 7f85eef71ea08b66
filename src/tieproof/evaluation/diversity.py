"""`evaluate_diversity`: a run whose documents are judged for subtopics of each query.

qrels ──► the relevant subtopics of each document ──┐
run   ──► the ties that begin in the first k ranks ─┴► measures/diversity.py ──► the scores of each query, and means
"""

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress
from typing import Any

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.frames import as_frame, column_for
from tieproof.inputs.ids import as_ids, decoded
from tieproof.inputs.readers import trec
from tieproof.inputs.sources import QRELS as JUDGMENTS
from tieproof.inputs.sources import RUN, checked, warn_of_ranks
from tieproof.measures.diversity import NAMES, DiversityScore, GainScale, Kind, SubtopicTie, score_query
from tieproof.show.parts import count, fixed
from tieproof.show.shown import AsFrame, Shown, Table
from tieproof.ties import Array

QRELS = trec.TrecLayout("diversity qrels", ("query", "subtopic", "document", "grade"), "grade")


@dataclass(frozen=True, repr=False)
class Diversity(Shown, AsFrame):
    """Scores of a run with subtopics; `tieproof.evaluate_diversity` returns it.

    queries : the scores of each query, by its name and the name of the measure
    mean : the mean of each measure over these queries
    alpha : how much of the gain of a subtopic each document with it takes away
    not_in_run : the queries that are missing from the run, whose scores are 0
    skipped : the queries of the qrels without a relevant document
    """

    queries: dict[str, dict[str, DiversityScore]]
    mean: dict[str, DiversityScore]
    alpha: float
    not_in_run: list[str]
    skipped: list[str]

    def columns(self) -> dict[str, Array]:
        """The names of the queries, and columns for the values of each measure, as arrays of equal length."""
        values = {
            f"{measure}_{name}": np.array([getattr(scores[measure], name) for scores in self.queries.values()])
            for measure in self.mean
            for name in ("lower", "expected", "upper", "exact")
        }
        return {"query": np.array(list(self.queries)), **values}

    def _table(self) -> Table:
        numbers = ("lower", "expected", "upper")
        rows = [(measure, *(fixed(getattr(mean, name)) for name in numbers)) for measure, mean in self.mean.items()]
        wide = sum(not all(score.exact for score in scores.values()) for scores in self.queries.values())
        notes = [
            f"Left out: {count(len(self.skipped), 'query')} without a relevant document.",
            f"Scored 0: {count(len(self.not_in_run), 'query')} missing from the run.",
            f"The ties of {count(wide, 'query')} have too many orders: no order has a score outside the "
            "bounds, but the smallest and the largest score may be within them.",
            f"Means over {count(len(self.queries), 'query')} with alpha = {self.alpha:g}; lower, expected and upper "
            "are over all orders of tied documents.",
        ]
        applies = (self.skipped, self.not_in_run, wide, True)
        return Table(("measure", *numbers), [rows], [*compress(notes, applies)], numbers)

    def __repr__(self) -> str:
        """How many queries there are, and the bounds of the means."""
        means = ", ".join(f"{name} {fixed(mean.lower)} to {fixed(mean.upper)}" for name, mean in self.mean.items())
        return f"<Diversity over {count(len(self.queries), 'query')}: {means}>"


def evaluate_diversity(
    qrels: Any, run: Any, *, measures: Sequence[str] = ("alpha_nDCG@20", "ERR_IA@20"), alpha: float = 0.5
) -> Diversity:
    """Score a run whose documents are judged for subtopics of each query; equal scores are ties.

    Parameters
    ----------
    qrels : path of a TREC file, {query: {subtopic: {document: grade}}}, or a data frame
        A document with a grade above 0 is relevant to the subtopic, and grades above 1 count as 1. A line of a file
        is `query subtopic document grade`. Data frames have columns query_id, subtopic_id (or subtopic, iteration),
        doc_id and relevance, or other names that `evaluate_run` reads.
    run : path of a TREC file or of predictions, {query: {document: score}}, a data frame, or a Run of ranx
        As in `evaluate_run`: documents are ranked by their scores alone.
    measures : names such as "alpha_nDCG@20" or "ERR_IA@10", each with a cutoff from 1 to 100
        The names of ndeval, such as "alpha-nDCG@20", and "α_nDCG@20" mean the same. There are also nERR_IA and
        alpha_DCG.
    alpha : number from 0, below 1
        How much of the gain of a subtopic each document with it takes away.

    Returns
    -------
    Diversity
        `mean` and `queries` have lower, expected and upper score over all orders of tied documents, and whether
        lower and upper are exact. `expected` always is. Every query of the qrels counts that has a relevant document,
        as by ndeval -c; its score is 0 if it is missing from the run.

    Raises
    ------
    InputError
        If a line or a number is malformed, a document occurs twice for a query (in the qrels: for a subtopic), a
        grade is negative, nothing is relevant, the run has no query of the qrels, or a measure or alpha is wrong.

    Notes
    -----
    Definitions are those of ndeval (https://github.com/trec-web/trec-web-2014), which also refuses a negative grade
    (as a syntax error: `processQrels` in src/eval/ndeval.c). A document at rank r gains g_r, the
    sum over its subtopics of (1 - alpha)^c, where c documents before it have that subtopic. alpha_nDCG (Clarke et al.
    2008) is the sum of g_r / log2(r + 1) over ranks up to the cutoff, divided by that of a greedy ideal ranking, so
    that it can be above 1. ERR_IA (Chapelle et al. 2011) is the sum of g_r / r, divided by that of a ranking, which
    may not exist, in which every document has all subtopics. nERR_IA and alpha_DCG exchange the two divisors.

    Examples
    --------
    >>> import tieproof as tp
    >>> qrels = {"q1": {"fruit": {"d1": 1, "d2": 1}, "company": {"d3": 1}}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.5, "d3": 0.5}}
    >>> found = tp.evaluate_diversity(qrels, run, measures=["ERR_IA@2"])
    >>> found.mean["ERR_IA@2"]
    DiversityScore(lower=0.5, expected=0.55, upper=0.6, exact=True)
    >>> found.queries["q1"]["ERR_IA@2"].upper
    0.6

    """
    wanted = _parse(measures)
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.integer | np.floating) or not 0 <= alpha < 1:
        raise InputError(f"alpha must be a number of at least 0 and below 1, such as 0.5, not {alpha!r}.", "alpha")
    with about("qrels"):
        judged = _read_qrels(qrels)
    deepest = max(cutoff for _, cutoff in wanted.values())
    with about("run"):
        ties = _read_ties(run, judged, deepest)
    names = sorted((decoded(query), query) for query in judged)
    relevant = [(name, query) for name, query in names if judged[query]]
    if not relevant:
        raise InputError("The qrels have no relevant document: no grade is above 0. Check the grades.", "qrels")
    if not any(query in ties for _, query in names):
        raise InputError(
            f"The run has no query of the qrels, such as '{names[0][0]}'. Check that the qrels and the run belong "
            "together.",
            ("qrels", "run"),
        )
    scales = {cutoff: GainScale.of(Fraction(str(alpha)), cutoff) for _, cutoff in wanted.values()}
    scores = {
        name: {
            measure: score_query(judged[query], ties.get(query, []), which, scales[cutoff])
            for measure, (which, cutoff) in wanted.items()
        }
        for name, query in relevant
    }
    means = {measure: _mean_of([of_query[measure] for of_query in scores.values()]) for measure in wanted}
    absent = [name for name, query in relevant if query not in ties]
    return Diversity(scores, means, float(alpha), absent, [name for name, query in names if not judged[query]])


def _mean_of(scores: Sequence[DiversityScore]) -> DiversityScore:
    lower, expected, upper = (
        math.fsum(getattr(score, name) for score in scores) / len(scores) for name in ("lower", "expected", "upper")
    )
    return DiversityScore(lower, expected, upper, all(score.exact for score in scores))


def _parse(measures: Any) -> dict[str, tuple[str, int]]:
    wanted = {}
    several = isinstance(measures, Sequence) and not isinstance(measures, str)
    for name in map(str.strip, ",".join(map(str, measures if several else [measures])).split(",")):
        measure, _, cutoff = name.replace("-", "_").replace("α", "alpha").partition("@")
        if measure not in NAMES or not re.fullmatch("[1-9][0-9]?|100", cutoff):
            raise InputError(
                f"{name!r} is not one of {', '.join(NAMES)} with a cutoff from 1 to 100, such as 'alpha_nDCG@20'.",
                "measures",
            )
        wanted[name] = measure, int(cutoff)
    return wanted


def _read_qrels(qrels: Any) -> dict[bytes, dict[bytes, Kind]]:
    judged: dict[bytes, dict[bytes, set[str]]] = defaultdict(lambda: defaultdict(set))
    seen: set[tuple[bytes, str, bytes]] = set()
    for query, subtopic, document, grade in _judgments(qrels):
        where = f"document '{document.decode(errors='replace')}' and subtopic '{subtopic}' of query "
        where += f"'{query.decode(errors='replace')}'"
        if (query, subtopic, document) in seen:
            raise InputError(f"The qrels have two grades for {where}. Keep one of them.")
        if not isinstance(grade, int | float | np.integer | np.floating) or not 0 <= grade < math.inf:
            raise InputError(
                f"The qrels have the grade {grade!r} for {where}. Grades must be finite numbers of at least 0, as "
                "for ndeval; write 0 for a document that is not relevant, also for spam."
            )
        seen.add((query, subtopic, document))
        documents = judged[query]
        if grade > 0:
            documents[document].add(subtopic)
    return {query: {name: frozenset(of) for name, of in documents.items()} for query, documents in judged.items()}


def _judgments(qrels: Any) -> Iterator[tuple[bytes, str, bytes, Any]]:
    """Yield the query, subtopic, document and grade of each judgment."""
    if isinstance(qrels, str | os.PathLike):
        queries = trec.numbering()
        documents, grades, *_ = trec.read(qrels, QRELS, queries)
        names, text = list(queries), documents.text.tobytes()
        rows = zip(documents.query.tolist(), documents.at.tolist(), grades.tolist(), strict=True)
        for row, (query, at, grade) in enumerate(rows):
            before = text[text.rfind(b"\n", 0, at) + 1 : at].rstrip()
            subtopic = before.rpartition(b"\t")[2] if b"\t" in before else before.split()[-1]
            yield names[query], subtopic.decode(errors="replace"), documents.id(row), grade
        return
    qrels = as_frame(qrels)
    if hasattr(qrels, "columns"):
        owner, of_ids = JUDGMENTS.name, ("query", "subtopic", "document")
        columns = [column_for(qrels, what, owner).tolist() for what in (*of_ids, "grade")]
        ids = [as_ids(column, owner, what) for column, what in zip(columns, of_ids, strict=False)]
        for query, subtopic, document, grade in zip(*ids, columns[-1], strict=True):
            yield query.encode(errors="surrogatepass"), subtopic, document.encode(errors="surrogatepass"), grade
        return
    levels = [qrels, *(qrels.values() if isinstance(qrels, Mapping) else ())]
    levels += [grades for subtopics in levels[1:] if isinstance(subtopics, Mapping) for grades in subtopics.values()]
    wrong = [type(level).__name__ for level in levels if not isinstance(level, Mapping)]
    if wrong:
        raise InputError(
            "The qrels must be the path of a file, a data frame or {query: {subtopic: {document: grade}}}, but "
            f"{wrong[0]} stands in place of a dictionary. evaluate_run takes qrels without subtopics."
        )
    for query, subtopics in qrels.items():
        for subtopic, grades in subtopics.items():
            for document, grade in grades.items():
                query_id, document_id = (str(name).encode(errors="surrogatepass") for name in (query, document))
                yield query_id, str(subtopic), document_id, grade


def _read_ties(
    run: Any, judged: Mapping[bytes, Mapping[bytes, Kind]], deepest: int
) -> dict[bytes, list[SubtopicTie]]:
    """Return the ties of each judged query of the run that begin at rank `deepest` or above, best first."""
    queries = trec.numbering()
    source, _ = checked(run, RUN, queries)
    warn_of_ranks(source, queries)
    order = np.argsort(source.documents.query, kind="stable")
    spans = np.split(order, np.searchsorted(source.documents.query[order], np.arange(1, len(queries))))
    found: dict[bytes, list[SubtopicTie]] = {}
    for query, rows in zip(queries, spans, strict=True):
        if query not in judged or not len(rows):
            continue
        score = source.value[rows]
        if len(rows) > deepest:
            kept = score >= np.partition(score, len(rows) - deepest)[len(rows) - deepest]
            rows, score = rows[kept], score[kept]
        levels, place = np.unique(-score, return_inverse=True)
        ties = [SubtopicTie(size, Counter()) for size in np.bincount(place, minlength=len(levels)).tolist()]
        for at, row in zip(place.tolist(), rows.tolist(), strict=True):
            kind = judged[query].get(source.documents.id(row))
            if kind is not None:
                ties[at].kinds[kind] += 1
        found[query] = ties
    return found
