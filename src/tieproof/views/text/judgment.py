"""A judgment as text: the score in each measure with its uncertainties, and sentences on the system's answers."""

from collections.abc import Iterator

from tieproof.results.judgments import Judgment, Score
from tieproof.views.text.parts import NARROWEST, WIDTH, Row, count, paragraph, table

HEADER = ("measure", "lower", "ties", "queries 95%", "runs")
RIGHT = HEADER[1:]

MEANING = (
    "Systems are ranked by 'lower', for which every tie is broken against the system. 'ties' is the range over all "
    "orderings of tied items, 'queries' the confidence interval over the choice of queries (BCa bootstrap of the "
    "lower bounds), and 'runs' the range of the lower bounds over the runs."
)


def render(found: Judgment, width: int | None = None, color: bool = False) -> str:
    """The table, then sentences on refused answers, changed answers, and what was not sealed.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal
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
    """Sentences on what was judged, and on what qualifies the score."""
    runs = count(len(found.results), "run")
    yield f"{found.name} in '{found.title}': {runs} with {count(found.questions, 'question')} each. {MEANING}"
    yield from about_answers(found)
    yield f"Sealed by {found.seal.by}." if found.seal.by != "nothing" else "Not sealed."
    yield from found.seal.not_sealed
    yield f"Files written: {found.log}, {', '.join(found.records)}."


def about_answers(found: Judgment) -> Iterator[str]:
    """Sentences on refused answers, and on answers that differed when asked again, for each run."""
    for number, (refused, repeats) in enumerate(zip(found.refused, found.repeats, strict=True), 1):
        which = f"Run {number}: " if len(found.results) > 1 else ""
        if refused:
            reasons = ", ".join(f"{many:,} {reason}" for reason, many in refused.items())
            verb = "was" if sum(refused.values()) == 1 else "were"
            yield (
                f"{which}{count(sum(refused.values()), 'answer')} {verb} refused ({reasons}). Items with refused "
                "answers have the worst place in every ranking, unless the competition ranks them last."
            )
        if repeats.differ:
            yield (
                f"{which}{repeats.differ:,} of {count(repeats.asked, 'question')} that were asked twice had another "
                f"answer the second time; the largest difference was {repeats.largest:.2g} of the answer's length. "
                "The answers depend on the order, the batch, the names or chance."
            )
    if not any(found.refused):
        yield "No answer was refused."
    if found.said:
        yield f"The system's message at its first failure: {found.said}"
    if found.disqualified:
        yield "By the rules of the competition, the system has no rank, because an answer was refused."
