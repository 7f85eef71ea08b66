"""All attacks, in the order in which they are reported."""

from tieproof.competition.inspection import blind_systems, broken_files, guessing, leaks  # noqa: F401 (they register)
from tieproof.competition.inspection.attacks import ATTACKS

__all__ = ["ATTACKS"]
