"""`evaluate_run`: judgments and the run of a system, from files, dictionaries or data frames.

qrels, run ──► inputs/judged_runs.py: id numbers and values, checked ──► run_checks.py: which queries count
           ──► run_ties.py: joined by (query, document), their ties ──► scoring.py ──► Result

Ids are only used to match queries and documents of the two inputs. So neither the ids, nor the order of the lines,
nor the ranks in a file can change a number.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from tieproof.errors import InputError, about, warn
from tieproof.evaluation import scoring
from tieproof.evaluation.evaluated import Setting
from tieproof.evaluation.fingerprints import origin_of_run
from tieproof.evaluation.noise import GradeLevels, check_noisy, parse_radius
from tieproof.evaluation.result import Result
from tieproof.evaluation.run_checks import check_cut, check_sides, choose, with_judgments, without_unjudged
from tieproof.evaluation.run_ties import RelevantScores, at_least, join, join_judged, run_parts
from tieproof.evaluation.scoring import Empty, score
from tieproof.inputs.categories import AVERAGES, Average, categories_of
from tieproof.inputs.ids import decoded
from tieproof.inputs.judged_runs import ReadOnce, read_qrels, read_run
from tieproof.inputs.labels import check_widths
from tieproof.inputs.list_rules import ListRules, Own
from tieproof.inputs.lists import Duplicates
from tieproof.inputs.options import Rounded, check_choice, check_rounded, plain
from tieproof.inputs.readers import trec
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.measures.graded_gains import is_graded

Missing = Literal["zero", "skip", "error"]
MISSING = ("zero", "skip", "error")  # how a query scores that has relevant documents but is missing from the run


def evaluate_run(
    qrels: Any,
    run: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    level: float | None = None,
    categories: Any = None,
    average: Average = "micro",
    missing: Missing = "zero",
    empty: Empty = "skip",
    truncated: bool | int = False,
    n_items: int | None = None,
    noise: float | None = None,
    precision: Rounded | None = None,
    own: Own = "keep",
    duplicates: Duplicates = "error",
    documents: Any = None,
) -> Result:
    """Score a run against relevance judgments; documents are ranked by their scores alone, and equal scores are ties.

    The rank column, the order of the lines and the names of documents do not affect the result. Every query of the
    qrels counts.

    Parameters
    ----------
    qrels : path of a file, {query: {document: grade}}, {query: {document, …}}, a data frame, or "ir_datasets:NAME"
        A set or a list of ids gives each document the grade 1.
        A document with a grade above 0 is relevant, with that gain. Documents with other grades, even negative ones,
        and documents without a judgment are not relevant, and remain in the ranking as in trec_eval
        (`evaluate_scores` excludes items with negative grades). Only bpref leaves out unjudged documents and negative
        grades, and counts only documents of grade 0 as not relevant. Relevant documents that are missing from the run
        count in R and were never retrieved. A line of a file is `query iteration document grade`, or, in a file of
        BEIR with its header, `query document grade`. "ir_datasets:trec-robust04" are the qrels of that data set of
        ir_datasets, and "mteb:SciFact" those of that task of MTEB; the libraries download them (extras `ir-datasets`
        and `mteb`). If an MTEB task leaves a document with the id of its query out of the list, it is left out.
    run : path of a file, {query: {document: score}}, {query: [document, …]}, a data frame, or a Run of ranx
        A list of ids is a ranking, the best first, without ties. A list of hits, dictionaries or objects with an id
        and a score, has the ties of its scores, and hits without scores are a ranking. The documents of a query may
        also be the answer of a search engine, a store of vectors or a reranker that contains the hits. They are cut
        off at the size of the search, so pass truncated=True, too. In place of a dictionary, pass a list: of entries
        that name their query, such as those of rank_llm, of rows of one document, or of the documents of the queries
        0, 1, …. Files in JSON (.json) or in lines of JSON (.jsonl) contain any of these.
        A line of another file is `query Q0 document rank score tag`; scores are read as the nearest float64. Three
        columns are `query document rank` if the ranks of every list go from 0 or 1 to its length, and otherwise
        `query document score`. Of a file {Task}_predictions.json of MTEB with several splits, the path and
        "subset/split", with a colon between them, name one; qrels that `write_qrels` wrote are read in the same way.
        Files may be packed by gzip, xz, bzip2 or zstd, or be alone in a .tar that is. Data frames have columns
        query_id (or qid, q_id, query-id), doc_id (docno, docid, corpus-id) and score, or, without it, rank, of which
        the smallest is the best; for qrels the last one is relevance (label, grade, rel, score).
    measures : names such as "AP", "P@10" or "nDCG(gain=exp)@10", or names of trec_eval: "map", "ndcg_cut.10"
        A string may contain several names, with commas between them, or name one of trec_eval's sets: "official",
        "set" or "all_trec". "recall@10" is "R@10", with a warning that says so.
    level : number above 0
        The smallest grade that is relevant, for all measures that do not read grades and have no parameter `rel`:
        "AP" becomes "AP(rel=2)" (as trec_eval -l). A query without such a document scores 0. By default all grades
        above 0 are relevant; that differs from 1, the default of trec_eval, where grades are fractions.
    categories : path of a file, {query: category}, or a data frame
        `result.category(name)` is the result of the queries of one category. Every query of the qrels needs a
        category. A line of a file is `query category`, where the category extends to the end of the line; a data
        frame has a column category.
    average : "micro" or "macro"
        The mean over all queries, or the mean over the categories of the means over their queries.
    missing : "zero", "skip" or "error"
        A query that has relevant documents but is missing from the run scores 0 in every estimate, is left out, or
        is refused.
    empty : as in `evaluate`
        How a query of the qrels with nothing relevant scores, in the run or not.
    truncated : bool or int
        By default a run is a complete ranking. True means that the list of each query was cut off at its length, so
        that documents outside it may be tied with its last one; 1000 means this of the lists of 1000 or more
        documents, and shorter lists are complete. `Judged`, `Unjudged` and `RBPResidual` describe the
        list as it is, and are then refused, as with `noise`. `lower` and `upper` then cover every continuation of
        the last tie, as in `evaluate_scores(n_relevant=)`, and `ties.queries_with_open_last_tie` counts the queries
        whose last tie may continue. Queries without any document in the run are still treated as `missing` says.
        `nDCG(ideal=list)` takes the ideal ranking from the list alone: it treats missing relevant documents that may
        continue the tie as any other document.
    n_items : int
        The number of documents in the collection, which limits how far the last tie can continue; only with
        `truncated`.
    noise : number
        The most by which each score of the run may be off. `result[measure].noise` then has the `lower` and the
        `upper` value over all rankings that are possible, decided without rounding. Documents that are missing from
        the run remain missing. Not with `truncated`.
    precision : "float32" or "float16"
        Scores are rounded to it first, and are tied where they are then equal. trec_eval before version 10, and
        pytrec_eval, compare scores as float32. By default scores are compared as float64.
    own : "keep" or "drop"
        Whether a document with the id of its query counts. "drop" leaves it out of the run and of the judgments, as
        for ArguAna and Quora of BEIR, where queries are documents.
    duplicates : "error" or "first"
        A document that occurs twice for a query is refused, or counts once, at its first place in the ranking; in
        qrels it must then have one grade.
    documents : {chunk: document}, a function, or the path of a file with a chunk and its document on each line
        The document of each chunk in the run, whose judgments name documents. A document counts once, with the score
        of its best chunk (MaxP); documents whose best chunks score the same are tied.

    Returns
    -------
    Result
        `query_ids` are strings, sorted. `not_in_run` names the judged queries that are missing from the run, whatever
        `missing` is; `skipped` names the queries of the run without judgments, and all others that no mean includes.

    Raises
    ------
    InputError
        If a line or a number is malformed, a score is NaN or infinity, a document occurs twice for a query, or the
        run has no query of the qrels; the message names the file and the line, what was expected and what to do.
        Also if the hits of a search have scores that increase along every list, as distances do, or if the qrels and
        the run are in different encodings.
        Also if a file changes while it is read (files are read whole, none is mapped into memory).

    Warns
    -----
    InputWarning
        If grades are fractions and all scores are small whole numbers: the qrels and the run were probably swapped.
        If ranks beside the scores contradict them in most lists: the message has the score by both. If three columns
        have whole numbers that are no ranks, or if comments have all columns of a line.
        If nearly all queries find a document with their own id first, and own="drop" changes a score.
        If no document of the run is judged for its query: the ids of documents are probably written differently, and
        the message shows one of each. If all lists have one length of ten or more, some of them end in a tie, and a
        relevant document is outside its list: the lists were probably cut off, and truncated=True says so.
        If a set of trec_eval has measures that tieproof does not have, or that cannot be computed for this run,
        which are then left out. If a measure is called recall@k.

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
    >>> evaluate_run({"q1": {"d1"}}, {"q1": ["d2", "d1"]}, measures=["RR"])["RR"].lower
    0.5
    >>> hits = {"q1": [{"id": "d2#0", "score": 0.9}, {"id": "d2#1", "score": 0.8}, {"id": "d1#0", "score": 0.7}]}
    >>> evaluate_run(qrels, hits, documents=lambda chunk: chunk.split("#")[0], measures=["RR"]).per_query("RR").lower
    array([0.5, 0. ])

    """
    named, of_sets = scoring.parse_with_sets(as_in_runs(measures))
    wanted, optional = at_level(named, level), frozenset(at_level(of_sets, level))
    scoring.check_whole_numbers(wanted, "the lists of a run")
    scoring.check_empty(empty)
    check_choice("average", average, AVERAGES)
    check_choice("missing", missing, MISSING)
    check_rounded(precision, noise)
    rules = ListRules.of(own, duplicates, documents)
    with about("n_items"):
        collection = _check_collection(truncated, n_items)
    truncated = np.asarray(truncated).item()  # of Python, for records
    for option, given in (("truncated", truncated), ("noise", noise is not None)):
        if given:
            wanted = without_unjudged(wanted, optional, option)
    of_unjudged = [each for each in wanted if each.definition.unjudged]
    radius = None if noise is None else parse_radius(noise, "the scores of the run")
    if radius is not None:
        check_noisy(wanted, bool(truncated))
    queries = trec.numbering()
    with about("qrels"):
        judged = read_qrels(qrels, queries, with_not_relevant=scoring.reads_judged(wanted), rules=rules)
        wanted = with_judgments(judged, wanted, optional)
    with about("run"):
        ranked = read_run(run, judged, queries)
        if ranked.ordered and (radius is not None or precision is not None):
            raise InputError(
                "The run has integers beyond 2**53 as scores, of which only the order is read, so that precision and "
                "noise do not apply. Subtract the same integer from all scores, or pass them as floats."
            )
        ranked = ranked.rounded(precision)
    check_sides(judged, ranked)
    if ranked.unlike is not None:
        warn(ranked.unlike)
    names_read = [decoded(name) for name in queries]
    check_widths(names_read, "The names of the queries")
    names = np.array(names_read)
    topics, number = choose(judged, ranked, names, missing, empty)
    ids = topics.ids
    with about("categories"):
        groups = categories_of(categories, ids.tolist(), average)
    scores = join(judged, ranked, number, len(ids))
    alone = join_judged(judged, ranked, number, scores) if scoring.reads_judged(wanted) else None
    sizes = len(ids) + sum(map(len, topics.left_out.values())), int(np.diff(scores.start).max())
    setting = Setting("scores", False, *sizes, dimensions=None, empty=empty, average=average, precision=precision)
    options = {"missing": missing, "truncated": truncated, "n_items": collection, **rules.recorded()}
    origin = origin_of_run(judged, ranked, names, number, options)

    def evaluated(wanted: list[Measure], scores: RelevantScores, truncated: int = truncated) -> Result:
        parts = run_parts(scores, ids, truncated, collection, alone, radius, bool(of_unjudged))
        levels = None
        if radius is not None:
            grades = np.concatenate([scores.grade, scores.missing_grade])
            levels = GradeLevels(
                grades, lambda level: run_parts(at_least(scores, level), ids, False, None, None, radius)
            )
        scored = score(parts, wanted, len(ids), optional, levels)
        return Result(scoring.as_evaluated(scored, setting, origin, topics, groups)._replace(said=ranked.said))

    result = evaluated(wanted, scores)
    if not truncated and radius is None:
        of_relevant = [each for each in wanted if each.definition.needs_relevant and each not in of_unjudged]

        def matters(measure: Measure) -> bool:
            return f"{evaluated([measure], scores, True)[measure]:.4f}" != f"{result[measure]:.4f}"

        check_cut(scores, of_relevant, run, matters)
    for other in ranked.others:
        for measure in [each for each in result.evaluated.per_query if not scoring.reads_judged([each])]:
            instead = evaluated([measure], join(other.judged, other.ranked, number, len(ids)))[measure]
            if other.always or instead != result[measure]:
                warn(f"{other.said} {measure} is {result[measure]:.4f}; {other.how} {instead:.4f}. {other.advice}")
                break
    return result


def evaluate_runs(qrels: Any, runs: Iterable[Any], **options: Any) -> Iterator[Result]:
    """Yield the result of each run against the same judgments, which are read once; options as in `evaluate_run`."""
    judged = ReadOnce(qrels)
    options["documents"] = ListRules.of("keep", "error", options.get("documents")).documents
    for run in runs:
        yield evaluate_run(judged, run, **options)


def as_in_runs(measures: Any) -> Any:
    """Return names of measures with recall@k as R@k, and say so: all libraries for runs mean that by it."""
    given = [measures] if isinstance(measures, str) else measures
    named = " ".join(one for one in given if isinstance(one, str)) if isinstance(given, list | tuple) else ""
    found = re.findall(r"(?i)\brecall@([0-9]+)", named)
    for k in found:
        warn(
            f"recall@{k} is R@{k}: the share of all relevant documents that are among the first {k}. For recall@{k} "
            f"of papers on metric learning, which is whether any of them is, write Success@{k}."
        )
    if not found:
        return measures
    return [re.sub(r"(?i)\brecall@", "R@", one) if isinstance(one, str) else one for one in given]


def at_level(measures: Iterable[Measure], level: float | None) -> list[Measure]:
    """Return the measures with this smallest relevant grade, unless they read grades or have one of their own."""
    if level is None:
        return list(measures)
    number = plain(level)
    is_number = isinstance(number, int | float | np.longdouble) and not isinstance(number, bool)
    if not is_number or not 0 < number <= sys.float_info.max:
        raise InputError(
            f"level must be the smallest grade that is relevant, a number above 0, not {level!r}.", "level"
        )

    def has_own(measure: Measure) -> bool:
        return measure.definition.graded or is_graded(measure) or measure.rel is not None

    return [measure if has_own(measure) else measure(rel=float(level)) for measure in measures]


def _check_collection(truncated: int, n_items: int | None) -> int | None:
    """Return the number of documents in the collection, if it is given; it is refused without `truncated`."""
    if not isinstance(truncated, int | np.integer | np.bool_) or truncated < 0:
        raise InputError(
            "truncated must be True or False, or the number of documents from which on a list was cut off, not "
            f"{truncated!r}.",
            "truncated",
        )
    if n_items is None:
        return None
    if not truncated:
        raise InputError(
            "n_items applies only to lists that were cut off. Pass truncated=True, too, or leave n_items out."
        )
    if isinstance(n_items, bool) or not isinstance(n_items, int | np.integer) or not 0 < n_items <= 2**53:
        raise InputError(f"n_items must be the number of documents in the collection, not {n_items!r}.")
    return int(n_items)
