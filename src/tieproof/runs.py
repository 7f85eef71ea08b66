"""`evaluate_run`: judgments and the run of a system, from TREC files, dictionaries or data frames.

qrels, run ──► sources: id numbers and values, checked ──► joined by (query, document) ──► Ties ──► Result

Ids only ever serve to find the same query and the same document again. So neither they, nor the order of the
lines, nor the ranks in a file can change a number.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.arrays import as_numbers
from tieproof.errors import InputError
from tieproof.lists import as_floats, cut_off, estimate
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.readers import trec
from tieproof.readers.trec import Columns, Layout, Numbers
from tieproof.relevance import pointers
from tieproof.result import Result, Setting
from tieproof.scoring import Empty, Parts, check_empty, parse_measures, score
from tieproof.ties import Ties

Missing = Literal["zero", "skip", "error"]
MISSING = ("zero", "skip", "error")
"""What becomes of a query that has relevant documents and none in the run."""

NOT_IN_RUN, NOT_JUDGED = "no document in the run", "no judgment in the qrels"

COLUMNS = {
    "query": ("query_id", "qid", "q_id"),
    "document": ("doc_id", "docno", "docid"),
    "grade": ("relevance", "label", "grade", "rel", "score"),
    "score": ("score",),
}
"""Columns of data frames as tieproof, ir_measures, ranx, PyTerrier and pytrec_eval call them; the first that is
there is read."""

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def evaluate_run(
    qrels: Any,
    run: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
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
    qrels : path of a TREC file, {query: {document: grade}}, or a data frame
        A grade above 0 is relevant, with that gain. All others, the negative ones and the documents without a
        judgment too, are not relevant, and remain in the ranking as in trec_eval (`evaluate_scores` excludes what
        has a negative grade). Relevant documents that the run lacks count in R and were never retrieved.
        A line of a file is `query iteration document grade`.
    run : path of a TREC file, {query: {document: score}}, or a data frame
        A line of a file is `query Q0 document rank score tag`; its scores become the nearest float64. Files may be
        packed by gzip. Frames have a column query_id (or qid, q_id), doc_id (docno, docid), and score, or for
        qrels relevance (label, grade, rel, score).
    measures : names such as "AP", "P@10" or "nDCG(gain=exp)@10"
    missing : "zero", "skip" or "error"
        A query with relevant documents and none in the run scores 0 in every estimate, is left out, or is refused.
    empty : as in `evaluate`
        What becomes of a query of the qrels with nothing relevant, whether or not it is in the run.
    truncated : bool
        By default a run is the whole ranking that was handed in. True says that each query's list was cut off by
        its length, so that documents outside it may be tied with its last one: `lower` and `upper` then cover all
        ways in which the last tie may go on, as in `evaluate_scores(n_relevant=)`, and
        `ties.queries_with_open_last_tie` counts the queries that this concerns. Queries without any document in
        the run stay what `missing` says.
    n_items : int
        Documents in the collection, where a last tie that goes on ends at the latest; only with `truncated`.

    Returns
    -------
    Result
        `query_ids` are strings, sorted. `skipped` names the queries of the run without judgments, and the others
        that are left out.

    Raises
    ------
    InputError
        Malformed lines and numbers, NaN or infinity, a document twice for one query, a run without any query of
        the qrels: with the file and the line, what was expected and what to do.

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

    """
    wanted = parse_measures(measures)
    check_empty(empty)
    if missing not in MISSING:
        raise InputError(f"Unknown missing={missing!r}. Known: {', '.join(MISSING)}.")
    collection = check_collection(truncated, n_items)
    queries, documents = trec.numbering(), trec.numbering()
    judged = read(qrels, QRELS, queries, documents)
    ranked = read(run, RUN, queries, documents)
    names = np.array([decoded(name) for name in queries])
    topics = choose(judged, ranked, names, missing, empty)
    pairs = join(judged, ranked, topics.number, len(documents))
    setting = Setting(
        distance="scores",
        leave_one_out=False,
        queries=len(topics.names) + sum(map(len, topics.left_out.values())),
        gallery=int(np.bincount(pairs.query, minlength=1).max()),
        dimensions=None,
        empty=empty,
    )
    parts = run_parts(pairs, topics.names, truncated, collection)
    return score(parts, wanted, setting, 0, estimate, topics.names, topics.left_out)


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


# ---- What people hand in: files, dictionaries, data frames ----


