"""Evaluations in parts, of data that does not fit into memory, on one machine or on many.

    layout.py       how data is divided into parts, for a budget
    tasks.py        a first pass over all rows, and the work on a part: pure functions that call the engine
    on_ray.py       tasks on a Ray cluster
    evaluation.py   the survey, what tasks share, and the ledger of counts, from which a killed evaluation continues

Counts are integers that are added up, so that neither the parts nor their order nor their machine can matter.
"""
