"""A leaderboard as text: a row for each system, and the meaning of the ranks."""

from collections.abc import Iterator

from tieproof.results.leaderboards import NOT_VERIFIED, Leaderboard, Standing
from tieproof.views.text.parts import NARROWEST, WIDTH, Row, count, paragraph, percent, table

HEADER = ("rank", "system", "lower", "ties up to", "queries 95%", "runs", "record")
RIGHT = ("rank", *HEADER[2:-1])


def render(found: Leaderboard, width: int | None = None, color: bool = False) -> str:
    """The table of all systems by the measure that ranks them, and notes on some systems.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal
    """
    width = max(width or WIDTH, NARROWEST)
    rows = [row(each, found.measure) for each in found.standings]
    paragraphs = [paragraph(text, width) for text in sentences(found)]
    return "\n".join([table(HEADER, [rows], width, color, RIGHT), "", *paragraphs])


def row(standing: Standing, measure: str) -> Row:
    """The rank and the numbers of a system."""
    score = standing.scores[measure]
    queries = f"{score.queries.low:.4f}-{score.queries.high:.4f}" if score.queries else ""
    runs = f"{score.runs.smallest:.4f}-{score.runs.largest:.4f}" if score.runs.runs > 1 else ""
    rank = "-" if standing.rank is None else f"{standing.rank}"
    return rank, standing.name, f"{score.lower:.4f}", f"{score.ties.upper:.4f}", queries, runs, standing.record


def sentences(found: Leaderboard) -> Iterator[str]:
    """Sentences on the ranking and on shared ranks, and the notes on systems."""
    systems, level = count(len(found.standings), "system"), percent(found.confidence)
    yield (
        f"{systems} by {found.measure}, with every tie broken against each system. A rank is 1 + the number of "
        "systems that are ahead. A system is ahead if its lower bound is larger by more than the choice of queries "
        f"is likely to explain, at {level} for all pairs together (sign-flip test, Holm). Systems of equal rank are "
        "listed by their lower bounds; this order is not a ranking."
    )
    if any(standing.record == NOT_VERIFIED for standing in found.standings):
        yield "Not verified: the scores are those that a record states. --verify evaluates its data again."
    for standing in found.standings:
        if standing.notes:
            yield f"{standing.name}: {'; '.join(standing.notes)}."
