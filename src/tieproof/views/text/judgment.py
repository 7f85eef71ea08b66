"""A judgment as text: the score in each measure with what leaves it open, and what there is to know beside it."""

from collections.abc import Iterator

from tieproof.results.judgments import Judgment, Score
from tieproof.views.text.parts import NARROWEST, WIDTH, Row, count, paragraph, table

HEADER = ("measure", "lower", "ties", "queries 95%", "runs")
RIGHT = HEADER[1:]

MEANING = (
    "'lower' ranks: every tie is broken against the system. 'ties' is what the order of tied items leaves open, "
    "'queries' what their choice leaves open (BCa bootstrap of the lower bounds), 'runs' from the smallest to the "
    "largest lower bound."
)


def render(found: Judgment, width: int | None = None, color: bool = False) -> str:
    """The table, and under it what was refused, what changed and what was not sealed.

    width : columns to keep to, 80 where it is None
    color : with the escape sequences of a terminal
    """
    width = max(width or WIDTH, NARROWEST)
    rows = [row(measure, found[measure]) for measure in found.measures]
    paragraphs = [paragraph(text, width) for text in sentences(found)]
    return "\n".join([table(HEADER, [rows], width, color, RIGHT), "", *paragraphs])


def row(measure: str, score: Score) -> Row:
    """The numbers of one measure."""
    queries = f"{score.queries.low:.4f}-{score.queries.high:.4f}" if score.queries else ""
    runs = f"{score.runs.smallest:.4f}-{score.runs.largest:.4f}" if score.runs.runs > 1 else ""
    return measure, f"{score.lower:.4f}", f"{score.ties.lower:.4f}-{score.ties.upper:.4f}", queries, runs


def sentences(found: Judgment) -> Iterator[str]:
    """What was judged, then all that is to be known of the score."""
    runs = count(len(found.results), "run")
    yield f"{found.name} in '{found.title}': {runs}, each asked {count(found.questions, 'question')}. {MEANING}"
    yield from about_answers(found)
    yield f"Sealed by {found.seal.by}." if found.seal.by != "nothing" else "Not sealed."
    yield from found.seal.not_sealed
    yield f"Written: {found.log}, {', '.join(found.records)}."


def about_answers(found: Judgment) -> Iterator[str]:
    """What was refused, run by run, and what was answered otherwise the second time."""
    for number, (refused, repeats) in enumerate(zip(found.refused, found.repeats, strict=True), 1):
        which = f"Run {number}: " if len(found.results) > 1 else ""
        if refused:
            reasons = ", ".join(f"{many:,} {reason}" for reason, many in refused.items())
            yield f"{which}{count(sum(refused.values()), 'answer')} refused: {reasons}. They count as farthest."
        if repeats.differ:
            yield (
                f"{which}{repeats.differ:,} of {count(repeats.asked, 'question')} asked twice had another answer "
                f"the second time, by up to {repeats.largest:.2g} of its length: it depends on order, batch, name or "
                "chance."
            )
    if not any(found.refused):
        yield "No answer was refused."
    if found.said:
        yield f"It said, where it first failed: {found.said}"
    if found.disqualified:
        yield "By the rules of the competition it has no rank, since an answer was refused."