class Role(NamedTuple):
    """What the qrels are, or the run: how messages call them, their file's layout, what their values are."""

    name: str
    verb: str
    layout: Layout
    value: Literal["grade", "score"]


QRELS = Role("The qrels", "are", trec.QRELS, "grade")
RUN = Role("The run", "is", trec.RUN, "score")


@dataclass(frozen=True)
class Source:
    """Ids and values of a file, a dictionary or a frame.

    name : what messages call it
    place : says where the given rows stand, such as ", on line 3"
    """

    columns: Columns
    name: str
    place: Callable[[Sequence[int]], str]


def read(values: Any, role: Role, queries: Numbers, documents: Numbers) -> Columns:
    """The columns of the qrels or of the run, checked."""
    for kind, source_of in SOURCES:
        if kind(values):
            source = source_of(values, role, queries, documents)
            break
    else:
        raise InputError(
            f"{role.name} must be the path of a TREC file, a dictionary {{query: {{document: {role.value}}}}} or a "
            f"data frame, not {type(values).__name__}."
        )
    check_finite(source, role, queries, documents)
    check_distinct(source, queries, documents)
    return source.columns


def from_file(path: Any, role: Role, queries: Numbers, documents: Numbers) -> Source:
    """A TREC file."""

    def place(rows: Sequence[int]) -> str:
        return located("line", [trec.line_of(path, role.layout, row) for row in rows])

    return Source(trec.read(path, role.layout, queries, documents), os.fsdecode(path), place)


def from_dictionary(values: Mapping[Any, Any], role: Role, queries: Numbers, documents: Numbers) -> Source:
    """A dictionary of dictionaries."""
    for name, inner in values.items():
        if not isinstance(inner, Mapping):
            raise InputError(
                f"{role.name} must be {{query: {{document: {role.value}}}}}, and query {name!r} holds "
                f"{type(inner).__name__}, not a dictionary."
            )
    lengths = [len(inner) for inner in values.values()]
    columns = Columns(
        np.repeat(numbered(list(values), queries, role, "query"), lengths),
        numbered([name for inner in values.values() for name in inner], documents, role, "document"),
        as_values([value for inner in values.values() for value in inner.values()], role),
    )
    return Source(columns, role.name, lambda rows: "")


def from_frame(frame: Any, role: Role, queries: Numbers, documents: Numbers) -> Source:
    """A data frame of pandas, or of any library whose columns have `to_numpy`."""

    def column(what: str) -> Any:
        for name in COLUMNS[what]:
            if name in frame.columns:
                return frame[name].to_numpy()
        raise InputError(
            f"{role.name} must have a column for the {what}, called {' or '.join(COLUMNS[what])}. The "
            f"columns are {', '.join(map(str, frame.columns)) or 'none'}; rename one."
        )

    columns = Columns(
        numbered(column("query").tolist(), queries, role, "query"),
        numbered(column("document").tolist(), documents, role, "document"),
        as_values(column(role.value), role),
    )
    return Source(columns, role.name, lambda rows: located("row", rows))


SOURCES: tuple[tuple[Callable[[Any], bool], Callable[[Any, Role, Numbers, Numbers], Source]], ...] = (
    (lambda values: isinstance(values, str | os.PathLike), from_file),
    (lambda values: isinstance(values, Mapping), from_dictionary),
    (lambda values: hasattr(values, "columns"), from_frame),
)
"""How to recognise each form, and how to read it."""


def numbered(names: list[Any], numbers: Numbers, role: Role, what: str) -> IntArray:
    """The numbers of ids, which are strings or integers; 7 and "7" are the same."""
    for kind in set(map(type, names)) - {str, int}:
        wrong = next(name for name in names if type(name) is kind)
        if isinstance(wrong, bool) or not isinstance(wrong, str | int | np.integer):
            raise InputError(
                f"{role.name} must name every {what} by a string or an integer, and one is {wrong!r}. Convert them "
                "with .astype(str), and leave out rows without a name."
            )
    encoded = (str(name).encode(errors="surrogatepass") for name in names)
    return np.fromiter(map(numbers.__getitem__, encoded), np.int64, len(names))


