"""`evaluate_scores` and `evaluate_distances`: rankings given as matrices or ragged lists, whole or cut off."""

from collections.abc import Sequence
from typing import Any

from tieproof.evaluation.given_lists import evaluate_lists
from tieproof.evaluation.result import Result
from tieproof.evaluation.scoring import Empty
from tieproof.inputs.categories import Average
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.options import Rounded
from tieproof.measures import DEFAULT_MEASURES, Measure


@unchanged_files
def evaluate_scores(
    scores: Any,
    relevance: Any = None,
    *,
    labels: Any = None,
    gallery_labels: Any = None,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    n_relevant: Any = None,
    n_items: Any = None,
    complete: bool = False,
    categories: Any = None,
    average: Average = "micro",
    empty: Empty = "skip",
    noise: float | None = None,
    precision: Rounded | None = None,
) -> Result:
    """Score rankings given as scores; larger is nearer, and the scores are compared as the numbers given.

    Parameters
    ----------
    scores : (q, n) array, or a list of q arrays of any lengths; or a table, which has the relevance, too
        A table is the path of a file (text with a header, JSON, lines of JSON or Parquet, packed or not), a data
        frame or a table of Arrow, with a row for each document of each query. It has columns for the query
        (query_id, qid, user_id, …), the document (doc_id, docno, item_id, …; needed only to refuse repeated
        documents), the score (score, y_score, pred, similarity, prob, …) and the relevance (relevance, label, grade,
        target, y_true, …); docs/files.md lists all names. A table without a query, of scores and relevance alone, is
        one list. Its categories are as for `evaluate_run`, and `query_ids` of its result are strings, sorted.
    relevance : the same shape; not with a table
        0: not relevant; above 0: relevant with that grade; -1: excluded from the ranking. Negative fractions are
        refused.
    labels : (q,) integers or strings, or (q, c) of 0/1, instead of relevance
        Items with the query's label are relevant; with columns, items that share at least one class. Without
        `gallery_labels` the matrix must be square, and its rows and columns are the same items: each item queries all
        the others, and the diagonal is excluded, whatever its values.
    gallery_labels : (n,), or (n, c)
        The labels of the columns.
    n_relevant : (q,) integers, or one for all queries
        For lists that were cut off: the number of relevant items of each query, in its list or not. The last tie of a
        list may continue beyond its end. `lower` and `upper` cover every continuation by items, excluded or not, that
        are as near as the last one; `expected` and `std` are those of the list as given.
        `ties.queries_with_open_last_tie` counts the queries whose last tie may continue. The grades of missing items
        are unknown: if any item is missing, graded nDCG needs `ideal=list`, which takes the ideal ranking from the
        list alone and treats missing items as any other item.
    n_items : (q,) integers, or one for all queries
        The number of items that each query ranks, in its list or not, without the excluded ones. It limits how far
        the last tie can continue; without it, the tie may continue without end.
    complete : bool
        The lists are complete, not cut off: relevant items of `n_relevant` that a list lacks were never found, as by
        a detector or a memory, and count as documents outside of a run do in `evaluate_run`.
    measures, categories, average, empty :
        As in `evaluate`; without labels, `average="macro"` needs categories.
    noise : number
        The most by which each score may be off. `result[measure].noise` then has the `lower` and the `upper` value
        over all rankings that are possible, decided without rounding. Not for lists that were cut off.
    precision : "float32" or "float16"
        Scores are rounded to it first, as programs do that compute in it, and are tied where they are then equal.

    Raises
    ------
    InputError
        If the input contains NaN or infinity, has wrong shapes or types, or if n_relevant is less than the number of
        relevant items in a list; the message says what arrived, what was expected and what to do. One-dimensional
        scores are refused, too: they could be the scores of one query or of several queries, one after the other.

    Warns
    -----
    InputWarning
        If a square matrix is probably one of distances: its diagonal, excluded or relevant, is the smallest number of
        each row, and other relevant items have smaller scores than the rest. If queries probably find themselves: the
        scores of item i for query i and the reverse are equal, and the diagonal is relevant and nearest. If the only
        values of the relevance are -1 and 1, or if it has several negative ones: they probably mean not relevant. If
        lists without a relevant item are left out, and all lists are as long as a cutoff: they are probably the first
        items of longer rankings, in which nothing was found.

    Notes
    -----
    The closed forms under ties are in `tieproof.measures`, with their sources. A list that was cut off is evaluated
    for the extreme continuations of its last tie. McSherry and Najork 2008 (section 2) treat a tie that straddles a
    cutoff; here the half of the tie beyond the cutoff is unknown.

    Examples
    --------
    >>> import pandas
    >>> import tieproof as tp
    >>> tp.evaluate_scores([[0.9, 0.5, 0.5, 0.1]], [[0, 1, 0, 0]], measures=["RR"])["RR"]
    Estimate(lower=0.3333333333333333, expected=0.4166666666666667, upper=0.5, std=0.08333333333333333)
    >>> top_2 = tp.evaluate_scores([[0.9, 0.5]], [[1, 0]], measures=["R@2"], n_relevant=[2])
    >>> top_2["R@2"]
    Estimate(lower=0.5, expected=0.5, upper=1.0, std=0.0)
    >>> top_2.ties.queries_with_open_last_tie
    1
    >>> tp.evaluate_scores([[0.9, 0.5]], [[1, 0]], measures=["R@2"], n_relevant=[2], complete=True)["R@2"].upper
    0.5
    >>> table = {"qid": ["a", "a", "b", "b"], "pred": [0.9, 0.9, 0.2, 0.1], "label": [1, 0, 1, 0]}
    >>> of_table = tp.evaluate_scores(pandas.DataFrame(table), measures=["RR"])
    >>> of_table.per_query("RR").lower.tolist(), of_table.query_ids.tolist()
    ([0.5, 1.0], ['a', 'b'])
    >>> similarities = [[1.0, 0.8, 0.1], [0.8, 1.0, 0.2], [0.1, 0.2, 1.0]]
    >>> tp.evaluate_scores(similarities, labels=["cat", "cat", "dog"], measures=["P@1"])["P@1"].lower
    1.0

    """
    judged_by = relevance, labels, gallery_labels, n_relevant, n_items, complete
    return Result(
        evaluate_lists(scores, "scores", judged_by, measures, (categories, average), empty, noise, precision)
    )


