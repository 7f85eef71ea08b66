"""`evaluate_run`: judgments and the run of a system, from TREC files, dictionaries or data frames.

qrels, run ──► inputs/judged_runs.py: id numbers and values, checked ──► choose: which queries count
           ──► run_ties.py: joined by (query, document), their ties ──► scoring.py ──► Result

Ids only ever serve to find the same query and the same document again. So neither they, nor the order of the
lines, nor the ranks in a file can change a number.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.calls.fingerprints import origin_of_run
from tieproof.calls.run_ties import join, join_judged, run_parts
from tieproof.calls.scoring import Empty, Names, check_empty, make_result, of_judged_items, parse_measures, score
from tieproof.errors import InputError, about, warn
from tieproof.inputs.categories import Average, check_average
from tieproof.inputs.judged_runs import JudgedDocuments, RankedDocuments, read_qrels, read_run
from tieproof.inputs.options import check_choice
from tieproof.inputs.readers import trec
from tieproof.inputs.run_categories import categories_of
from tieproof.inputs.run_sources import decoded
from tieproof.inputs.strings import check_widths
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.measures.list_ends import estimate
from tieproof.results.evaluated import NOT_IN_RUN, NOT_JUDGED, Setting
from tieproof.results.results import Result
from tieproof.ties import BoolArray, IntArray

Missing = Literal["zero", "skip", "error"]
MISSING = ("zero", "skip", "error")
"""What becomes of a query that has relevant documents and none in the run."""

USUAL_GRADES = -2, 10
"""The whole numbers that assessors give."""


def evaluate_run(
    qrels: Any,
    run: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    categories: Any = None,
    average: Average = "micro",
    missing: Missing = "zero",
    empty: Empty = "skip",
    truncated: bool = False,
    n_items: int | None = None,
) -> Result:
    """Score a run against relevance judgments: the score decides, equal scores are ties, and nothing else matters.

    The rank column, the order of the lines and the names of documents are never looked at. Every query of the
    qrels counts.

    Parameters
    ----------
    qrels : path of a TREC file, {query: {document: grade}}, a data frame, or Qrels of ranx
        A grade above 0 is relevant, with that gain. All others, the negative ones and the documents without a
        judgment too, are not relevant, and remain in the ranking as in trec_eval (`evaluate_scores` excludes what
        has a negative grade); only bpref leaves both out, and counts those of grade 0 alone as not relevant.
        Relevant documents that the run lacks count in R and were never retrieved.
        A line of a file is `query iteration document grade`, or that of BEIR below its header.
    run : path of a TREC file, {query: {document: score}}, a data frame, or a Run of ranx
        A line of a file is `query Q0 document rank score tag`; its scores become the nearest float64. Files may be
        packed by gzip. Frames have a column query_id (or qid, q_id, query-id), doc_id (docno, docid, corpus-id), and
        score, or for qrels relevance (label, grade, rel, score).
    measures : names such as "AP", "P@10" or "nDCG(gain=exp)@10", or as trec_eval has them: "map", "ndcg_cut.10"
        A string may name several, with commas between them.
    categories : path of a file, {query: category}, or a data frame
        `result.category(name)` is the result of the queries of one category. Every query of the qrels needs one.
        A line of a file is `query category`, the category up to its end; a frame has a column category.
    average : "micro" or "macro"
        The mean over all queries, or over the categories of the means over their queries.
    missing : "zero", "skip" or "error"
        A query with relevant documents and none in the run scores 0 in every estimate, is left out, or is refused.
    empty : as in `evaluate`
        What becomes of a query of the qrels with nothing relevant, whether or not it is in the run.
    truncated : bool
        By default a run is the whole ranking that was handed in. True says that each query's list was cut off by
        its length, so that documents outside it may be tied with its last one: `lower` and `upper` then cover all
        ways in which the last tie may go on, as in `evaluate_scores(n_relevant=)`, and
        `ties.queries_with_open_last_tie` counts the queries that this concerns. Queries without any document in
        the run stay what `missing` says. `nDCG(ideal=list)` judges the list by itself: for it, the missing relevant
        documents that may go on with the tie are like any other.
    n_items : int
        Documents in the collection, where a last tie that goes on ends at the latest; only with `truncated`.

    Returns
    -------
    Result
        `query_ids` are strings, sorted. `not_in_run` names the judged queries that the run leaves out, whatever
        `missing` is; `skipped` names the queries of the run without judgments, and the others that no mean includes.

    Raises
    ------
    InputError
        Malformed lines and numbers, NaN or infinity, a document twice for one query, a run without any query of
        the qrels: with the file and the line, what was expected and what to do. A file that changes while it is read
        (whole: none is mapped into memory).

    Warns
    -----
    InputWarning
        Fractional grades, and a run of small whole numbers: probably one was passed for the other.

    Notes
    -----
    The file formats and what counts as relevant are those of trec_eval (https://github.com/usnistgov/trec_eval),
    which breaks ties by document id; here every order of tied documents counts.

    Examples
    --------
    >>> import tieproof as tp
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.5}}
    >>> result = evaluate_run(qrels, run, measures=["RR"])
    >>> result.per_query("RR").lower.tolist(), result.per_query("RR").upper.tolist()
    ([0.5, 0.0], [1.0, 0.0])
    >>> result.query_ids.tolist()
    ['q1', 'q2']
    >>> result.not_in_run.tolist()
    ['q2']

    """
    wanted = parse_measures(measures)
    judged_only = of_judged_items(wanted)
    check_empty(empty)
    check_average(average)
    check_choice("missing", missing, MISSING)
    with about("n_items"):
        collection = check_collection(truncated, n_items)
    queries = trec.numbering()
    with about("qrels"):
        judged = read_qrels(qrels, queries, others=bool(judged_only))
        check_judged(judged, judged_only)
    with about("run"):
        ranked = read_run(run, judged, queries)
    check_sides(judged, ranked)
    decoded_names = [decoded(name) for name in queries]
    check_widths(decoded_names, "The names of the queries")
    names = np.array(decoded_names)
    topics = choose(judged, ranked, names, missing, empty)
    ids = topics.names.ids
    with about("categories"):
        groups = categories_of(categories, ids.tolist(), average)
    scores = join(judged, ranked, topics.number, len(ids))
    setting = Setting(
        distance="scores",
        leave_one_out=False,
        queries=len(ids) + sum(map(len, topics.names.left_out.values())),
        gallery=int(np.diff(scores.start).max()),
        dimensions=None,
        empty=empty,
        average=average,
    )
    options = {"missing": missing, "truncated": truncated, "n_items": collection}
    origin = origin_of_run(judged, ranked, names, topics.number, options)
    alone = join_judged(judged, ranked, topics.number, scores) if judged_only else None
    parts = run_parts(scores, ids, truncated, collection, alone)
    scored = score(parts, wanted, len(ids), estimate)
    return make_result(scored, setting, origin, names=topics.names, categories=groups)


def check_collection(truncated: bool, n_items: int | None) -> int | None:
    """The number of documents that can be ranked, if it matters and is known."""
    if n_items is None:
        return None
    if not truncated:
        raise InputError(
            "n_items says where the last tie of a list that was cut off ends. Pass truncated=True, too, or leave it "
            "out."
        )
    if isinstance(n_items, bool) or not isinstance(n_items, int | np.integer) or not 0 < n_items <= 2**53:
        raise InputError(f"n_items must be the number of documents in the collection, not {n_items!r}.")
    return int(n_items)


def check_judged(judged: JudgedDocuments, measures: Sequence[Measure]) -> None:
    """Refuse measures that compare relevant documents with those judged not relevant where none was."""
    if measures and not (judged.grade == 0).any():
        raise InputError(
            f"'{measures[0]}' counts the documents that were judged not relevant above each relevant one, and the "
            "qrels have no document of grade 0. Take a measure that counts all others as not relevant, such as AP."
        )


def check_sides(judged: JudgedDocuments, ranked: RankedDocuments) -> None:
    """Warn where the qrels look like a run and the run like qrels."""
    fractions, scores = judged.grade[judged.grade != np.rint(judged.grade)], ranked.score
    if not len(fractions):
        return
    like_grades = (scores == np.rint(scores)) & (scores >= USUAL_GRADES[0]) & (scores <= USUAL_GRADES[1])
    if like_grades.all():
        warn(
            f"The qrels have fractional grades, such as {fractions[0]:g}, and all scores of the run are small "
            "whole numbers: probably one was passed for the other. Pass the qrels first, then the run."
        )


class Topics(NamedTuple):
    """The evaluated queries, Q of them, and the others.

    names : their ids, each kind sorted
    number : the position 0 … Q-1 of each query that was read; -1 where it is not evaluated
    """

    names: Names
    number: IntArray


def choose(
    judged: JudgedDocuments, ranked: RankedDocuments, names: npt.NDArray[np.str_], missing: str, empty: str
) -> Topics:
    """Which queries are evaluated, by the policies."""

    def holds(query: IntArray) -> BoolArray:
        return np.bincount(query, minlength=len(names)) > 0

    has_judgment, in_run = holds(judged.documents.query), holds(ranked.query)
    has_relevant = holds(judged.documents.query[judged.grade > 0])
    absent = has_relevant & ~in_run
    if not (has_judgment & in_run).any():
        raise InputError(
            f"The run has no query of the qrels: these have queries such as '{min(names[has_judgment])}', and the "
            f"run such as '{min(names[in_run])}'. Check that they belong together."
        )
    if missing == "error" and absent.any():
        raise InputError(
            f"{absent.sum()} of {has_judgment.sum()} queries of the qrels have no document in the run, the first is "
            f"'{min(names[absent])}'. Complete the run, or let missing be zero or skip."
        )
    barren = has_judgment & ~has_relevant
    if empty == "error" and barren.any():
        raise InputError(
            f"{barren.sum()} of {has_judgment.sum()} queries have no relevant document in the qrels, the first is "
            f"'{min(names[barren])}'. Leave them out, or let empty be skip, zero or one."
        )
    left_out = {NOT_IN_RUN: absent & (missing == "skip"), NOT_JUDGED: in_run & ~has_judgment}
    evaluated = has_judgment & ~left_out[NOT_IN_RUN]
    if empty in ("skip", "nan") and not (evaluated & has_relevant).any():
        raise InputError(
            "No query has a relevant document in the qrels (a grade above 0) and any document in the run. Check the "
            "grades, and that the qrels and the run belong together."
        )
    order = np.argsort(names[evaluated])
    number = np.full(len(names), -1)
    number[np.flatnonzero(evaluated)[order]] = np.arange(len(order))
    reasons = {reason: np.sort(names[which]) for reason, which in left_out.items()}
    return Topics(Names(names[evaluated][order], reasons, np.sort(names[has_judgment & ~in_run])), number)
