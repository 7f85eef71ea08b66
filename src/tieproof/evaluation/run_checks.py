"""Checks of judgments and a run: what the measures need, which queries count, and what looks like a mistake."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError, warn
from tieproof.evaluation.evaluated import NOT_IN_RUN, NOT_JUDGED
from tieproof.evaluation.run_ties import RelevantScores
from tieproof.evaluation.scoring import Names
from tieproof.inputs.judged_runs import JudgedDocuments, RankedDocuments
from tieproof.measures import Measure
from tieproof.ties import BoolArray, FloatArray, IntArray

USUAL_GRADES = -2, 10  # the smallest and the largest grade that assessors usually give

ASSESSORS = 5, 7, 12
"""Means of up to seven assessors are multiples of a fraction, of which these are the denominators, if rounded to two
decimals; those of two, three, four and six are twelfths."""

MANY_FRACTIONS = 6  # so many different fractions are scores, unless they are such means
SHORTEST = 10  # the fewest documents of lists that are supposed to be cut off; shorter ones are often examples


def without_unjudged(wanted: list[Measure], optional: frozenset[Measure], option: str) -> list[Measure]:
    """Return the measures without those of judgments, which have no bounds if an option is given."""
    counts_stay = option == "noise"  # which changes only the order of a list
    found = [each for each in wanted if each.definition.unjudged and not (counts_stay and each.definition.total)]
    for each in found:
        if each not in optional:
            raise InputError(
                f"'{each}' describes the documents of a list as it is, and has no bounds over other lists. Leave out "
                f"{option}, or the measure.",
                option,
            )
    if found:
        warn(
            f"{', '.join(map(str, found))} are left out of the set, because they describe the documents of a list as "
            f"it is, and {option} is about other lists."
        )
    return [each for each in wanted if each not in found]


def with_judgments(judged: JudgedDocuments, wanted: list[Measure], optional: frozenset[Measure]) -> list[Measure]:
    """Return the measures; if no document was judged not relevant, leave out or refuse those that need such ones."""
    found = [each for each in wanted if each.definition.judged_only]
    if not found or (judged.grade == 0).any():
        return wanted
    if not optional.issuperset(found):
        raise InputError(
            f"'{found[0]}' counts the documents that were judged not relevant above each relevant one, but the qrels "
            "have no document of grade 0. Use a measure that treats unjudged documents as not relevant, such as AP."
        )
    warn(f"{found[0]} is left out of the set, because the qrels have no document of grade 0.")
    return [each for each in wanted if each not in found]


def choose(
    judged: JudgedDocuments, ranked: RankedDocuments, names: npt.NDArray[np.str_], missing: str, empty: str
) -> tuple[Names, IntArray]:
    """Choose the Q queries that are evaluated, and the place 0 … Q-1 of each that was read, -1 if it is not."""

    def holds(query: IntArray) -> BoolArray:
        return np.bincount(query, minlength=len(names)) > 0

    has_judgment, in_run = holds(judged.documents.query), holds(ranked.query)
    has_relevant = holds(judged.documents.query[judged.grade > 0])
    absent = has_relevant & ~in_run
    if not (has_judgment & in_run).any():
        raise InputError(
            f"The run has no query of the qrels: the qrels have queries such as '{min(names[has_judgment])}', the "
            f"run such as '{min(names[in_run])}'. Check that the qrels and the run belong together."
        )
    if missing == "error" and absent.any():
        raise InputError(
            f"The run has no document for {absent.sum()} of {has_judgment.sum()} queries of the qrels; the first is "
            f"'{min(names[absent])}'. Complete the run, or set missing to zero or skip."
        )
    barren = has_judgment & ~has_relevant
    if empty == "error" and barren.any():
        raise InputError(
            f"The qrels have no relevant document for {barren.sum()} of {has_judgment.sum()} queries; the first is "
            f"'{min(names[barren])}'. Leave them out, or set empty to skip, zero or one."
        )
    left_out = {NOT_IN_RUN: absent & (missing == "skip"), NOT_JUDGED: in_run & ~has_judgment}
    evaluated = has_judgment & ~left_out[NOT_IN_RUN]
    if empty in ("skip", "nan") and not (evaluated & has_relevant).any():
        raise InputError(
            "No query has both a relevant document in the qrels (a grade above 0) and a document in the run. Check "
            "the grades, and that the qrels and the run belong together."
        )
    order = np.argsort(names[evaluated])
    number = np.full(len(names), -1)
    number[np.flatnonzero(evaluated)[order]] = np.arange(len(order))
    reasons = {reason: np.sort(names[which]) for reason, which in left_out.items()}
    return Names(names[evaluated][order], reasons, np.sort(names[has_judgment & ~in_run])), number


def check_sides(judged: JudgedDocuments, ranked: RankedDocuments) -> None:
    """Warn if the qrels look like a run and the run looks like qrels."""
    # Most scores are fractions. Grades are small whole numbers, of which some are equal or 0. So means of several
    # assessors, and whole numbers by which a model ranks, are not warned about.
    grades, scores = judged.grade, ranked.score
    fractions = grades[grades != np.rint(grades)]
    if 2 * len(fractions) <= len(grades):
        return
    like_grades = (scores == np.rint(scores)) & (scores >= USUAL_GRADES[0]) & (scores <= USUAL_GRADES[1])
    if not like_grades.all() or not _like_scores(judged.documents.query, grades, fractions):
        return
    has_equal = _different(np.repeat(ranked.query, ranked.length), scores) < len(scores)
    if has_equal or (scores == 0).any() or (scores == scores[0]).all():
        warn(
            f"The qrels have fractional grades, such as {fractions[0]:g}, and all scores of the run are small "
            "whole numbers: the two were probably swapped. Pass the qrels first, then the run."
        )


def _like_scores(query: IntArray, grades: FloatArray, fractions: FloatArray) -> bool:
    """Whether grades look like scores: nearly all of a query are different, or no assessors have such means."""
    if 10 * _different(query, grades) >= 9 * len(grades):
        return True
    means = any(np.abs(fractions * count - np.rint(fractions * count)).max() <= 0.01 * count for count in ASSESSORS)
    outside = fractions.min() < 0 or fractions.max() > USUAL_GRADES[1]
    return bool(outside or (not means and len(np.unique(fractions)) >= MANY_FRACTIONS))


def _different(query: IntArray, value: FloatArray) -> int:
    return len(np.unique(np.column_stack([query, value]), axis=0))


def check_cut(
    scores: RelevantScores, measures: Sequence[Measure], run: Any, matters: Callable[[Measure], bool]
) -> None:
    """Warn if all lists have one length, like lists that were cut off there, and a measure reads a tie at their end.

    A relevant document must be outside its list, because otherwise the lists may be rankings of all documents.

    matters : whether a measure of lists that were cut off would have other decimals in a table
    """
    length = np.diff(scores.start)
    answered = length > 0
    length = length[answered]
    if len(length) < 2 or length[0] < SHORTEST or (length != length[0]).any() or not len(scores.missing_query):
        return
    start = scores.start[:-1][answered]
    last = scores.score == np.repeat(np.minimum.reduceat(scores.score, start), length)
    tied = np.add.reduceat(last, start, dtype=np.int64)
    relevant = np.bincount(np.append(scores.query, scores.missing_query), minlength=len(answered))[answered]
    above, relevant = (length - tied)[tied > 1], relevant[tied > 1]
    for measure in measures:
        of_first = measure.cutoff == "R" or measure.name == "Rprec"
        if (above < (relevant if of_first else measure.cutoff or np.inf)).any() and matters(measure):
            name = os.fsdecode(run) if isinstance(run, str | os.PathLike) else "the run"
            warn(
                f"All lists of {name} have {length[0]:,} documents, and {len(above):,} of {len(length):,} end in a "
                f"tie, so that they were probably cut off, and a last tie, which {measure} reads, may continue. Set "
                "truncated=True if the lists were cut off."
            )
            return
