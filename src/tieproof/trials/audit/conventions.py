"""The conventions by which evaluators are called, and the functions that turn a case into arguments.

case ──► Convention.call ──► the evaluator's arguments, new arrays for each call ──► whatever it returns

An evaluator may write into its arguments: no later call sees that, and a watched call tells of it.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Literal

import numpy as np

from tieproof.errors import InputError
from tieproof.kit import Array, check_choice
from tieproof.trials.audit.cases import MEMORY, Case, RecallLists
from tieproof.trials.sandbox.folders import temporary_folder

EvaluatorFunction = Callable[..., Any]
Kind = Literal["leave-one-out", "gallery", "scores", "recall"]
Dicts = dict[str, dict[str, Any]]


class Wrote(Exception):  # noqa: N818 (what the evaluator did, not an error of the audit)
    """The evaluator wrote into its arguments; the message says into which."""


@dataclass(frozen=True)
class Convention:
    """A way to call an evaluator."""

    name: str
    takes: str  # the arguments, in words, beginning with their names
    # What the evaluator ranks by: vectors in leave-one-out, vectors of queries and a gallery, or given scores;
    # or "recall" if it compares lists of found items with true neighbors.
    kind: Kind
    ascending: bool = False  # whether a smaller score means nearer, for given scores
    # Whether items have groups, such as cameras; items of the query's class and group are not candidates.
    grouped: bool = False
    written: bool = False  # whether documents have names, and lines have an order
    files: bool = False  # whether the lines are written to files, whose paths are the arguments

    @property
    def names(self) -> list[str]:
        """The names of the arguments."""
        return re.findall(r"\w+", self.takes.partition(")")[0])

    def arguments(self, case: Any) -> tuple[Any, ...]:
        """The arguments for a case, as new arrays, so that no evaluator can change the input of others."""
        if self.kind == "recall":
            return RecallLists.arguments(case)
        return tuple(ARGUMENTS[name](case) for name in self.names)

    def unpack(self, packed: bytes) -> Any:
        """The case in the bytes that its `pack` returned."""
        return (RecallLists if self.kind == "recall" else Case).unpack(packed)

    def call(self, evaluator: EvaluatorFunction, case: Case, settings: Mapping[str, Any]) -> Any:
        """Call the evaluator with a case and return its answer; `settings` are further keyword arguments.

        `Wrote` if the case is watched and the evaluator has changed an argument.
        """
        if not self.files:
            arguments = [_in_memory(each, case.writing.memory) for each in self.arguments(case)]
            answer = evaluator(*arguments, **settings)
            if case.writing.watched:
                _compare(self.arguments(case), arguments)
            return answer
        with temporary_folder() as folder:
            paths = folder / "qrels.txt", folder / "run.txt"
            for path, lines in zip(paths, written_lines(case), strict=True):
                path.write_text("\n".join([*lines, ""]), encoding="ascii")
            before = [path.read_bytes() for path in paths] if case.writing.watched else []
            answer = evaluator(*map(str, paths), **settings)
            if before:
                _compare(before, [path.read_bytes() if path.exists() else b"" for path in paths])
            return answer


def _in_memory(argument: Any, memory: int) -> Any:
    """An array with the same values that lies in memory in one of the ways of `MEMORY`; anything else as it is."""
    if not isinstance(argument, np.ndarray) or not memory:
        return argument
    if MEMORY[memory] == "column by column":
        return np.asfortranarray(argument)
    wide = np.zeros([2 * length for length in argument.shape], dtype=argument.dtype)
    view = wide[(slice(None, None, 2),) * argument.ndim]
    view[...] = argument
    return view


def _compare(before: Sequence[Any], after: Sequence[Any]) -> None:
    """`Wrote` if an argument is not what it was before the call."""
    pairs = enumerate(zip(before, after, strict=True), 1)
    changed = [place for place, (one, other) in pairs if _content(one) != _content(other)]
    if changed:
        raise Wrote(f"it writes into argument {' and '.join(map(str, changed))} of {len(before)}")


def _content(argument: Any) -> Any:
    """What an argument holds, to be compared: NaN equals NaN."""
    if isinstance(argument, np.ndarray):
        return argument.shape, argument.dtype, argument.tobytes()
    return argument


def _matrix(case: Case) -> Array:
    """The matrix (q, n) of scores, or of distances, of a case, as a new array."""
    return case.items.T.copy(order="C")


def _query_labels(case: Case) -> Array:
    assert case.query_labels is not None
    return case.query_labels


def relevance(case: Case) -> Array:
    """The relevance (q, n): 1 where an item has the query's label, otherwise 0."""
    same: Array = _query_labels(case)[:, None] == case.labels
    return same.astype(np.int64)


def _listed(case: Case) -> Array | None:
    """How often the run lists each item for each query, (q, n); None if it lists every item once."""
    return None if case.listed is None else np.ascontiguousarray(case.listed.T)


def _document_names(case: Case) -> list[str]:
    """Document names of the items: their numbers, or random numbers if the case has a seed for names."""
    numbers = np.arange(len(case.labels)) if case.numbers is None else case.numbers
    if case.writing.names:
        numbers = np.random.default_rng(case.writing.names).permutation(int(numbers.max(initial=0)) + 1)[numbers]
    return [f"d{number:05}" for number in numbers.tolist()]


def _query_names(case: Case) -> list[str]:
    numbers = np.arange(len(_query_labels(case))) if case.query_numbers is None else case.query_numbers
    return [f"q{number:05}" for number in numbers.tolist()]


