"""Statistics of the queries' scores: intervals, tests and corrections, as functions of arrays.

Each file has one method. Random draws use a fixed seed (`resampling.py`), and sums of drawn values are sums of whole
numbers (`resampling.py`), so that neither the order of the queries nor the machine can change a bit.
"""
