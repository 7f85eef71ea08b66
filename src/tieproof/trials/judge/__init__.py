"""Judging of untrusted systems, on test data that their creators do not have.

The docstring of `judging.py` shows the flow. docs/judge.md describes what a system is asked.

>>> from tieproof.trials.judge import Competition
>>> Competition.__name__
'Competition'
"""

from tieproof.trials.competition.settings import Competition
from tieproof.trials.judge.answers import Repeats
from tieproof.trials.judge.judging import judge
from tieproof.trials.judge.judgment import Judgment, Score
from tieproof.trials.judge.standings import Leaderboard, Standing, leaderboard
from tieproof.trials.judge.systems import Seal

__all__ = ["Competition", "Judgment", "Leaderboard", "Repeats", "Score", "Seal", "Standing", "judge", "leaderboard"]
