"""The paths below `views.pictures` that version 1.0 had for pictures of confidences."""

import sys

from tieproof.confidence import pictures

__path__: list[str] = []  # so that paths below this one are looked up
NAMES = ("confidence_accuracy", "credible_region", "credible_retrieval", "error_reject", "rank_correlation")

PATHS = [f"{__name__}.pictures", *(f"{__name__}.pictures.{name}" for name in NAMES)]

sys.modules.update(dict.fromkeys(PATHS, pictures))
