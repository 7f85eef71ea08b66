"""The evaluator's side: a system that nobody trusts, judged on data that its creator does not have.

`judging.py` draws the flow. What a system is asked stands in docs/judge.md.

>>> from tieproof.judge import Competition
>>> Competition.__name__
'Competition'
"""

from tieproof.competition.settings import Competition
from tieproof.judge.judging import judge
from tieproof.judge.standings import leaderboard
from tieproof.results.judgments import Judgment, Repeats, Score, Seal
from tieproof.results.leaderboards import Leaderboard, Standing

__all__ = ["Competition", "Judgment", "Leaderboard", "Repeats", "Score", "Seal", "Standing", "judge", "leaderboard"]
