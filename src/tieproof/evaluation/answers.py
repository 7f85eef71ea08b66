"""`evaluate_answers`: embeddings of a system that gave no answer for some items.

answered rows ──► Problem ──► engine ──► their ties ──► plus the items without an answer, at their places
"""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from tieproof.distances import Distance, DistanceName, reported
from tieproof.engine import ties_of
from tieproof.engine.problem import Problem, Watch
from tieproof.errors import InputError, about
from tieproof.evaluation.evaluated import Setting
from tieproof.evaluation.fingerprints import RankingDigests
from tieproof.evaluation.problems import ArgumentSide, as_budget, as_distance, in_memory, make_problem, watched
from tieproof.evaluation.result import Result
from tieproof.evaluation.scoring import Empty, as_evaluated, check_empty, parse_with_sets, score
from tieproof.inputs.arrays import as_embeddings
from tieproof.inputs.labels import as_label_array, checked_groups, checked_labels
from tieproof.inputs.options import check_choice
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.measures.unseen import surrounded
from tieproof.native.threads import close
from tieproof.ties import Array, BoolArray, IntArray, Parts, Ties

Unanswered = Literal["worst", "last"]
"""The places of items without an answer. worst: last where they are relevant, and first where they are not; last:
always last."""


def evaluate_answers(
    embeddings: Any,
    labels: Any,
    *,
    gallery: Any = None,
    gallery_labels: Any = None,
    groups: Any = None,
    gallery_groups: Any = None,
    distance: DistanceName | str = "cosine",
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    empty: Empty = "skip",
    unanswered: Unanswered = "worst",
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
) -> Result:
    """Score embeddings in which rows with NaN or infinity are missing answers.

    An item without an answer has the worst place in every ranking: behind all others where it is relevant, and before
    all others where it is not. A query without an answer has the worst ranking: all relevant items come last. So a
    missing answer never pays: whichever answers are left out in addition, no mean rises, be it lower, expected or
    upper. docs/judge.md says why, for every measure except AP(norm=hits)@k, which a lost hit can raise. No item is
    left out of any ranking.

    Parameters
    ----------
    embeddings : (n, d) floats
    labels : (n,) integers or strings
        Items with the query's label are relevant.
    gallery, gallery_labels :
        The gallery and its labels. Without a gallery every item queries all the others.
    groups, gallery_groups : (n,)
        An item with the query's label and group is excluded, as in `evaluate`.
    distance : the name of a distance of `evaluate`
        With "hamming" every number of an answer must be 0 or 1.
    measures, empty :
        As in `evaluate`.
    unanswered : "worst" or "last"
        With "last", an item without an answer is farther from every query than all answered items, and is tied with
        the other items without an answer; for a query without an answer all items are tied. Then a missing answer can
        pay: leaving out an item raises the score of the queries to which it is near, but not relevant.
    memory, threads, progress :
        As in `evaluate`.

    Returns
    -------
    Result
        The same as that of `evaluate` if every item has an answer.

    Raises
    ------
    InputError
        If a shape, a type or a name is wrong; the message says what arrived, what was expected and what to do.

    Examples
    --------
    >>> import tieproof as tp
    >>> nan, labels = float("nan"), ["cat", "cat", "cat", "dog", "dog"]
    >>> answers = [[1.0, 0.0], [2.0, 0.1], [nan, nan], [0.0, 1.0], [0.1, 2.0]]
    >>> tp.evaluate_answers(answers, labels, measures=["RR"]).per_query("RR").lower.tolist()
    [1.0, 1.0, 0.3333333333333333, 0.5, 0.5]
    >>> tp.evaluate_answers(answers, labels, measures=["RR"], unanswered="last").per_query("RR").lower.tolist()
    [1.0, 1.0, 0.3333333333333333, 1.0, 1.0]

    """
    wanted, optional = parse_with_sets(measures)
    check_empty(empty)
    check_choice("unanswered", unanswered, get_args(Unanswered))
    with about("embeddings"):
        own, answered = _as_answers(embeddings, "embeddings", distance)
    with about("gallery"):
        items, item_answered = (None, answered) if gallery is None else _as_answers(gallery, "gallery", distance)
    for name, values in (("labels", labels), ("gallery_labels", gallery_labels)):
        if values is None:
            continue
        with about(name):
            dimensions = as_label_array(values, name).ndim
            if dimensions != 1:
                raise InputError(f"The {name} must have the shape (n,), but have {dimensions} dimensions.")
    n_items = None if items is None else len(items)
    of_queries, of_gallery = checked_labels(labels, gallery_labels, len(own), n_items)
    of_items = of_queries if of_gallery is None else of_gallery
    grouped = checked_groups(groups, gallery_groups, len(own), n_items)
    setting = Setting(reported(distance), items is None, len(own), len(of_items), own.shape[1], empty)
    problem = None
    if answered.any() and item_answered.sum() > (items is None):
        side = ArgumentSide(own[answered], of_queries[answered], grouped and grouped[0][answered])
        other = ArgumentSide(None)
        if items is not None:
            other = ArgumentSide(items[item_answered], of_items[item_answered], grouped and grouped[1][item_answered])
        problem = in_memory(make_problem(side, other, distance, as_budget(memory, threads)))
    counts = _ranked((of_queries, of_items), grouped, items is None)
    rankings = RankingDigests(len(own))
    parts = _all_parts(problem, answered, counts, unanswered == "worst", watched(progress))
    scores = score(rankings.noted(parts), wanted, len(own), optional)
    return Result(as_evaluated(scores, setting, rankings.origin("evaluate_answers", {"unanswered": unanswered})))


