"""The ties in a folder of predictions as text."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple

from tieproof.integrations.mteb_lists.folder import FolderTies
from tieproof.integrations.mteb_lists.splits import SplitTies
from tieproof.views.text.parts import NARROWEST, WIDTH, Row, count, paragraph, table

COUNTS = ("lists", "tied", "cut off", "in a tie", "ambiguous")
VALUES = ("MTEB", "lower", "expected", "upper")

LEGEND = (
    "'tied' counts lists in which documents have equal scores. 'cut off' counts lists that have as many documents as "
    "a list may have, and 'in a tie' those of them whose last documents have equal scores. 'ambiguous' counts lists "
    "with a tie that mixes relevant and other documents."
)
OPEN = (
    "A document that was not returned may have the same score as the last document of a list that was cut off, and "
    "so be tied with it. 'lower' and 'upper' cover every possible continuation of the last tie; 'expected' is the "
    "value of the list as it was saved."
)
HEADLINE = "The score to report is 'lower': no order of tied documents scores less."
NEEDED = (
    "Measures need judgments. Either load the data of the MTEB task once while connected to the network, or pass as "
    "--qrels a folder with {Task}_qrels.json, written by write_qrels(task, folder) of tieproof.integrations.mteb, or "
    "with {Task}/{split}.tsv in the format of BEIR or TREC."
)


def render(found: FolderTies, width: int | None = None, color: bool = False) -> str:
    """Two tables, one of how many lists have ties and one of the measures, with an explanation of the columns.

    width : the width of the text in columns; None for 80
    color : use the escape sequences of a terminal
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
    """The names of the model, task, subset and split."""
    return ((each.model,) if with_model else ()) + (each.task, each.subset, each.split)


def counts(each: SplitTies) -> Row:
    """The cells that count lists with ties."""
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
    """The explanations below the tables, and what the tables do not include."""
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
        yield f"Left out: {left_out} without lists of documents, such as files of tasks that rank nothing."
