"""A result as text: a table, and sentences on what was evaluated, on ties, and on the uncertainty over queries."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tieproof.evaluation.evaluated import NOT_JUDGED, NOTHING_RELEVANT
from tieproof.evaluation.measured import Measured
from tieproof.measures import parse
from tieproof.show.parts import HEADLINE, NUMBERS, REPORT, Row, count, numbers, percent, place
from tieproof.show.shown import Table
from tieproof.ties import ROUNDING, Bounds, Estimate

if TYPE_CHECKING:
    from tieproof.evaluation.one_order import Printed
    from tieproof.measures.confidence import ErrorRejectCurve

NOISE = "noise"  # the header of the bounds under noise
MOST_CATEGORIES = 20  # the most categories that are all shown
EACH = 5  # the number of the worst categories, and of the best, that are shown otherwise
Means = list[tuple[str, Estimate[float]]]  # names of categories, each with the mean of a measure
ALL = {"micro": "(all queries)", "macro": "(mean of them)"}  # the text for the mean in the column of categories


def worst_and_best(result: Measured, measure: str) -> tuple[Means, int, Means]:
    """All categories in order or, of more than 20, the five worst and the five best, the worst first."""
    # They are compared by `lower`, then by `expected`, `upper` and their names; the number is that of the others.
    means = [(str(name), mean) for name, mean in result.category_means(measure).items()]
    if len(means) <= MOST_CATEGORIES:
        return means, 0, []
    means.sort(key=lambda named: (named[1].lower, named[1].expected, named[1].upper, named[0]))
    return means[:EACH], len(means) - 2 * EACH, means[-EACH:]


def table_of(result: Measured) -> Table:
    """A row for each measure, or for each of its categories, and sentences on what was evaluated."""
    columns = (*NUMBERS, NOISE) if result.evaluated.noisy else NUMBERS
    header = ["measure", *columns]
    sections = [[[measure, *_numbers(measure, result[measure])] for measure in result.measures]]
    if result.categories:
        header.insert(1, "category")
        sections = [list(_rows_by_category(result, measure)) for measure in result.measures]
    rows = [row for section in sections for row in section]
    notes, further = list(_sentences(result)), []
    if result.printed is not None:
        further.append(result.printed.rule)
        means = {**result.printed}
        for row in rows:
            of_category = {str(name): mean for name, mean in result.printed.category_means(row[0]).items()}
            value = means.pop(row[0]) if row[0] in means else of_category.get(row[1])
            row.append("" if value is None else f"{value:.4f}")
        notes += _about_printed(result, result.printed)
    if result.ci is not None:
        further.append(f"queries {percent(result.ci)}")
        intervals = result.intervals(result.ci)
        for row in rows:
            over_queries = intervals.pop(row[0], None)  # only the first row of a measure is the mean over all queries
            row.append("" if over_queries is None else f"{over_queries.low:.4f} to {over_queries.high:.4f}")
        notes += _about_intervals(result, result.ci)
    return Table([*header, *further], sections, notes, [*columns, *further])


def _rows_by_category(result: Measured, measure: str) -> Iterator[list[str]]:
    first, between, last = worst_and_best(result, measure)
    for name, mean in [(ALL[result.setting.average], result[measure]), *first]:
        yield [measure, name, *_numbers(measure, mean)]
    if between:
        yield [measure, f"({between:,} more)", *[""] * len(numbers(result[measure]))]
    for name, mean in last:
        yield [measure, name, *_numbers(measure, mean)]


def _numbers(measure: str, mean: Estimate[float]) -> Row:
    """The numbers of a mean, or of a count, which is a whole number whatever the ties."""
    if not parse(measure).definition.total:
        return numbers(mean)
    return [f"{mean.lower:.0f}", f"{mean.expected:.0f}", f"{mean.upper:.0f}", *[""] * (len(numbers(mean)) - 3)]


def _about_intervals(result: Measured, confidence: float) -> Iterator[str]:
    from tieproof.measures.statistics.resampling import RESAMPLES  # needed only here, and slow to import

    within = ", each category's within itself" if result.setting.average == "macro" else ""
    yield (
        "Uncertainty from ties: 'lower' to 'upper', and 'tie std', the standard deviation if ties are broken at "
        "random."
    )
    yield (
        f"Uncertainty from the choice of queries: 'queries {percent(confidence)}', the confidence interval of "
        f"'{HEADLINE}', by the bootstrap (BCa) of the queries{within}, with {RESAMPLES:,} resamples from a fixed "
        "seed."
    )


def _about_printed(result: Measured, printed: "Printed") -> Iterator[str]:
    yield f"'{printed.rule}' is the value if equal scores are ranked {printed.meaning}."
    if printed.differences:
        yield f"Besides, {', and '.join(printed.differences)}."
    ends = {name: (result[name].lower - ROUNDING, result[name].upper + ROUNDING) for name in printed}
    outside = [name for name, value in printed.items() if not ends[name][0] <= value <= ends[name][1]]
    if outside:
        reason = "that reason" if len(printed.differences) == 1 else "one of these reasons"
        yield f"The value of {', '.join(outside)} lies outside of its interval for {reason}."


def curves_of(result: Measured) -> "dict[str, ErrorRejectCurve]":
    """The `error_reject` of each measure that is a score; empty without confidences."""
    scores = [name for name in result.measures if parse(name).definition.is_score]
    return {name: result.error_reject(name) for name in scores if result.has_confidence}


def table_of_errors(curves: "Mapping[str, ErrorRejectCurve]") -> Table:
    """The area under the error-versus-reject curve of each measure, and its meaning."""
    rows: list[Row] = [(f"1 - {measure}", *numbers(curve.area)) for measure, curve in curves.items()]
    meaning = (
        "An area is the mean error of the n most confident queries, averaged over n = 1, 2, ... up to all queries. "
        "It is an error: the value to report is 'upper'."
    )
    curve = next(iter(curves.values()))
    ties = "No confidences are tied."
    if curve.ties.ties:
        ties = (
            f"There {'is' if curve.ties.ties == 1 else 'are'} {count(curve.ties.ties, 'tie')} among confidences, and "
            f"the largest holds {curve.ties.largest_tie:,} of {count(len(curve.rejected), 'query')}."
        )
    return Table(("area of errors", *NUMBERS), [rows], [ties, meaning], NUMBERS)


def evaluated(result: Measured) -> str:
    """The queries, the gallery and the distance, in words."""
    setting = result.setting
    left_out = sum(map(len, result.skipped.values()))
    queries = count(setting.queries, "query")
    if left_out:
        queries = f"{setting.queries - left_out:,} of {queries}"
    items = count(setting.gallery, "item")
    if result.search is not None:
        kind = {"exact": "an exact", "approximate": "an approximate", "returned": "a"}[result.search]
        return f"{queries}, by the {setting.distance} that {kind} search among {items} returned"
    rounded = f" rounded to {setting.precision}" if setting.precision else ""
    if setting.dimensions is None:
        return f"{queries}, ranking up to {items} by the given {setting.distance}{rounded}"
    return f"{queries}{place(setting.leave_one_out, setting.gallery, setting.dimensions, setting.distance)}{rounded}"


def _sentences(result: Measured) -> Iterator[str]:
    if left_out := [f"{count(len(ids), 'query')} with {reason}" for reason, ids in result.skipped.items()]:
        yield f"Left out: {'; '.join(left_out)}."
    if without := len(result.categories_left_out):
        further = f"{count(without, 'further category')} {'has' if without == 1 else 'have'}"
        yield f"{further} no query with a relevant item, and so no mean."
    yield from result.evaluated.said
    yield from about_run(result)
    if negative := result.evaluated.negative:
        was = "was" if negative == 1 else "were"
        yield f"{count(negative, 'item')} of negative relevance {was} left out of the rankings."
    empty = len(result.empty_ids)
    if empty and NOTHING_RELEVANT not in result.skipped:
        counts = "counts" if empty == 1 else "count"
        yield f"{count(empty, 'query')} without any relevant item {counts} as {result.setting.empty}."
    for name, bounds in medians(result).items():
        median = f"{bounds.lower:g}" if bounds.lower == bounds.upper else f"{bounds.lower:g} to {bounds.upper:g}"
        yield f"The median of {name} over the queries (MedR) is {median}."
    yield from about_ties(result)
    if result.evaluated.noisy:
        yield from _about_noise(result)
    yield f"Evaluated {evaluated(result)}."
    yield from _about_categories(result)
    yield from _about_terms(result)


def medians(result: Measured) -> dict[str, Bounds[float]]:
    """The medians of the measures whose median is usual, which are ranks; empty if there is none."""
    ranks = [name for name in result.measures if parse(name).definition.smaller_is_better]
    return {name: result.median(name) for name in ranks}


def _about_categories(result: Measured) -> Iterator[str]:
    known = len(result.categories)
    if result.setting.average == "macro":
        yield f"Means are over {count(known, 'category')}, each with the mean over its queries."
    if known > MOST_CATEGORIES:
        yield (
            f"Of {count(known, 'category')}, the {EACH} with the lowest and the {EACH} with the highest '{HEADLINE}' "
            "are shown; the JSON of the result has all of them."
        )


def about_run(result: Measured) -> Iterator[str]:
    """How many judged queries the run leaves out, and what they count as; no sentence if it answers all."""
    absent = result.not_in_run
    if not len(absent):
        return
    judged = result.setting.queries - len(result.skipped.get(NOT_JUDGED, ()))
    zeros = int((np.isin(absent, result.query_ids) & ~np.isin(absent, result.empty_ids)).sum())
    whole = "it" if zeros == 1 else "they"
    which = whole if zeros == len(absent) else f"{zeros:,} of these"
    becomes = f"; {which} {'counts' if zeros == 1 else 'count'} as 0" if zeros else ""
    yield f"The run has no document for {len(absent):,} of {judged:,} judged queries{becomes}."


def about_ties(result: Measured) -> Iterator[str]:
    """Sentences on ties, on what lists leave open and on vectors of zeros, then on which number to report."""
    ties = result.ties
    queries, touched, open_ends = ties.queries, ties.queries_with_ambiguous_ties, ties.queries_with_open_last_tie
    changed = 0 if result.search is not None else _count_open(result)
    if ties.ambiguous_ties:
        largest = f"the largest tie holds {count(ties.largest_tie, 'item')}"
        more = "'tie std' has them independent" if _share_an_order(result) else largest
        if ties.zero_vectors:
            more = _are_zero(ties.zero_vectors)
        hold = "holds" if touched == 1 else "hold"
        yield f"{touched:,} of {count(queries, 'query')} {hold} an ambiguous tie; {more}."
    elif changed:
        yield (
            f"No tie mixes relevant and other items, but the grades or judgments of tied items differ, which changes "
            f"a score of {changed:,} of {count(queries, 'query')}."
        )
    else:
        harmless = {0: "", 1: " The only tie holds only relevant items."}
        several = f" The {count(ties.ties, 'tie')} hold only relevant items."
        where = " within a list" if open_ends else ""
        yield f"No tie{where} changes any score: all orderings agree.{harmless.get(ties.ties, several)}"
    if result.search is not None:
        yield from _about_search(result)
    elif open_ends:
        has = "has" if open_ends == 1 else "have"
        yield f"{open_ends:,} of {count(queries, 'query')} {has} a list that was cut off, perhaps within a tie."
    is_open = ties.ambiguous_ties or changed or open_ends
    if is_open and not (result.search == "approximate" and open_ends):
        yield REPORT
        for name in medians(result):
            yield f"{name}: the smaller, the better, so 'upper' is the value for claims."
    yield from _about_zeros(result)
    if open_ends:
        yield from _about_ends(result)


def _about_terms(result: Measured) -> Iterator[str]:
    ties = result.ties
    if ties.ambiguous_ties:
        them = "is 1" if ties.ambiguous_ties == 1 else f"are {ties.ambiguous_ties:,}"
        yield f"An ambiguous tie mixes relevant and other items; there {them} of them."
    if _share_an_order(result):
        yield (
            f"The largest tie holds {count(ties.largest_tie, 'item')}. "
            "'tie std' has the ties of each query broken independently; one order of the items for all queries can "
            "spread the mean several times as much."
        )


def _share_an_order(result: Measured) -> bool:
    """Whether a program that sorts would break the ties of several queries by the same order of the items."""
    return result.ties.queries_with_ambiguous_ties > 1 and result.setting.dimensions is not None


def _count_open(result: Measured) -> int:
    values = np.array(list(result.evaluated.per_query.values()))
    lower, _, upper, variance, *_ = values.transpose(1, 0, 2)
    return int(((lower < upper) & (variance > 0)).any(axis=0).sum())


def _about_noise(result: Measured) -> Iterator[str]:
    may_change = result.evaluated.open_under_noise()
    changed, queries = int(may_change.sum()), count(len(may_change), "query")
    yield (
        f"'{NOISE}' is the range over all rankings that are possible under the given noise, which may change a score "
        f"of {changed:,} of {queries}."
    )


def _about_search(result: Measured) -> Iterator[str]:
    if result.setting.distance == "order":
        yield "There are no distances: the order of each list is taken as given, without ties."
    if result.search == "returned":
        yield "Only what was returned is scored: an unlisted item comes last, and counts as never retrieved."
    if open_ends := result.ties.queries_with_open_last_tie:
        yield f"Items not listed may change the score of {open_ends:,} of {count(result.ties.queries, 'query')}."


def _about_ends(result: Measured) -> Iterator[str]:
    if result.search is None:
        yield (
            "Of a tie that may continue beyond the end of its list, 'lower' and 'upper' cover every possible "
            "continuation; 'expected' and 'tie std' are computed from the list as given."
        )
        return
    if result.search == "approximate":
        where = "approximate search, an unlisted item may be anywhere, even nearer than the listed items"
    elif result.setting.distance == "order":
        where = "exact search, an unlisted item comes after all listed items"
    else:
        where = "exact search, an unlisted item is at least as far as the last item listed"
    yield (
        f"After an {where}. 'lower' and 'upper' cover every such ranking of all "
        f"{count(result.setting.gallery, 'item')}; 'expected' and 'tie std' assume that unlisted items follow each "
        "list in random order."
    )
    if result.search == "approximate":
        yield (
            f"'{HEADLINE}' is the least that the lists allow, whatever the search missed; it is low because of "
            "unlisted items, not only because of ties. To score what was returned, evaluate with search=returned."
        )


def _about_zeros(result: Measured) -> Iterator[str]:
    """How many vectors are all zero, unless a sentence on ties has said it, and how alike they are by cosine."""
    zeros = result.ties.zero_vectors
    by_cosine = result.setting.distance == "cosine"
    if zeros and (by_cosine or not result.ties.ambiguous_ties):
        cosine = f": {'its' if zeros == 1 else 'their'} cosine similarity to everything is 0" if by_cosine else ""
        yield f"{_are_zero(zeros)}{cosine}."


def _are_zero(zeros: int) -> str:
    return f"{count(zeros, 'vector')} {'is' if zeros == 1 else 'are'} all zero"