def _as_answers(values: Any, name: str, distance: str) -> tuple[Array, BoolArray]:
    """Return the rows as the distance takes them, with zeros for missing answers, and which rows are answers."""
    kind = as_distance(distance, None)
    if not isinstance(kind, Distance):
        raise InputError("The distance of answers must be the name of a distance, not a function.", "distance")
    array = np.array(as_embeddings(values, name))
    answered: BoolArray = np.isfinite(array).all(axis=1)
    array[~answered] = 0
    if kind.bits:
        if not np.isin(array, (0, 1)).all():
            raise InputError(f"The {name} are compared bit by bit, but contain numbers other than 0 and 1.", name)
        array = array.astype(np.bool_)
    return array, answered


def _ranked(
    labels: tuple[Array, Array], groups: tuple[Array, Array] | None, leave_one_out: bool
) -> tuple[IntArray, IntArray]:
    """How many items each query ranks, and how many of these are relevant; excluded items are not ranked."""
    label, item_label = _coded(*labels)
    # Unless something is excluded, no item has the number that queries exclude.
    excluding, excluded = np.zeros(len(label), np.int64), np.ones(len(item_label), np.int64)
    if groups is not None:
        of_queries, of_items = _coded(*groups)
        count = 1 + max(int(side.max(initial=0)) for side in (of_queries, of_items))
        excluding, excluded = _coded(label * count + of_queries, item_label * count + of_items)
    elif leave_one_out:
        excluding = excluded = np.arange(len(label))
    left_out = _times(excluding, excluded)
    return len(item_label) - left_out, _times(label, item_label) - left_out


def _coded(of_queries: Array, of_items: Array) -> tuple[IntArray, IntArray]:
    """Return a number for each value; equal values have equal numbers on both sides."""
    _, codes = np.unique(np.concatenate([of_queries, of_items]), return_inverse=True)
    return codes[: len(of_queries)], codes[len(of_queries) :]


def _times(codes: IntArray, among: IntArray) -> IntArray:
    times: IntArray = np.bincount(among, minlength=int(codes.max(initial=0)) + 1)[codes]
    return times


def _all_parts(
    problem: Problem | None, answered: BoolArray, counts: tuple[IntArray, IntArray], worst: bool, watch: Watch
) -> Parts:
    """Yield the ties of all queries, with the items without an answer at their places."""
    places, silent = np.flatnonzero(answered), np.flatnonzero(~answered)

    def completed(at: IntArray, ties: Ties) -> tuple[IntArray, Ties]:
        added, relevant = counts[0][at] - ties.n_items, counts[1][at] - ties.n_relevant
        none = np.zeros_like(added)
        first, last = (added - relevant, relevant) if worst else (none, added)
        return at, surrounded(ties, before=(first, none), behind=(last, relevant))

    if problem is None:
        yield completed(places, _nothing(len(places)))
    else:
        parts = ties_of(problem, watch).parts
        try:
            yield from (completed(places[queries], ties) for queries, ties in parts)
        finally:
            close(parts)
    yield completed(silent, _nothing(len(silent)))


def _nothing(count: int) -> Ties:
    """Return the rankings of no items for so many queries."""
    none, zeros = np.zeros(0, dtype=np.int64), np.zeros(count, dtype=np.int64)
    return Ties(none, none, none, none, none, zeros, zeros)
