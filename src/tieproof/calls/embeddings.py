"""`evaluate`: the measures of embeddings."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from tieproof.calls.in_parts import Place, found
from tieproof.calls.problems import Side, as_budget, make_problem, with_own_labels
from tieproof.calls.scoring import Empty, check_empty, make_result, parse_measures, score, warn_of_recall
from tieproof.confidence.inputs import as_column
from tieproof.distances import DistanceFunction
from tieproof.errors import about
from tieproof.inputs.categories import Average, as_categories
from tieproof.inputs.formats import find_format
from tieproof.inputs.mapped import unchanged_files
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.problem import ShardedProblem
from tieproof.results.evaluated import Setting
from tieproof.results.results import Result


@unchanged_files
def evaluate(
    embeddings: Any,
    labels: Any = None,
    *,
    gallery: Any = None,
    gallery_labels: Any = None,
    distance: str | DistanceFunction = "cosine",
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    relevance: Any = None,
    groups: Any = None,
    gallery_groups: Any = None,
    exclude: Any = None,
    categories: Any = None,
    average: Average = "micro",
    confidence: Any = None,
    empty: Empty = "skip",
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
    precision: str | None = None,
    cluster: str | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Result:
    """Score embeddings exactly, with the whole interval that ties leave open.

    Without a gallery every item queries all the others (leave-one-out); with one, the embeddings are the queries.

    Parameters
    ----------
    embeddings : (n, d) floats, integers or bools of at most 64 bits
        NumPy (memory-mapped, too), torch, or anything with `__array__` or DLPack; or what `tieproof.open` returns,
        which brings its labels and groups and is read in blocks, within the memory.
    labels : (n,) integers or strings, or (n, c) of 0/1
        Items with the query's label are relevant; with columns, items that share at least one. A single column of
        only 0 and 1 is a column, too: items with 0 have no label. Floats are taken where they stand for integers that
        their type cannot have rounded, such as those below 2048 in float16.
    gallery, gallery_labels :
        The retrieval database and its labels.
    distance : "cosine", "euclidean", "sqeuclidean", "cityblock", "dot", "hamming" or a function
        A function takes a block of queries and a block of gallery items and returns their distances, whose floats
        are then the numbers that are ranked. Hamming takes bools, or packed uint8 with `bits`. Other usual names,
        such as "l2", "manhattan" or "inner_product", mean the same.
    measures :
        Names such as "AP", "P@10" or "nDCG(gain=exp)@10".
    relevance : rows (query, item) or (query, item, grade), instead of labels
        A grade of 0 is not relevant, a negative one excludes the item from the query's ranking.
    groups, gallery_groups : (n,)
        An item with the query's label and group is excluded (same camera, same sequence).
    exclude : rows (query, item)
        Pairs that are left out of the rankings.
    categories : (q,) integers or strings, one for each query
        `result.category(name)` is the result of the queries of one category; pass the labels for a result per class.
    average : "micro" or "macro"
        The mean over all queries; or the mean over the categories of the means over their queries, so that small
        categories count as much as large ones. Without categories, the queries' labels are theirs.
    confidence : (q,) numbers, one for each query, larger is more confident
        `result.error_reject(measure)` is the error of the most confident queries (`tieproof.confidence`).
    empty : "skip", "zero", "one", "nan" or "error"
        What becomes of a query with nothing relevant. "skip" and "nan" leave it out of the means; "nan" keeps it
        among the queries. The result always counts them.
    memory : bytes, or a string such as "1GiB"
        Budget over the inputs.
    threads : int
        Default: all processors.
    progress : bool
        Show a bar on standard error where it takes longer than two seconds.
    bits : int
        Bits of a packed Hamming code.
    precision : "float32", "float16" or "bfloat16"
        What a system that keeps its distances in this format has to live with: every distance is a real number that
        is rounded once (to the nearest, ties to even; past the largest number to infinity, where all are tied), and
        then ranked. Default: distances are compared as real numbers. What is rounded is 1 - x.y / (|x| |y|) for
        cosine (1 for a zero vector), |x - y| for Euclidean, its square, the sum of |x - y|, - x.y for dot, the number
        of bits that differ, or what a function returns. Floats are finer near 0: a system that keeps similarities
        instead, near 1, has more ties among its nearest items.
    cluster : "auto", "local" or the address host:port of a Ray cluster
        Count part by part on its workers, each with `threads` (default: one) and `memory`. "auto" is the cluster that
        runs here, or else one of this machine alone, as "local" is, which ends with the evaluation.
    checkpoint : a folder
        Write down what is counted, part by part. Whoever calls again with the same data, distance and memory goes on
        where it was; measures may be others. Without a cluster, too.

    Raises
    ------
    InputError
        NaN, infinity, wrong shapes or types, unknown names: what arrived, what was expected, what to do.
    ClusterError
        The cluster could not do a part, again and again. With a checkpoint, another call goes on where it was.

    Warns
    -----
    InputWarning
        What can be evaluated and is probably not what was meant: the gallery is the queries, the embeddings are a
        matrix of similarities, R@k where Success@k is meant, one column of 0/1.

    Notes
    -----
    A memory-mapped file must not change meanwhile. It is refused where its size or time of change is another one at
    the end than at the start, or where it was shorter than the array at the start. One that is cut short during the
    evaluation may end the process, and a writer that leaves the time of change as it was is not noticed: whoever
    cannot rule that out passes a copy in memory, `numpy.array(embeddings)`.

    Implements the bounds and the expectation that Nicolaou et al. 2018 (section 4) ask for; the closed forms are
    in `tieproof.measures`.

    Examples
    --------
    >>> import tieproof as tp
    >>> result = tp.evaluate([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], ["cat", "dog", "cat"], measures=["AP"])
    >>> result["AP"]
    Estimate(lower=1.0, expected=1.0, upper=1.0, std=0.0)
    >>> zeros = tp.evaluate([[0.0, 0.0]] * 3, ["cat", "dog", "cat"], measures=["AP"])
    >>> zeros["AP"]
    Estimate(lower=0.5, expected=0.75, upper=1.0, std=0.1767766952966369)

    """
    wanted = parse_measures(measures)
    check_empty(empty)
    rounding = None if precision is None else find_format(precision)
    place = Place(cluster, checkpoint)
    queries = with_own_labels(Side(embeddings, labels, groups), relevance is not None)
    problem = make_problem(
        queries,
        Side(gallery, gallery_labels, gallery_groups),
        distance,
        as_budget(memory, place.threads(threads)),
        relevance=relevance,
        exclude=exclude,
        bits=bits,
        rounding=rounding,
    )
    whole = problem.whole if isinstance(problem, ShardedProblem) else problem
    count = whole.relevance.n_queries
    with about("categories", "embeddings"):
        by_category = categories is not None or average != "micro"
        grouping = as_categories(categories, count, average, queries.labels) if by_category else None
    with about("confidence", "embeddings"):
        confidences = None if confidence is None else as_column(confidence, "confidences", count)
    setting = Setting(
        distance=whole.called,
        leave_one_out=whole.gallery is None,
        queries=count,
        gallery=whole.relevance.n_items,
        dimensions=whole.dimensions,
        empty=empty,
        average=average,
        precision=precision,
    )
    with found(problem, bits, place, progress) as (ties, origin), about((*whole.judged_by, "embeddings")):
        scores = score(ties.parts, wanted, count, threads=whole.budget.threads)
        result = make_result(
            scores, setting, origin(), ties.zero_vectors, categories=grouping, confidence=confidences
        )
    warn_of_recall(scores)
    return result
