"""Statistics of what queries score: intervals, tests and corrections, as functions of arrays.

Each file is one method. What is drawn at random is drawn from a fixed seed (`draws.py`), and sums of drawn values are
sums of whole numbers (`whole_numbers.py`), so that neither the order of the queries nor the machine can change a bit.
"""
