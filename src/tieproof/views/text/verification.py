"""The result of a verification, as sentences."""

from collections.abc import Iterator

from tieproof.results.verification import Verification
from tieproof.views.text.parts import NARROWEST, WIDTH, paragraph

AGREES = {True: "Every bit agrees.", False: "The record does not agree with what was evaluated."}


def render(found: Verification, width: int | None = None, color: bool = False) -> str:
    """The answer, then the differences.

    >>> render(Verification(True, True, True, (), "0.1.0", "0.1.0"))
    'Every bit agrees.'
    """
    return "\n".join(paragraph(sentence, max(width or WIDTH, NARROWEST)) for sentence in sentences(found))


def sentences(found: Verification) -> Iterator[str]:
    """The answer, how the queries were matched, the differences, and the versions."""
    yield AGREES[found.agrees]
    if not found.same_order:
        yield (
            "The queries are in another order or under other names in the record, where each has its own values. If "
            "the data was not reordered, the record was, so do not compare it with others query by query."
            if found.agrees
            else "The queries are in another order or under other names in the record; their rows match them."
        )
    yield from found.differences
    if found.differences and found.same_data:
        yield "The data is the same: the fingerprints agree."
    if found.record != found.evaluated:
        yield f"The record was written by tieproof {found.record}, but this is tieproof {found.evaluated}."
