"""Competitions that cannot be hacked: bundles for platforms, and attacks on a bundle before the competition opens.

competition.toml ──► settings.py: the one file of a competition, which the judge reads, too
settings ──► hosting.py ──► platforms/: a module for each platform ──► a bundle: a folder or .zip to upload
                            scoring.py: the functions that the bundle's scoring program calls
a bundle ──► inspection/: runs it as its platform does, and attacks it ──► CheckReport

>>> from tieproof.trials.competition import Scoring
>>> Scoring("embeddings", ("AP", "P@1")).distance
'cosine'
"""

from typing import TYPE_CHECKING

from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.trials.competition.inspection.attacks import FileAttack as FileAttack
    from tieproof.trials.competition.inspection.checking import ATTACKS as ATTACKS
    from tieproof.trials.competition.inspection.checking import CheckReport as CheckReport
    from tieproof.trials.competition.inspection.checking import check as check
    from tieproof.trials.competition.platforms import new as new
    from tieproof.trials.competition.scoring import Scoring as Scoring
    from tieproof.trials.competition.scoring import on_codabench as on_codabench
    from tieproof.trials.competition.scoring import on_evalai as on_evalai
    from tieproof.trials.competition.scoring import on_grand_challenge as on_grand_challenge
    from tieproof.trials.competition.scoring import on_kaggle as on_kaggle
    from tieproof.trials.competition.settings import Competition as Competition
    from tieproof.trials.competition.submissions import SubmissionError as SubmissionError
else:
    __getattr__, __dir__ = exports(__name__)