@unchanged_files
def evaluate_distances(
    distances: Any,
    relevance: Any = None,
    *,
    labels: Any = None,
    gallery_labels: Any = None,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    n_relevant: Any = None,
    n_items: Any = None,
    complete: bool = False,
    categories: Any = None,
    average: Average = "micro",
    empty: Empty = "skip",
    noise: float | None = None,
    precision: Rounded | None = None,
) -> Result:
    """Score rankings given as distances: the same as `evaluate_scores`, but smaller is nearer.

    A table has its distances in a column called distance, dist or score.

    An `InputWarning` is issued if a square matrix is probably one of similarities: its diagonal, excluded or
    relevant, is the largest number of each row, and other relevant items have larger distances than the rest. Another
    one is issued if queries probably find themselves, as for `evaluate_scores`.

    Examples
    --------
    >>> import tieproof as tp
    >>> tp.evaluate_distances([[0.0, 1.0, 1.0]], [[1, 1, 0]], measures=["P@1"])["P@1"].lower
    1.0
    >>> tp.evaluate_distances([[0.0, 1.0, 1.0]], [[1, 1, 0]], measures=["P@1"], noise=0.5)["P@1"].noise
    Bounds(lower=0.0, upper=1.0)

    """
    judged_by, grouped_by = (relevance, labels, gallery_labels, n_relevant, n_items, complete), (categories, average)
    return Result(evaluate_lists(distances, "distances", judged_by, measures, grouped_by, empty, noise, precision))
