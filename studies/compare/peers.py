"""The scores that other programs print for codes, by breaking ties in some order, and the test that they apply.

PyTerrier's `Experiment(baseline=...)` has trec_eval's scores, here by pytrec_eval, and `ranx.compare` its own; both
give them to `scipy.stats.ttest_rel`, for each pair by itself unless a correction is asked for.
"""

from collections.abc import Mapping

import numpy as np

from studies.compare.systems import Array, Data
from tieproof.ties import FloatArray, IntArray

Run = dict[str, dict[str, float]]


def queries_of(data: Data) -> IntArray:
    """The items that have another item with their label."""
    _, place, counts = np.unique(data.labels, return_inverse=True, return_counts=True)
    return np.flatnonzero(counts[place] > 1)


def as_run(bits: Array, data: Data, backwards: bool = False) -> Run:
    """Every query with all other items and minus their Hamming distances.

    backwards : with the last item first, which changes no score
    """
    ones = bits.astype(np.float64)
    sums = ones.sum(axis=1)
    distances = sums[:, None] + sums - 2 * ones @ ones.T
    items = range(len(bits))[::-1] if backwards else range(len(bits))
    return {
        str(query): {f"{item:05d}": -float(distances[query, item]) for item in items if item != query}
        for query in queries_of(data).tolist()
    }


def judgments(data: Data) -> dict[str, dict[str, int]]:
    """The items with each query's label."""
    return {
        str(query): {
            f"{item:05d}": 1 for item in np.flatnonzero(data.labels == data.labels[query]).tolist() if item != query
        }
        for query in queries_of(data).tolist()
    }


def by_trec_eval(run: Run, qrels: Mapping[str, Mapping[str, int]]) -> FloatArray:
    """The average precision of every query, by pytrec_eval."""
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    return np.array([found[query]["map"] for query in run])


def by_ranx(run: Run, qrels: Mapping[str, Mapping[str, int]]) -> FloatArray:
    """The average precision of every query, by ranx."""
    import ranx

    given = ranx.Run(run)
    ranx.evaluate(ranx.Qrels(qrels), given, "map")
    return np.array([given.scores["map"][query] for query in run])


PROGRAMS = {"PyTerrier": by_trec_eval, "ranx": by_ranx}


def p_values(differences: FloatArray) -> FloatArray:
    """The p-values of the paired t-test of each column of differences (n, k); of one without any difference, 1."""
    from scipy.stats import ttest_1samp

    found = np.ones(differences.shape[1])
    differs = np.ptp(differences, axis=0) > 0
    found[differs] = ttest_1samp(differences[:, differs], 0.0, axis=0).pvalue
    return found