def as_values(values: Any, role: Role) -> FloatArray:
    """Scores or grades in float64, the order of integers unchanged."""
    if len(values) == 0:
        raise InputError(f"{role.name} {role.verb} empty. At least one {role.value} is needed.")
    numbers = as_numbers(values, f"{role.value}s")
    whole = numbers.dtype.kind in "iu"
    return as_floats(numbers, "relevance" if role is QRELS else "scores", 0) if whole else numbers.astype(np.float64)


def located(what: str, numbers: Sequence[int]) -> str:
    """Words for where rows stand."""
    preposition = "on" if what == "line" else "in"
    return f", {preposition} {what}{'s' if len(numbers) > 1 else ''} {' and '.join(map(str, numbers))}"


def check_finite(source: Source, role: Role, queries: Numbers, documents: Numbers) -> None:
    """Refuse NaN and infinity."""
    finite = np.isfinite(source.columns.value)
    if not finite.all():
        row = int(np.argmin(finite))
        query, document, value = (column[row] for column in source.columns)
        raise InputError(
            f"{source.name}: the {role.value} of document '{name_of(documents, document)}' for query "
            f"'{name_of(queries, query)}' is {value}{source.place([row])}. Every {role.value} must be a finite "
            "number; leave the document out where there is none."
        )


def check_distinct(source: Source, queries: Numbers, documents: Numbers) -> None:
    """Refuse a document that is named twice for one query."""
    code = source.columns.query * len(documents) + source.columns.document
    ordered = np.sort(code)
    if not (ordered[1:] == ordered[:-1]).any():
        return
    order = np.argsort(code, kind="stable")
    again = np.flatnonzero(code[order][1:] == code[order][:-1])
    at = again[np.argmin(order[again + 1])]
    rows = order[at : at + 2].tolist()
    query, document = source.columns.query[rows[0]], source.columns.document[rows[0]]
    raise InputError(
        f"{source.name}: document '{name_of(documents, document)}' occurs twice for query "
        f"'{name_of(queries, query)}'{source.place(rows)}. Keep one of them."
    )


def name_of(numbers: Numbers, number: int) -> str:
    """The id that has a number."""
    return list(numbers)[number].decode(errors="replace")


