"""Bundles: for each platform a function of the settings that says which files there are."""

from collections.abc import Callable

from tieproof.competition.bundles import codabench, evalai, grand_challenge, kaggle
from tieproof.competition.hosting import Hosted
from tieproof.competition.kit import Files

BUNDLES: dict[str, Callable[[Hosted], Files]] = {
    "codabench": codabench.files,
    "evalai": evalai.files,
    "kaggle": kaggle.files,
    "grand-challenge": grand_challenge.files,
}
"""By the name of the platform."""
