"""The paths below `views.pictures` that version 1.0 had for pictures of confidences."""

import sys
from types import ModuleType

from tieproof.confidence import pictures as drawn

__path__: list[str] = []  # so that paths below this one are looked up
NAMES = ("confidence_accuracy", "credible_region", "credible_retrieval", "error_reject", "rank_correlation")

pictures = ModuleType(f"{__name__}.pictures")
sys.modules[pictures.__name__] = pictures
for name in NAMES:
    setattr(pictures, name, drawn)
    sys.modules[f"{pictures.__name__}.{name}"] = drawn
