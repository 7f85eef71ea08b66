"""What a folder of predictions leaves open, as text."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple

from tieproof.integrations.mteb_lists.folder import FolderTies
from tieproof.integrations.mteb_lists.splits import SplitTies
from tieproof.views.text.parts import NARROWEST, WIDTH, Row, count, paragraph, table

COUNTS = ("lists", "tied", "cut off", "in a tie", "ambiguous")
VALUES = ("MTEB", "lower", "expected", "upper")

LEGEND = (
    "Tied are lists in which documents have equal scores, and cut off those that hold as many documents as a list "
    "may hold; the last documents of those 'in a tie' have equal scores. Ambiguous is a list with a tie that mixes "
    "relevant and other documents."
)
OPEN = (
    "Of a document that was not returned one knows only that its score is at most the last one's, so it may be tied "
    "with that: 'lower' and 'upper' cover every way in which the last tie may go on, 'expected' is that of the list "
    "as it was saved."
)
HEADLINE = "The score is 'lower': whatever the order of tied documents, it is no less."
NEEDED = (
    "Judgments are needed for measures: load the data of a task of MTEB once where it has a connection, or give "
    "--qrels a folder with {Task}_qrels.json, which write_qrels(task, folder) of tieproof.integrations.mteb writes, "
    "or with {Task}/{split}.tsv in lines of BEIR or TREC."
)


def render(found: FolderTies, width: int | None = None, color: bool = False) -> str:
    """Two tables, how many lists have ties and what the measures are, with what the words mean below.

    width : columns to keep to, 80 where it is None
    color : with the escape sequences of a terminal
    """
    width = max(width or WIDTH, NARROWEST)
    several = len({each.model for each in found.splits}) > 1
    heads = (("model",) if several else ()) + ("task", "subset", "split")
    measured = [each for each in found.splits if each.estimates]
    parts = []
    if found.splits:
        rows = [(*place(each, several), *counts(each)) for each in found.splits]
        parts.append(table((*heads, *COUNTS), [rows], width, color, COUNTS))
    if measured:
        sections = [[*values(each, several)] for each in measured]
        parts.append(table((*heads, "measure", *VALUES), sections, width, color, VALUES))
    parts.append("\n".join(paragraph(text, width) for text in sentences(found, measured, several)))
    return "\n\n".join(parts)


def place(each: SplitTies, with_model: bool) -> tuple[str, ...]:
    """Where the lists are from."""
    return ((each.model,) if with_model else ()) + (each.task, each.subset, each.split)


def counts(each: SplitTies) -> Row:
    """How many lists have ties."""
    numbers = (each.lists, each.lists_with_ties, each.lists_cut_off, each.lists_cut_off_in_a_tie)
    return [*(f"{number:,}" for number in numbers), f"{each.ambiguous:,}" if each.judged else "?"]


def values(each: SplitTies, with_model: bool) -> Iterator[Row]:
    """A row for each measure."""
    names = place(each, with_model)
    for measure, estimate in each.estimates.items():
        printed = each.printed.get(measure)
        three = (f"{value:.4f}" for value in astuple(estimate)[:3])
        yield (*names, measure, "" if printed is None else f"{printed:.4f}", *three)
        names = ("",) * len(names)


def sentences(found: FolderTies, measured: Sequence[SplitTies], with_model: bool) -> Iterator[str]:
    """What the tables mean, and what is not in them."""
    if found.splits:
        yield LEGEND
        for longest in sorted({each.longest for each in found.splits if each.longest and each.lists_cut_off}):
            yield f"A list may hold {count(longest, 'document')}."
    if any(each.open_ends for each in measured):
        yield OPEN
    if measured:
        yield HEADLINE
    without = [each for each in found.splits if not each.judged]
    for each in without:
        yield f"No measures of {' '.join(place(each, with_model))}: {each.why}."
    if without:
        yield NEEDED
    if found.no_rankings:
        left_out = count(len(found.no_rankings), "file")
        yield f"Left out: {left_out} without lists of documents, as of tasks that rank nothing."
