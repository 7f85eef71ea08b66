"""The sentence on how many judged queries a run leaves out."""

from collections.abc import Iterator

import numpy as np

from tieproof.results.evaluated import NOT_JUDGED
from tieproof.results.results import Result


def about_run(result: Result) -> Iterator[str]:
    """How many judged queries the run leaves out, and what they count as; no sentence if it answers all.

    >>> import tieproof as tp
    >>> qrels, run = {"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 0.5}}
    >>> list(about_run(tp.evaluate_run(qrels, run, measures=["RR"])))
    ['The run has no document for 1 of 2 judged queries; it counts as 0.']
    """
    absent = result.not_in_run
    if not len(absent):
        return
    judged = result.setting.queries - len(result.skipped.get(NOT_JUDGED, ()))
    zeros = int((np.isin(absent, result.query_ids) & ~np.isin(absent, result.empty_ids)).sum())
    whole = "it" if zeros == 1 else "they"
    which = whole if zeros == len(absent) else f"{zeros:,} of these"
    becomes = f"; {which} {'counts' if zeros == 1 else 'count'} as 0" if zeros else ""
    yield f"The run has no document for {len(absent):,} of {judged:,} judged queries{becomes}."
