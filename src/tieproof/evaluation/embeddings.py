"""`evaluate`: the measures of embeddings, with all rows in memory or part by part in this process or on a cluster."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from tieproof.distances import Distance, DistanceFunction, DistanceName
from tieproof.engine import TiesByPart, ties_of
from tieproof.engine.problem import Budget, Problem, Sharded, ShardedProblem
from tieproof.errors import InputError, about
from tieproof.evaluation import problems
from tieproof.evaluation.evaluated import Origin, Setting
from tieproof.evaluation.fingerprints import label_words, origin_of_embeddings
from tieproof.evaluation.noise import GradeLevels, check_noisy
from tieproof.evaluation.problems import ArgumentSide
from tieproof.evaluation.result import Result
from tieproof.evaluation.scoring import Empty, as_evaluated, check_empty, parse_with_sets, score, warn_of_recall
from tieproof.inputs.categories import AVERAGES, Average, as_categories
from tieproof.inputs.judgments import Judgments
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.multi_vectors import MultiVectors
from tieproof.inputs.options import Precision, as_folder, check_choice, find_format, parse_memory, parse_threads
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.measures.confidence.inputs import as_column
from tieproof.ties import Parts


def _in_parts(
    problem: ShardedProblem,
    bits: int | None,
    cluster: str | None,
    checkpoint: str | PathLike[str] | None,
    progress: bool,
    stack: ExitStack,
) -> tuple[TiesByPart, Origin]:
    """Return the ties of a problem counted in parts, to be read before the stack is closed, and its origin."""
    from tieproof.evaluation.cluster.evaluation import count_all, survey
    from tieproof.evaluation.cluster.on_ray import connected

    whole = problem.whole
    runner = stack.enter_context(connected(cluster, whole.budget))
    surveyed = survey(problem, label_words(whole.relevance), runner)
    queries, items = (rows.digests for rows in surveyed)
    if problem.gallery is not None:
        problems.check_self_matches(whole, (queries, items))
    origin = origin_of_embeddings(whole, bits, (queries, None if problem.gallery is None else items))
    if not isinstance(whole.distance, Distance):
        return ties_of(problem.for_function(), problems.watched(progress)), origin
    watch = problems.watched(progress, None if cluster is None else runner.workers)
    folder = None if checkpoint is None else as_folder(checkpoint, "checkpoint")
    return count_all(problem, surveyed, origin.relevant, watch, runner, folder), origin


def _as_counted(problem: Problem | ShardedProblem, in_parts: bool) -> Problem | ShardedProblem:
    """Return the problem with all rows in memory if they fit, or if it has to be counted in parts, with none."""
    if in_parts:
        if isinstance(problem.queries, MultiVectors):
            raise InputError(
                "Items of several vectors cannot be counted part by part, as with cluster= and checkpoint=. Leave "
                "both out.",
                "embeddings",
            )
        problem = problems.as_sharded(problem)
        if not isinstance(problem.whole.distance, Distance):
            raise InputError(
                f"The distance of the {problem.whole.called} cannot be counted part by part, as cluster= and "
                "checkpoint= do: it may round differently for blocks of other shapes. Leave both out, or pass the "
                "name of a distance.",
                "distance",
            )
    elif isinstance(problem, Sharded):
        from tieproof.evaluation.cluster.layout import beside_all_rows, fits

        if fits(problem):
            problem = problem.in_memory(beside_all_rows(problem))
            problems.check_self_matches(problem)
    return problem


@unchanged_files
def evaluate(
    embeddings: Any,
    labels: Any = None,
    *,
    gallery: Any = None,
    gallery_labels: Any = None,
    distance: DistanceName | str | DistanceFunction = "cosine",
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
    precision: Precision | str | None = None,
    noise: Any = None,
    cluster: str | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Result:
    """Score embeddings exactly, with the whole interval that ties leave open.

    Without a gallery every item queries all the others (leave-one-out); with one, the embeddings are the queries.

    Parameters
    ----------
    embeddings : (n, d) floats, integers or bools of at most 64 bits, or sparse rows
        A NumPy array (it may be memory-mapped), a torch tensor, or anything with `__array__` or DLPack; or the
        shards that `tieproof.open` returns, which have labels and groups and are read in blocks within `memory`.
        Sparse rows are a matrix of SciPy or torch, or a list of dictionaries {term: weight}, for dot, cosine and
        Euclidean distance. For "maxsim" and "meanmaxsim", items of several vectors: `MultiVectors`, or a list of
        arrays (t, d).
    labels : (n,) integers or strings, or (n, c) of 0/1
        Items with the query's label are relevant; with columns, items that share at least one class. A single
        column of only 0 and 1 is one class: items with 0 belong to no class. Floats are accepted as integers if their
        type cannot have rounded them, such as integers below 2048 in float16.
    gallery, gallery_labels :
        The gallery (the retrieval database) and its labels.
    distance : "cosine", "euclidean", "sqeuclidean", "cityblock", "dot", "hamming", "maxsim", "meanmaxsim", a function
        A function takes a block of queries and a block of gallery items and returns their distances; the floats that
        it returns are ranked. Hamming takes bools, or packed integers with `bits`. "maxsim" is the sum over the
        query's vectors of the largest dot product with a vector of the item, "meanmaxsim" its mean. Other common
        names, such as "l2", "manhattan" or "inner_product", are understood, too.
    measures :
        Names such as "AP", "P@10" or "nDCG(gain=exp)@10".
    relevance : rows (query, item) or (query, item, grade), instead of labels
        A grade of 0 means not relevant; a negative grade excludes the item from the query's ranking. Or a list with
        an array or a set of the relevant items of each query, such as those within 25 m; it may be empty.
    groups, gallery_groups : (n,)
        An item with the query's label and group is excluded (same camera, same sequence).
    exclude : rows (query, item), or (q, n) bools
        Pairs that are left out of the rankings.
    categories : (q,) integers or strings, one for each query
        `result.category(name)` is the result of the queries of one category; pass the labels for a result per class.
    average : "micro" or "macro"
        The mean over all queries; or the mean over the categories of the means over their queries, so that small
        categories count as much as large ones. Without categories, the labels of the queries are the categories.
    confidence : (q,) numbers, one for each query, larger is more confident
        `result.error_reject(measure)` is the error of the most confident queries (`tieproof.measures.confidence`).
    empty : "skip", "zero", "one", "nan" or "error"
        How a query with nothing relevant scores. "skip" and "nan" leave it out of the means; "nan" keeps it among
        the queries. The result always counts such queries. With "zero" and "one", counts and measures of judgments,
        such as NumRet and Judged, have their own value.
    memory : bytes, or a string such as "1GiB"
        The memory that may be used in addition to the inputs.
    threads : int
        The number of threads. Default: all processors.
    progress : bool
        Show a progress bar on standard error if the evaluation takes longer than two seconds.
    bits : int
        The number of bits of a packed Hamming code.
    precision : "float32", "float16" or "bfloat16"
        Evaluate a system that stores its distances in this format: every distance is computed as a real number,
        rounded once, and then ranked. Rounding is to the nearest, ties to even; numbers beyond the largest one become
        infinity, where all are tied. Default: distances are compared as real numbers. The numbers that are rounded
        are 1 - x.y / (|x| |y|) for cosine (1 for a zero vector), |x - y| for Euclidean, its square, the sum of
        |x - y|, - x.y for dot, the number of differing bits, or the values that a function returns. Floats are finer
        near 0, so a system that stores similarities, near 1, has more ties among its nearest items.
    noise : number, str, or embeddings of the same shape
        By how much each distance may be off; the rows must fit into memory. `result[measure].noise` has certain
        bounds of the score over all rankings that are then possible (docs/guides/reproducible.md). It is one of:

        - a number, in the unit of the distances that `precision` lists; Hamming distance and functions take no other
        - "float16", "bfloat16", "float32" or "int8": what rounding the embeddings to this format may change
        - "float32 products", "tf32 products" or "bfloat16 products": what products may round, in any order of sums
        - embeddings of the same items, computed again; with a gallery, a tuple of both sides: how far each row is
          from its other computation
    cluster : "auto", "local" or the address host:port of a Ray cluster
        Count in parts on the workers of a Ray cluster, each with `threads` (default: 1) and `memory`. "auto" uses the
        cluster that runs on this machine, and otherwise starts one as "local" does; "local" starts a cluster of this
        machine alone, which ends with the evaluation.
    checkpoint : a folder
        Save the counts of every finished part in this folder, with or without a cluster. Another call with the same
        data, distance and memory resumes where the first one stopped; the measures may differ.

    Raises
    ------
    InputError
        If the input contains NaN or infinity, or has wrong shapes, types or names; the message says what arrived,
        what was expected and what to do.
    ClusterError
        If the cluster repeatedly failed to compute a part. With a checkpoint, another call resumes there.

    Warns
    -----
    InputWarning
        If the input can be evaluated but is probably not what was meant: the gallery is equal to the queries, or
        contains them among other items; the embeddings are a matrix of similarities, or packed codes without
        distance="hamming"; R@k is used for Success@k; or the labels are one column of 0/1.

    Notes
    -----
    A memory-mapped file must not change during the evaluation. The evaluation is refused if the size or the time of
    change of the file differs between its start and its end, or if the file is shorter than the array at the start.
    A file that is cut short during the evaluation may crash the process, and a writer that resets the time of
    change is not noticed. If you cannot rule that out, pass a copy in memory, `numpy.array(embeddings)`, or the file
    itself by `tieproof.open`, which reads it block by block and maps nothing.

    The bounds and the expectation are those that Nicolaou et al. 2018 (section 4) ask for; the closed forms are in
    `tieproof.measures`.

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
    wanted, optional = parse_with_sets(measures)
    check_empty(empty)
    check_choice("average", average, AVERAGES)
    rounding = None if precision is None else find_format(precision)
    counting_threads = 1 if threads is None and cluster is not None else parse_threads(threads)
    in_parts = cluster is not None or checkpoint is not None
    if noise is not None:
        check_noisy(wanted, cut_off=False)
        if in_parts:
            raise InputError("noise cannot be combined with cluster= or checkpoint=. Leave these out.", "noise")
    queries = ArgumentSide(embeddings, labels, groups)
    problem = problems.make_problem(
        queries,
        ArgumentSide(gallery, gallery_labels, gallery_groups),
        distance,
        Budget(parse_memory(memory), counting_threads),
        relevance=relevance,
        exclude=exclude,
        bits=bits,
        rounding=rounding,
        kinds=problems.ANY_KIND,
        noise=noise,
    )
    problem = _as_counted(problem, in_parts)
    whole = problem.whole if isinstance(problem, Sharded) else problem
    count = whole.relevance.n_queries
    grouping = confidences = None
    if categories is not None or average != "micro":
        with about("categories", "embeddings"):
            own_labels = problems.with_own_labels(queries, relevance is not None).labels
            grouping = as_categories(categories, count, average, own_labels)
    if confidence is not None:
        with about("confidence", "embeddings"):
            confidences = as_column(confidence, "confidences", count)
    sizes = count, whole.relevance.n_items, whole.dimensions
    setting = Setting(whole.called, whole.gallery is None, *sizes, empty, average, precision)
    with ExitStack() as stack:
        origin = None
        if isinstance(problem, Sharded):
            ties, origin = _in_parts(problem, bits, cluster, checkpoint, progress, stack)
        else:
            ties = ties_of(problem, problems.watched(progress))
        with about((*whole.judged_by, "embeddings")):
            levels = None if noise is None else _levels_of(whole)
            scores = score(ties.parts, wanted, count, optional, levels, whole.budget)
            if origin is None:  # now that the memory of the engine is free again
                origin = origin_of_embeddings(whole, bits)
            evaluated = as_evaluated(scores, setting, origin, categories=grouping, confidence=confidences)
            evaluated = evaluated._replace(zero_vectors=ties.zero_vectors, negative=whole.relevance.negative())
    warn_of_recall(scores)
    return Result(evaluated)


def _levels_of(problem: Problem) -> GradeLevels:
    """Return all grades of a problem, and the function that counts it with only items of at least a grade."""
    relevance = problem.relevance

    def parts_of(level: float) -> Parts:
        assert isinstance(relevance, Judgments)
        return ties_of(replace(problem, excluded=relevance.at_least(level)), problems.unwatched).parts

    return GradeLevels(relevance.grade if isinstance(relevance, Judgments) else np.zeros(0), parts_of)
