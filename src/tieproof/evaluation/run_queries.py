"""The queries of a run that are evaluated, by the policies `missing` and `empty`."""

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.evaluation.evaluated import NOT_IN_RUN, NOT_JUDGED
from tieproof.evaluation.scoring import Names
from tieproof.inputs.judged_runs import JudgedDocuments, RankedDocuments
from tieproof.ties import BoolArray, IntArray


def choose(
    judged: JudgedDocuments, ranked: RankedDocuments, names: npt.NDArray[np.str_], missing: str, empty: str
) -> tuple[Names, IntArray]:
    """Choose the Q queries that are evaluated, by the policies `missing` and `empty`.

    Return the ids of the evaluated queries and of the others, each sorted, and the position 0 … Q-1 of each query
    that was read, or -1 if it is not evaluated.
    """

    def holds(query: IntArray) -> BoolArray:
        return np.bincount(query, minlength=len(names)) > 0

    has_judgment, in_run = holds(judged.documents.query), holds(ranked.query)
    has_relevant = holds(judged.documents.query[judged.grade > 0])
    absent = has_relevant & ~in_run
    if not (has_judgment & in_run).any():
        raise InputError(
            f"The run has no query of the qrels: the qrels have queries such as '{min(names[has_judgment])}', the "
            f"run such as '{min(names[in_run])}'. Check that the qrels and the run belong together."
        )
    if missing == "error" and absent.any():
        raise InputError(
            f"The run has no document for {absent.sum()} of {has_judgment.sum()} queries of the qrels; the first is "
            f"'{min(names[absent])}'. Complete the run, or set missing to zero or skip."
        )
    barren = has_judgment & ~has_relevant
    if empty == "error" and barren.any():
        raise InputError(
            f"The qrels have no relevant document for {barren.sum()} of {has_judgment.sum()} queries; the first is "
            f"'{min(names[barren])}'. Leave them out, or set empty to skip, zero or one."
        )
    left_out = {NOT_IN_RUN: absent & (missing == "skip"), NOT_JUDGED: in_run & ~has_judgment}
    evaluated = has_judgment & ~left_out[NOT_IN_RUN]
    if empty in ("skip", "nan") and not (evaluated & has_relevant).any():
        raise InputError(
            "No query has both a relevant document in the qrels (a grade above 0) and a document in the run. Check "
            "the grades, and that the qrels and the run belong together."
        )
    order = np.argsort(names[evaluated])
    number = np.full(len(names), -1)
    number[np.flatnonzero(evaluated)[order]] = np.arange(len(order))
    reasons = {reason: np.sort(names[which]) for reason, which in left_out.items()}
    return Names(names[evaluated][order], reasons, np.sort(names[has_judgment & ~in_run])), number
