"""Scorers and a display for scikit-learn, with the whole interval over tied items (extra `sklearn`).

>>> from sklearn.dummy import DummyClassifier
>>> from tieproof.integrations.sklearn import tieproof_scorer
>>> knows_nothing = DummyClassifier().fit([[0], [0], [0], [0], [0]], [1, 0, 0, 0, 0])
>>> tieproof_scorer("AP", bound="expected")(knows_nothing, [[0], [0], [0], [0], [0]], [1, 0, 0, 0, 0])
0.45666666666666667
"""

from typing import TYPE_CHECKING

from tieproof import errors
from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.integrations.sklearn.scorers import TieIntervalDisplay as TieIntervalDisplay
    from tieproof.integrations.sklearn.scorers import TieproofScorer as TieproofScorer
    from tieproof.integrations.sklearn.scorers import tieproof_scorer as tieproof_scorer
else:
    errors.import_extra("sklearn", "tieproof.integrations.sklearn", "sklearn")
    __getattr__, __dir__ = exports(__name__)
