"""Judging of untrusted systems, on test data that their creators do not have.

The docstring of `judging.py` shows the flow. docs/judge.md describes what a system is asked.

>>> from tieproof.judge import Competition
>>> Competition.__name__
'Competition'
"""

from tieproof.competition.settings import Competition
from tieproof.judge.answers import Repeats
from tieproof.judge.judging import judge
from tieproof.judge.judgment import Judgment, Score
from tieproof.judge.standings import Leaderboard, Standing, leaderboard
from tieproof.judge.systems import Seal

__all__ = ["Competition", "Judgment", "Leaderboard", "Repeats", "Score", "Seal", "Standing", "judge", "leaderboard"]
