"""Scorers and a display for scikit-learn, with the whole interval over tied items (extra `sklearn`).

>>> from sklearn.dummy import DummyClassifier
>>> from tieproof.integrations.sklearn import tieproof_scorer
>>> knows_nothing = DummyClassifier().fit([[0], [0], [0], [0], [0]], [1, 0, 0, 0, 0])
>>> tieproof_scorer("AP", bound="expected")(knows_nothing, [[0], [0], [0], [0], [0]], [1, 0, 0, 0, 0])
0.45666666666666667
"""

from importlib.util import find_spec

from tieproof import errors

if find_spec("sklearn") is None:
    raise errors.MissingExtraError("tieproof.integrations.sklearn", "sklearn")

from tieproof.integrations.sklearn.scorers import TieIntervalDisplay, TieproofScorer, tieproof_scorer

__all__ = ["TieIntervalDisplay", "TieproofScorer", "tieproof_scorer"]