def decoded(name: bytes) -> str:
    """A query's id as text."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise InputError(
            f"The query '{name.decode(errors='replace')}' is not written in UTF-8. Convert the file to UTF-8."
        ) from None


# ---- Which queries count, and their ties ----


class Topics(NamedTuple):
    """The evaluated queries.

    names : (Q,) their ids, sorted
    number : the position 0 … Q-1 of each query that was read; -1 where it is not evaluated
    left_out : ids of all others, by the reason
    """

    names: npt.NDArray[np.str_]
    number: IntArray
    left_out: dict[str, npt.NDArray[np.str_]]


def choose(judged: Columns, ranked: Columns, names: npt.NDArray[np.str_], missing: str, empty: str) -> Topics:
    """Which queries are evaluated, by the policies."""

    def holds(query: IntArray) -> npt.NDArray[np.bool_]:
        return np.bincount(query, minlength=len(names)) > 0

    has_judgment, in_run = holds(judged.query), holds(ranked.query)
    has_relevant = holds(judged.query[judged.value > 0])
    absent = has_relevant & ~in_run
    if not (has_judgment & in_run).any():
        raise InputError(
            f"The run has no query of the qrels: these have queries such as '{min(names[has_judgment])}', and the "
            f"run such as '{min(names[in_run])}'. Check that they belong together."
        )
    if missing == "error" and absent.any():
        raise InputError(
            f"{absent.sum()} of {has_judgment.sum()} queries of the qrels have no document in the run, the first is "
            f"'{min(names[absent])}'. Complete the run, or choose another missing= policy."
        )
    barren = has_judgment & ~has_relevant
    if empty == "error" and barren.any():
        raise InputError(
            f"{barren.sum()} of {has_judgment.sum()} queries have no relevant document in the qrels, the first is "
            f"'{min(names[barren])}'. Leave them out, or choose another empty= policy."
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
    return Topics(
        names[evaluated][order], number, {reason: np.sort(names[which]) for reason, which in left_out.items()}
    )


class Pairs(NamedTuple):
    """The documents of all evaluated queries' lists, one entry each, and the relevant ones that no list holds.

    grade : 0 where not relevant
    missing_query, missing_grade : ordered by query, grades falling
    """

    query: IntArray
    score: FloatArray
    grade: FloatArray
    missing_query: IntArray
    missing_grade: FloatArray


def join(judged: Columns, ranked: Columns, number: IntArray, n_documents: int) -> Pairs:
    """Put together what is judged and what is ranked."""
    listed = number[ranked.query] >= 0
    relevant = (number[judged.query] >= 0) & (judged.value > 0)
    query, scores = number[ranked.query[listed]], ranked.value[listed]
    wanted_query, grades = number[judged.query[relevant]], judged.value[relevant]
    code = query * n_documents + ranked.document[listed]
    wanted = wanted_query * n_documents + judged.document[relevant]
    order = np.argsort(wanted)
    wanted, wanted_query, grades = wanted[order], wanted_query[order], grades[order]

    grade, found = np.zeros(len(code)), np.zeros(len(wanted), dtype=np.bool_)
    place = np.searchsorted(wanted, code)
    hits = np.flatnonzero(np.append(wanted, -1)[place] == code)
    grade[hits] = grades[place[hits]]
    found[place[hits]] = True
    order = np.lexsort((-grades[~found], wanted_query[~found]))
    return Pairs(query, scores, grade, wanted_query[~found][order], grades[~found][order])


def run_parts(pairs: Pairs, names: npt.NDArray[np.str_], truncated: bool, n_items: int | None) -> Parts:
    """The ties of all queries: first of those with documents in the run, then of the others."""
    answered = np.bincount(pairs.query, minlength=len(names)) > 0
    listed, absent = np.flatnonzero(answered), np.flatnonzero(~answered)
    position = np.cumsum(answered) - 1
    known = answered[pairs.missing_query]
    ties, end = ties_of_pairs(
        pairs._replace(
            query=position[pairs.query],
            missing_query=position[pairs.missing_query[known]],
            missing_grade=pairs.missing_grade[known],
        ),
        len(listed),
    )
    if truncated:
        sizes = None if n_items is None else np.full(len(listed), n_items)
        ties = cut_off(ties, end, ties.n_relevant, sizes, names[listed])
    yield listed, ties
    if len(absent):
        yield absent, nothing_retrieved(np.bincount(pairs.missing_query, minlength=len(names))[absent])


def nothing_retrieved(n_relevant: IntArray) -> Ties:
    """Rankings of a single document that is not relevant: every measure of them is 0."""
    none = np.zeros(0, dtype=np.int64)
    return Ties(none, none, none, none, none, n_relevant=n_relevant, n_items=np.ones_like(n_relevant))


def ties_of_pairs(pairs: Pairs, n_queries: int) -> tuple[Ties, tuple[IntArray, IntArray, IntArray, IntArray]]:
    """The ties that hold a relevant document, and (k, n, l, m) of the last tie of every list."""
    order = np.lexsort((-pairs.score, pairs.query))
    query, scores, grade = pairs.query[order], pairs.score[order], pairs.grade[order]
    starts_tie = np.ones(len(query), dtype=np.bool_)
    starts_tie[1:] = (query[1:] != query[:-1]) | (scores[1:] != scores[:-1])
    first = np.flatnonzero(starts_tie)
    list_start = pointers(query, n_queries)
    hits_before = np.concatenate([[0], np.cumsum(grade > 0)])

    of_query, stop = query[first], np.append(first[1:], len(query))
    k, l = first - list_start[of_query], stop - first  # noqa: E741
    n, m = hits_before[first] - hits_before[list_start[of_query]], hits_before[stop] - hits_before[first]
    last = np.flatnonzero(np.diff(of_query, append=n_queries))
    end = tuple(np.zeros(n_queries, dtype=np.int64) for _ in range(4))
    for column, values in zip(end, (k, n, l, m), strict=True):
        column[of_query[last]] = values[last]

    relevant = np.flatnonzero(grade)
    tie = np.cumsum(starts_tie)[relevant]
    grades = grade[relevant][np.lexsort((-grade[relevant], tie))]
    graded = (grades != 1).any() or (pairs.missing_grade != 1).any()
    held = np.flatnonzero(m)
    return (
        Ties(
            query=of_query[held],
            k=k[held],
            n=n[held],
            l=l[held],
            m=m[held],
            n_relevant=np.bincount(query[relevant], minlength=n_queries)
            + np.bincount(pairs.missing_query, minlength=n_queries),
            n_items=np.diff(list_start),
            grades=grades if graded else None,
            missing_grades=pairs.missing_grade if graded else None,
        ),
        (end[0], end[1], end[2], end[3]),
    )
