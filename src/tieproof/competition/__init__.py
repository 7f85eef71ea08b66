"""Competitions that cannot be hacked: bundles for platforms, and attacks on a bundle before the competition opens.

competition.toml ──► settings.py: the one file of a competition, which the judge reads, too
settings ──► hosting.py ──► bundles/: a module for each platform ──► a folder or .zip to upload
                            scoring.py, programs.py: the functions that the bundle's scoring program calls
a bundle ──► inspection/: runs it as its platform does, and attacks it ──► CheckReport

>>> from tieproof.competition import Scoring
>>> Scoring("embeddings", ("AP", "P@1")).distance
'cosine'
"""

from typing import TYPE_CHECKING

from tieproof.later import handed_on

if TYPE_CHECKING:
    from tieproof.competition.inspection.all_attacks import ATTACKS
    from tieproof.competition.inspection.attacks import FileAttack
    from tieproof.competition.inspection.checking import check
    from tieproof.competition.inspection.report import CheckReport
    from tieproof.competition.making import new
    from tieproof.competition.programs import on_codabench, on_evalai, on_grand_challenge, on_kaggle
    from tieproof.competition.scoring import Scoring
    from tieproof.competition.settings import Competition
    from tieproof.competition.submissions import SubmissionError
else:
    __getattr__, __dir__ = handed_on(
        __name__,
        {
            "ATTACKS": "tieproof.competition.inspection.all_attacks",
            "CheckReport": "tieproof.competition.inspection.report",
            "FileAttack": "tieproof.competition.inspection.attacks",
            "Competition": "tieproof.competition.settings",
            "Scoring": "tieproof.competition.scoring",
            "SubmissionError": "tieproof.competition.submissions",
            "check": "tieproof.competition.inspection.checking",
            "new": "tieproof.competition.making",
            "on_codabench": "tieproof.competition.programs",
            "on_evalai": "tieproof.competition.programs",
            "on_grand_challenge": "tieproof.competition.programs",
            "on_kaggle": "tieproof.competition.programs",
        },
    )

__all__ = [
    "ATTACKS",
    "CheckReport",
    "Competition",
    "FileAttack",
    "Scoring",
    "SubmissionError",
    "check",
    "new",
    "on_codabench",
    "on_evalai",
    "on_grand_challenge",
    "on_kaggle",
]
