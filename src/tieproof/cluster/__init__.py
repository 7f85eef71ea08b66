"""Evaluations in parts: data that is not in memory, on one machine or on many.

    layout.py    which parts there are, for a budget
    seen.py      one look at all rows first
    tasks.py     what is done for a part: pure functions, which the engine counts for
    ledger.py    where counts are kept, so that a killed evaluation goes on where it was
    local.py     tasks in this process
    on_ray.py    tasks on a Ray cluster

Counts are integers that add up: neither the parts nor their order nor where they are counted can matter.
"""

from tieproof.cluster.evaluation import count_all, survey
from tieproof.cluster.layout import beside_all_rows, fits
from tieproof.cluster.local import Local
from tieproof.cluster.on_ray import connected

__all__ = ["Local", "beside_all_rows", "connected", "count_all", "fits", "survey"]
