"""A comparison as text: a table of differences, and what they come to."""

from tieproof.results.comparison import Comparison
from tieproof.views.text.parts import NARROWEST, WIDTH, paragraph


def render(found: Comparison, width: int | None = None, color: bool = False) -> str:
    """What every difference comes to."""
    width = max(width or WIDTH, NARROWEST)
    sentences = (found[a, b, measure].verdict.sentence for measure in found.measures for a, b in found.pairs)
    return "\n".join(paragraph(sentence, width) for sentence in sentences)
