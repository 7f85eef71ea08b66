"""Statistics of the queries' scores: intervals, tests and corrections, as functions of arrays.

`tests.py` has the tests and corrections of comparisons, `resampling.py` the bootstrap. Random draws use a fixed seed,
and sums of drawn values are sums of whole numbers: neither the order of the queries nor the machine changes a bit.
"""
