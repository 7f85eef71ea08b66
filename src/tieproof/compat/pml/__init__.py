"""pytorch-metric-learning's `AccuracyCalculator`, with exact distances and ties that never pay.

>>> from tieproof.compat.pml import AccuracyCalculator
>>> calculator = AccuracyCalculator(include=("precision_at_1", "mean_average_precision_at_r"))
>>> calculator.get_accuracy([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
{'mean_average_precision_at_r': 1.0, 'precision_at_1': 1.0}
"""

from tieproof.compat.pml.accuracy_calculator import AccuracyCalculator

__all__ = ["AccuracyCalculator"]