def _by_query(values: Array, case: Case, listed: Array | None = None) -> Dicts:
    """The values (q, n) as {query: {document: value}}, in the order of the lines: all documents, or those listed."""
    if listed is None and not case.writing.lines:
        names, rows = _document_names(case), zip(_query_names(case), values.tolist(), strict=True)
        return {query: dict(zip(names, row, strict=True)) for query, row in rows}
    values_by_query: Dicts = {}
    for query, document, value in _entries(values, case, listed):
        values_by_query.setdefault(query, {})[document] = value
    return values_by_query


def _entries(values: Array, case: Case, listed: Array | None = None) -> Iterator[tuple[str, str, Any]]:
    """The query, document and value of every entry that is listed, once each, in the order of the lines."""
    names, queries = _document_names(case), _query_names(case)
    seed = case.writing.lines
    order = np.random.default_rng(seed).permutation(values.size) if seed else np.arange(values.size)
    places = order if listed is None else order[listed.ravel()[order] > 0]
    query, item = (each.tolist() for each in np.divmod(places, values.shape[1]))
    return zip(
        map(queries.__getitem__, query), map(names.__getitem__, item), values.ravel()[places].tolist(), strict=True
    )


def _run(case: Case) -> Dicts:
    """The run of a case."""
    empty: Dicts = {query: {} for query in _query_names(case)} if case.writing.empty else {}
    return empty | _by_query(_matrix(case), case, _listed(case))


def _copied(field: str) -> Callable[[Case], Array | None]:
    """A function that returns an array of a case as a copy."""
    return lambda case: None if getattr(case, field) is None else getattr(case, field).copy()


ARGUMENTS: dict[str, Callable[[Case], Any]] = {
    **{name: _copied(name) for name in ("labels", "groups", "queries", "query_labels", "query_groups")},
    **{name: _copied("items") for name in ("embeddings", "gallery")},
    **{f"gallery_{name}": _copied(name) for name in ("labels", "groups")},
    **dict.fromkeys(("distances", "scores"), _matrix),
    "relevance": relevance,
    "qrels": lambda case: _by_query(relevance(case), case),
    "run": _run,
}
"""What is passed for a case, by the name of the argument."""


def written_lines(case: Case) -> tuple[Iterator[str], Iterator[str]]:
    """The lines of a TREC qrels file and of a run file."""
    scores = _matrix(case)
    count = scores.shape[1]

    def run() -> Iterator[str]:
        better = np.argsort(-scores, axis=1, kind="stable")
        ranks = np.empty_like(better)
        np.put_along_axis(ranks, better, np.arange(1, count + 1), axis=1)
        if case.writing.ranks:
            ranks = count + 1 - ranks
        flat_scores, flat_ranks = scores.ravel().tolist(), ranks.ravel().tolist()
        listed = _listed(case)
        places = _entries(np.arange(scores.size).reshape(scores.shape), case, listed)
        lines = (f"{query} Q0 {name} {flat_ranks[place]} {flat_scores[place]!r} t" for query, name, place in places)
        times = repeat(1) if listed is None else (often for _, _, often in _entries(listed, case, listed))
        return chain.from_iterable(map(repeat, lines, times))

    return (f"{query} 0 {document} {grade}" for query, document, grade in _entries(relevance(case), case)), run()


CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention("embeddings", "(embeddings, labels), leave-one-out", "leave-one-out"),
        Convention("gallery", "(queries, query_labels, gallery, gallery_labels)", "gallery"),
        Convention(
            "embeddings and groups",
            "(embeddings, labels, groups), leave-one-out, such as cameras",
            "leave-one-out",
            grouped=True,
        ),
        Convention(
            "gallery and groups",
            "(queries, query_labels, query_groups, gallery, gallery_labels, gallery_groups)",
            "gallery",
            grouped=True,
        ),
        Convention("distances", "(distances, query_labels, gallery_labels)", "scores", ascending=True),
        Convention("scores", "(scores, query_labels, gallery_labels)", "scores"),
        Convention("relevance", "(scores, relevance), both of shape (q, n)", "scores"),
        Convention("run", "(qrels, run), dicts of dicts", "scores", written=True),
        Convention("files", "(qrels, run), paths of TREC files", "scores", written=True, files=True),
        Convention("recall", "(found, distances, truth), lists of neighbors", "recall"),
    )
}


def convention_of(evaluator: EvaluatorFunction, takes: str | None) -> Convention:
    """The convention with a name or, without a name, the one that the evaluator's required parameters imply.

    >>> convention_of(lambda embeddings, labels: 1.0, None).name
    'embeddings'
    >>> convention_of(lambda embeddings, labels, cameras: 1.0, None).name
    'embeddings and groups'
    """
    if takes is not None:
        check_choice("takes", takes, CONVENTIONS)
        return CONVENTIONS[takes]
    try:
        parameters = [*inspect.signature(evaluator).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [each.name for each in parameters if each.default is each.empty and each.kind in positional]
    known = [each for each in CONVENTIONS.values() if each.kind != "scores" and len(each.names) == len(names)]
    if len(known) > 1:
        known = [each for each in known if each.names[0] == names[0]]
    if known:
        return known[0]
    ways = "; ".join(f"{convention.name}: {convention.takes}" for convention in CONVENTIONS.values())
    raise InputError(
        "The parameters of the evaluator do not tell how to call it. Pass takes= (--takes on the command line), "
        f"one of {ways}."
    )
