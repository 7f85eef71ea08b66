"""Makes a `Search` or a `Problem` from the arguments of users: checks queries, gallery, distance and relevance."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tieproof.distances import DISTANCES, Distance, DistanceFunction, find_distance, reported
from tieproof.engine.problem import AnySearch, Budget, Problem, Progress, Search, Sharded, ShardedProblem, Watch
from tieproof.errors import InputError, about
from tieproof.evaluation.progress import progress_bar
from tieproof.inputs import mistakes
from tieproof.inputs.arrays import NOT_SHARDS, Embeddings, as_array, as_finite_embeddings, is_source
from tieproof.inputs.identities import Words, rows_digests
from tieproof.inputs.judgments import Judgments, checked_triples, excluded_pairs
from tieproof.inputs.labels import checked_groups, checked_labels
from tieproof.inputs.mistakes import FEWEST_ALIKE
from tieproof.inputs.multi_vectors import MultiVectors, as_multi_vectors, is_multi_vectors
from tieproof.inputs.options import BinaryFormat, check_whole, parse_memory, parse_threads
from tieproof.inputs.readers.columns import vectors_of
from tieproof.inputs.relevance import Excluded, Exclusions, Relevance, Unjudged, by_labels
from tieproof.inputs.shards.source import ArraySource, RankedRows
from tieproof.inputs.sparse_forms import alignments, as_sparse, is_sparse
from tieproof.inputs.sparse_rows import SparseRows
from tieproof.ties import Array

ANY_KIND = SparseRows, MultiVectors  # the kinds of rows beside arrays, of calls that take all of them


class ArgumentSide(NamedTuple):
    """The arguments of the queries or of the gallery; a gallery without embeddings means leave-one-out."""

    embeddings: Any
    labels: Any = None
    groups: Any = None


def with_own_labels(side: ArgumentSide, judged: bool) -> ArgumentSide:
    """Return the side with the labels and groups of its shards, unless others were passed, or `judged` by triples."""
    given = side.embeddings
    if given is None or isinstance(given, np.ndarray) or not (is_source(given) and hasattr(given, "labels")):
        return side
    labels = given.labels if side.labels is None and not judged else side.labels
    return ArgumentSide(given.rows, labels, given.groups if side.groups is None else side.groups)


def as_budget(memory: str | int, threads: int | None) -> Budget:
    """Parse a budget."""
    return Budget(parse_memory(memory), parse_threads(threads))


def unwatched(pairs: int) -> AbstractContextManager[Progress]:
    """Return a `Watch` that shows nothing."""
    return nullcontext(lambda _: None)


def watched(progress: bool, workers: int | None = None) -> Watch:
    """Return a progress bar of an evaluation and its number of workers, or nothing if `progress` is false."""
    if not progress:
        return unwatched
    return progress_bar if workers is None else partial(progress_bar, what=f"million pairs, {workers} workers")


def make_problem(
    queries: ArgumentSide,
    gallery: ArgumentSide,
    distance: str | DistanceFunction,
    budget: Budget,
    *,
    relevance: Any = None,
    noise: Any = None,
    **options: Any,
) -> Problem | ShardedProblem:
    """Make the problem from the arguments of `evaluate`; `options` are those of `make_search`."""
    judged = relevance is not None
    queries, gallery = with_own_labels(queries, judged), with_own_labels(gallery, judged)

    def among(n_queries: int, n_items: int | None) -> Relevance:
        labels, groups = (queries.labels, gallery.labels), (queries.groups, gallery.groups)
        return relevance_among(n_queries, n_items, *labels, relevance, groups, options.get("exclude"))

    found = make_search(queries, gallery, distance, budget, among=among, **options)
    warn_of_copies(found)
    if noise is not None:
        from tieproof.evaluation.moves import noise_of

        rows = "sparse rows" if getattr(found.queries, "usual", 0) else ""
        if isinstance(found, Search) and isinstance(found.queries, MultiVectors):
            rows = f"the distance {found.called}"
        if rows:
            raise InputError(f"noise cannot be combined with {rows}. Leave it out.", "noise")
        noise = noise_of(in_memory(found, "whose rows are not in memory together, as noise needs them"), noise)
    sides = 1 if gallery.embeddings is None else 2
    judged_by = ("relevance",) if queries.labels is None else ("labels", "gallery_labels")[:sides]
    if isinstance(found, Sharded):
        return Sharded(Problem(**vars(found.whole), judged_by=judged_by), found.queries, found.gallery)
    return Problem(**vars(found), judged_by=judged_by, noise=noise)


def make_search(
    queries: ArgumentSide,
    gallery: ArgumentSide,
    distance: str | DistanceFunction,
    budget: Budget,
    *,
    exclude: Any = None,
    bits: int | None = None,
    rounding: BinaryFormat | None = None,
    kinds: tuple[type, ...] = (),  # what the call takes beside arrays: `SparseRows`, `MultiVectors`
    # Returns what a number of queries excludes of a number of items, or in leave-one-out of None; by default, the
    # items of the query's group and given pairs.
    among: Callable[[int, int | None], Exclusions] | None = None,
) -> Search | Sharded[Search]:
    """Make the search from the arguments of `nearest`."""
    queries, gallery = with_own_labels(queries, judged=True), with_own_labels(gallery, judged=True)
    kind, called = as_distance(distance, bits), reported(distance)
    of_sets = isinstance(kind, Distance) and kind.several
    if of_sets and MultiVectors not in kinds:
        raise InputError(
            f"The distance {called} ranks items of several vectors, which only tp.evaluate, tp.nearest, "
            "tp.knn_accuracy and Evaluator take. Pass one vector for each item, and another distance.",
            "distance",
        )
    if of_sets and rounding is not None:
        raise InputError(f"precision cannot be combined with the distance {called}. Leave it out.", "precision")
    one_side = gallery.embeddings is None
    names = {"embeddings": "embeddings"} if one_side else {"embeddings": "queries", "gallery": "gallery"}

    def each(read: Callable[[Any, str], Any], *sides: Any) -> list[Any]:
        found = []
        for (argument, name), rows in zip(names.items(), sides, strict=False):
            with about(argument):
                found.append(read(rows, name))
        return found

    read = partial(as_rows, sparse=SparseRows in kinds)
    given = each(read, *(side.embeddings for side in (queries, gallery)[: len(names)]))
    sparse = alignments(given)
    if sparse:
        _check_sparse(kind, called, rounding)
        given = [_either(rows, align) for rows, align in zip(given, sparse, strict=True)]
    own, items = given[0], given[-1]
    if len(items.shape) == len(own.shape) == 2 and items.shape[1] != own.shape[1]:
        raise InputError(
            f"The number of dimensions is {own.shape[1]} for the queries, but {items.shape[1]} for the gallery. "
            "Both must come from the same model.",
            ("embeddings", "gallery"),
        )
    of_bits = isinstance(kind, Distance) and kind.bits
    if of_bits and np.int8 in (own.dtype, items.dtype) and own.dtype != items.dtype:
        raise InputError(
            f"The queries are {own.dtype.name}, but the gallery is {items.dtype.name}: codes of int8 may be packed "
            "bytes minus 128, which differ from other codes in every byte. Pass both in the same type.",
            ("embeddings", "gallery"),
        )
    if not of_sets and any(isinstance(rows, MultiVectors) for rows in given):
        raise InputError(
            f"The distance {called} ranks items of one vector each, not of several. Pass distance='maxsim' or "
            "'meanmaxsim', which take the vectors as they are: for sums of cosines, divide each vector by its norm "
            "first, because the order of sums of rounded quotients has no exact meaning.",
            "distance",
        )
    ranked = given
    if not sparse:
        ranked = each(lambda rows, name: _either(rows, partial(_ranked_by, kind, name, bits)), *given)
    vectors, name = ranked[0], names["embeddings"]
    if isinstance(kind, Distance) and not (of_bits or of_sets) and vectors.dtype.itemsize == 1:
        mistakes.warn_of_packed_codes(vectors, name)
    if len(vectors) == vectors.shape[1] and not (of_bits or of_sets or sparse):
        mistakes.warn_of_similarities(vectors[:], name)
    for argument, values in (("gallery_labels", gallery.labels), ("gallery_groups", gallery.groups)):
        if one_side and values is not None:
            raise InputError(
                f"{argument} were passed without a gallery. Pass gallery= too, or leave them out.", argument
            )
    n_items = None if one_side else len(ranked[1])
    if among is None:
        excluded = _excluded((queries.groups, gallery.groups), exclude, len(vectors), n_items)
        exclusions: Exclusions = Unjudged.of(len(vectors), n_items, excluded)
    else:
        exclusions = among(len(vectors), n_items)
    whole = Search(
        queries=_rows_in_memory(vectors),
        gallery=None if one_side else _rows_in_memory(ranked[1]),
        distance=kind,
        called=called,
        dimensions=int(bits or own.shape[1]),
        excluded=exclusions,
        budget=budget,
        format=rounding,
    )
    if any(isinstance(rows, RankedRows) for rows in ranked):
        return Sharded(whole, *each(_as_ranked, *ranked))
    return whole


def warn_of_copies(search: Search | Sharded[Any]) -> None:
    """Warn if the gallery is equal to the queries or, of rows in memory, probably contains them among others."""
    excluded = search.whole.excluded if isinstance(search, Sharded) else search.excluded
    if search.gallery is not None:
        mistakes.warn_of_queries_in_gallery(search.queries, search.gallery, excluded)
    if not isinstance(search, Sharded):
        check_self_matches(search)


def check_self_matches(problem: Search, digests: tuple[Words, Words] | None = None) -> None:
    """Warn if the gallery probably contains the queries among others; `digests` are of rows not in memory."""
    queries, gallery, count = problem.queries, problem.gallery, problem.excluded.n_queries
    of_memory = digests is None
    if gallery is None or count < FEWEST_ALIKE or (of_memory and not mistakes.may_share_rows(queries, gallery)):
        return
    if digests is None:
        no_labels = np.zeros(max(count, len(gallery)), dtype=np.uint64)
        digests = rows_digests(queries, no_labels), rows_digests(gallery, no_labels)
    pairs = mistakes.self_matches(*digests, problem.excluded)
    # Copies of an item often have the same code, so only a gallery with all queries is remarkable.
    share = 1.0 if isinstance(problem.distance, Distance) and problem.distance.bits else 0.5
    if len(pairs) >= max(FEWEST_ALIKE, share * count):
        dense = of_memory and not isinstance(queries, MultiVectors | SparseRows)  # whose numbers were checked
        for rows, name in ((queries, "queries"), (gallery, "gallery")) if dense else ():
            as_finite_embeddings(rows, name)  # an error comes before a warning
        mistakes.warn_of_self_matches(pairs, count)


def as_sharded(problem: AnySearch | Sharded[AnySearch]) -> Sharded[AnySearch]:
    """Return the problem as one whose rows are read when they are needed, even if they are in memory."""
    if isinstance(problem, Sharded):
        return problem
    queries, gallery = problem.queries, problem.gallery
    return Sharded(
        replace(problem, queries=queries[:0], gallery=None if gallery is None else gallery[:0]),
        _as_ranked(queries, "embeddings" if gallery is None else "queries"),
        None if gallery is None else _as_ranked(gallery, "gallery"),
    )


def in_memory(problem: AnySearch | Sharded[AnySearch], why: str = NOT_SHARDS) -> AnySearch:
    """Return the problem if its rows are in memory; refuse shards, with the reason."""
    if isinstance(problem, Sharded):
        raise InputError(
            f"The embeddings must be an array in memory, not shards, {why}. If all rows fit into memory, pass "
            "shards.read(0, n).",
            "embeddings",
        )
    return problem


def _check_sparse(kind: Distance | DistanceFunction, called: str, rounding: BinaryFormat | None) -> None:
    if not (isinstance(kind, Distance) and kind.sparse):
        names = ", ".join(name for name, distance in DISTANCES.items() if distance.sparse)
        raise InputError(
            f"The distance {called} takes no sparse rows. Pass one of {names}, or dense rows (.toarray()).",
            "distance",
        )
    if rounding is not None:
        raise InputError("precision takes no sparse rows. Round their weights first, and leave it out.", "precision")


def as_rows(values: Any, name: str, sparse: bool) -> Any:
    """Return an array, other items (sparse rows if the call takes them), or rows that are read later."""
    if sparse and is_sparse(values):
        return as_sparse(values, name)
    if is_multi_vectors(values):
        return as_multi_vectors(values, name)
    is_read = not isinstance(values, np.ndarray) and is_source(values)
    return values if is_read else as_array(vectors_of(values, name), name)


def _rows_in_memory(rows: Embeddings | RankedRows) -> Embeddings:
    return rows.take(np.arange(0)) if isinstance(rows, RankedRows) else rows


def _as_ranked(rows: Embeddings | RankedRows, name: str) -> RankedRows:
    """Return rows that are read when they are needed; an array must be finite."""
    if isinstance(rows, RankedRows):
        return rows
    return RankedRows.of(ArraySource.of(rows if isinstance(rows, SparseRows) else as_finite_embeddings(rows, name)))


def as_distance(distance: str | DistanceFunction, bits: int | None) -> Distance | DistanceFunction:
    """Return the distance of that name, or the function."""
    kind = find_distance(distance) if isinstance(distance, str) else distance
    if not isinstance(kind, Distance) and not callable(kind):
        raise InputError(f"The distance must be a name or a function, not {type(kind).__name__}.")
    if bits is not None:
        check_whole("bits", bits)
        if not (isinstance(kind, Distance) and kind.bits):
            raise InputError(f"bits={bits} applies only to packed codes. Pass distance='hamming', or leave bits out.")
    return kind


def _either(rows: Any, convert: Callable[[Any], Any]) -> Embeddings | RankedRows:
    """Return converted rows, now or when they are read."""
    return RankedRows.of(rows, convert) if is_source(rows) else convert(rows)


def _ranked_by(kind: Distance | DistanceFunction, name: str, bits: int | None, rows: Array) -> Embeddings:
    """Convert embeddings to the form that the distance ranks; a function gets them as they are."""
    return kind.takes(rows, name, bits) if isinstance(kind, Distance) else as_finite_embeddings(rows, name)


def relevance_among(
    n_queries: int,
    n_items: int | None,
    labels: Any,
    gallery_labels: Any,
    triples: Any,
    groups: tuple[Any, Any],
    exclude: Any,
) -> Relevance:
    """Make the relevance for a number of queries and items; n_items None: leave-one-out."""
    if (labels is None) == (triples is None):
        raise InputError("Pass either labels or relevance=, so that relevant items are known.")
    count = n_queries if n_items is None else n_items
    if triples is not None:
        with about("relevance"):
            named = checked_triples(triples, n_queries, count, n_items is None)
            all_pairs = n_queries * (count - (n_items is None))
            mistakes.check_grades([named.grade], cut_off=len(named.grade) < all_pairs)
    else:
        own, others = checked_labels(labels, gallery_labels, n_queries, n_items)
    excluded = _excluded(groups, exclude, n_queries, n_items)
    if triples is None:
        return by_labels(own, others, excluded)
    return Judgments.of(named, n_queries, count, n_items is None, excluded)


def _excluded(groups: tuple[Any, Any], exclude: Any, n_queries: int, n_items: int | None) -> Excluded:
    """Return the groups of both sides and the excluded pairs, checked; n_items None: leave-one-out."""
    own = checked_groups(*groups, n_queries, n_items)
    return Excluded(own, excluded_pairs(exclude, n_queries, n_queries if n_items is None else n_items))
