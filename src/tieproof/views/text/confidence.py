"""The error-versus-reject curves of a result as text: their areas, and a sentence on ties among confidences."""

from tieproof.results.results import Result
from tieproof.views.text.parts import NUMBERS, count, numbers, paragraph, table

MEANING = (
    "An area is the mean error of the n most confident queries, averaged over n = 1, 2, ... up to all queries. "
    "It is an error: the value to report is 'upper'."
)


def render(result: Result, width: int, color: bool) -> str:
    """A table with the area of each measure, and its meaning.

    >>> import tieproof as tp
    >>> result = tp.evaluate([[1.0, 0.0]] * 3, [7, 7, 8], measures=["P@1"], confidence=[0.5, 0.5, 0.9])
    >>> print(render(result, 80, False))
    area of errors   lower  expected   upper  tie std
    -------------------------------------------------
    1 - P@1         0.0000    0.5000  1.0000   0.3953
    <BLANKLINE>
    An area is the mean error of the n most confident queries, averaged over n = 1,
    2, ... up to all queries. It is an error: the value to report is 'upper'.
    There is 1 tie among confidences, and the largest holds 2 of 2 queries.
    """
    curves = {name: result.error_reject(name) for name in result.measures}
    rows = [(f"1 - {name}", *numbers(curve.area)) for name, curve in curves.items()]
    first = next(iter(curves.values()))
    queries = count(len(first.rejected), "query")
    ties = "No confidences are tied."
    if first.ties.ties:
        verb = "is" if first.ties.ties == 1 else "are"
        ties = (
            f"There {verb} {count(first.ties.ties, 'tie')} among confidences, and the largest holds "
            f"{first.ties.largest_tie:,} of {queries}."
        )
    paragraphs = [paragraph(text, width) for text in (MEANING, ties)]
    return "\n".join([table(("area of errors", *NUMBERS), [rows], width, color), "", *paragraphs])
