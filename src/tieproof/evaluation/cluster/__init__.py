"""Evaluations in parts, of data that does not fit into memory, on one machine or on many.

    layout.py       how data is divided into parts, for a budget
    tasks.py        a first pass over all rows, and the work on a part: pure functions that call the engine
    on_ray.py       tasks on a Ray cluster
    evaluation.py   the survey, what tasks share, and the ledger of counts, from which a killed evaluation continues

Counts are integers that are added up, so that neither the parts nor their order nor their machine can matter.
"""

from tieproof.evaluation.cluster.evaluation import Runner, count_all, survey, survey_rows
from tieproof.evaluation.cluster.layout import STORED, Span, beside_all_rows, beside_rows, fits, groups_of
from tieproof.evaluation.cluster.on_ray import connected
from tieproof.evaluation.cluster.tasks import Local, Survey, rows_in, unseen

__all__ = [
    "STORED",
    "Local",
    "Runner",
    "Span",
    "Survey",
    "beside_all_rows",
    "beside_rows",
    "connected",
    "count_all",
    "fits",
    "groups_of",
    "rows_in",
    "survey",
    "survey_rows",
    "unseen",
]
