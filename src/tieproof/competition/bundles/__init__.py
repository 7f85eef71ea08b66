"""Bundles: for each platform, a function that makes the files of a bundle from the settings."""

from collections.abc import Callable

from tieproof.competition.hosting import Hosted
from tieproof.competition.kit import Files
from tieproof.competition.platforms import codabench, evalai, grand_challenge, kaggle

BUNDLES: dict[str, Callable[[Hosted], Files]] = {
    "codabench": codabench.files,
    "evalai": evalai.files,
    "kaggle": kaggle.files,
    "grand-challenge": grand_challenge.files,
}
"""These functions, by the name of the platform."""
