"""`Measured`: the means of an evaluation and of its categories, and their confidence intervals over the queries."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from tieproof.errors import AbsentMeasureError, InputError
from tieproof.evaluation.evaluated import (
    NOTHING_RELEVANT,
    Evaluated,
    TieSummary,
    estimate_of,
    mean,
    mean_of_means,
    summarize,
)
from tieproof.inputs.options import check_choice
from tieproof.measures import Measure, parse
from tieproof.ties import Bounds, Estimate, FloatArray, IntArray

if TYPE_CHECKING:
    from tieproof.evaluation.intervals import Bound, Interval, Method
    from tieproof.evaluation.one_order import Printed
    from tieproof.measures.confidence import ErrorRejectCurve
    from tieproof.measures.distribution.distribution import Distribution
    from tieproof.measures.statistics.resampling import Strata


class Measured(Mapping[str, Estimate[float]]):
    """The numbers of an evaluation; users get a `Result`, which also shows and saves them.

    evaluated : everything known about every query, before any mean is taken, for programs that build on results
    ci : the confidence of the intervals over queries that are shown; None shows no intervals
    printed : what a library prints by its rule for ties; None shows none
    """

    def __init__(self, evaluated: Evaluated, ci: float | None = None, printed: "Printed | None" = None) -> None:
        self.evaluated = evaluated
        self.ci = ci
        self.printed = printed
        self.setting = evaluated.setting
        self.query_ids = evaluated.query_ids
        self.empty_ids = evaluated.empty_ids
        self._per_query = evaluated.per_query
        self._categories = evaluated.categories

    @cached_property
    def ties(self) -> TieSummary:
        """The ties among the rankings of the evaluated queries that hold a relevant item."""
        return summarize(self.evaluated.tie_counts, self.evaluated.zero_vectors)

    @cached_property
    def _means(self) -> dict[Measure, Estimate[float]]:
        macro = {m for m in self._per_query if self.setting.average == "macro" and not m.definition.total}
        return {
            m: mean_of_means([*self.category_means(m).values()]) if m in macro else mean(values, m.definition.total)
            for m, values in self._per_query.items()
        }

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, in the order asked for."""
        return tuple(str(measure) for measure in self._per_query)

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of the evaluated data, 64 hexadecimal digits that are the same for the data in any order.

        docs/records.md says what it covers. The result of a category has no fingerprint of its own, but "".
        """
        return self.evaluated.origin.fingerprint

    @property
    def skipped(self) -> dict[str, npt.NDArray[Any]]:
        """The ids of the queries that are left out of all means, by the reason."""
        reasons = {**self.evaluated.left_out}
        if self.setting.empty in ("skip", "nan"):
            reasons[NOTHING_RELEVANT] = self.empty_ids
        return {reason: ids for reason, ids in reasons.items() if len(ids)}

    @property
    def not_in_run(self) -> npt.NDArray[Any]:
        """The ids of the judged queries that have no document in the run, for every value of `missing`."""
        absent = self.evaluated.not_in_run
        return self.query_ids[:0] if absent is None else absent

    @property
    def search(self) -> str | None:
        """For lists of neighbors the kind of search, "exact" or "approximate"; None for other evaluations."""
        return self.evaluated.origin.options.get("search")

    def __getitem__(self, measure: str | Measure) -> Estimate[float]:
        """The mean of a measure over the queries, or with `average="macro"` over the categories' means.

        Its std is over the orderings of tied items, not over the queries. An unknown measure raises an InputError,
        also a KeyError, that lists the known ones.
        """
        return self._means[self._known(measure)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self._per_query)

    def __eq__(self, other: object) -> bool:
        """Whether it is the same object, because two results with equal means may differ in their queries."""
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def per_query(self, measure: str | Measure) -> Estimate[FloatArray]:
        """A measure of every query: arrays in the order of `query_ids`, with std over the orderings of tied items."""
        lower, expected, upper, variance, *noise = self._per_query[self._known(measure)]
        return estimate_of(lower, expected, upper, np.sqrt(variance), *noise)

    def median(self, measure: str | Measure) -> Bounds[float]:
        """The smallest and the largest median of a measure over the queries; of `FirstRank`, the median rank (MedR).

        They are the medians of the queries' bounds. The median of expected values is not the expected median, which
        depends on how likely all values are.

        >>> import tieproof as tp
        >>> tp.evaluate_scores([[2, 1, 1]], [[0, 1, 0]], measures=["FirstRank"]).median("MnR")
        Bounds(lower=2.0, upper=3.0)
        """
        values = self.per_query(measure)
        counted = ~np.isnan(values.lower)
        return Bounds(*(float(np.median(each[counted])) for each in (values.lower, values.upper)))

    def with_ci(self, ci: float = 0.95) -> Self:
        """A copy of this result that also shows its confidence intervals over the queries.

        ci : the confidence of the intervals

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores([[2, 1]] * 3, [[1, 0], [0, 1], [1, 0]], measures=["RR"])
        >>> print(result.with_ci().to_markdown().splitlines()[2])
        | RR | 0.8333 | 0.8333 | 0.8333 | 0.0000 | 0.5000 to 1.0000 |
        """
        from tieproof.evaluation.intervals import check_confidence  # slow to import, as is all that needs statistics

        check_confidence("ci", ci)
        return type(self)(self.evaluated, ci, self.printed)

    def intervals(
        self, confidence: float = 0.95, method: "Method" = "bca", bound: "Bound" = "lower"
    ) -> "dict[str, Interval]":
        """The `interval` of each measure, by the measure's name; faster than calling `interval` for each.

        Counts, which are totals, have none.
        """
        means = [measure for measure in self._per_query if not measure.definition.total]
        return self._intervals(means, confidence, method, bound) if means else {}

    def interval(
        self, measure: str | Measure, confidence: float = 0.95, method: "Method" = "bca", bound: "Bound" = "lower"
    ) -> "Interval":
        """The confidence interval of a mean over the choice of queries; it does not cover the order of tied items.

        bound : which value of each query is averaged
        method : "bca", the bias-corrected and accelerated bootstrap, or "t", Student's t (extra `stats`)

        With `average="macro"` the mean is over the categories' means, and queries are drawn within their categories;
        the categories and their numbers of queries are fixed. The draws come from a fixed seed and do not depend on
        the order of the queries, so the same data has the same interval. If all queries score the same, both ends are
        the value. The ends lie between 0 and 1, as all measures but counts do.

        Raises InputError for a single query, alone or in a category, which does not show how much queries differ, and
        for a count such as NumRet, which is a total.

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores([[2, 1]] * 3, [[1, 0], [0, 1], [1, 0]], measures=["RR"])
        >>> result.interval("RR")
        Interval(value=0.8333333333333334, low=0.5, high=1.0, confidence=0.95, method='bca', bound='lower')
        """
        known = self._known(measure)
        if known.definition.total:
            raise InputError(
                f"'{known}' is a count, and has no mean over queries. Take the interval of another measure."
            )
        (interval,) = self._intervals([known], confidence, method, bound).values()
        return interval

    def distribution(self, measure: str | Measure, *, resolution: float = 1e-6) -> "Distribution":
        """How likely each value of a mean is when the tied items of each query are ordered at random.

        The ties of different queries are broken independently, in leave-one-out, too. Nothing is sampled: every
        quantile and every probability is returned as two numbers between which it lies. Two values closer to each
        other than `resolution`, from 1e-7 to 1, may not be told apart.

        Raises InputError for the result of a record, which has no ties; for lists with unseen items that may continue
        their last tie; for a measure that is no sum over relevant items, `AP(norm=hits)@k`; and if the ties are so
        large that the computation would take minutes at this resolution.

        >>> import tieproof as tp
        >>> result = tp.evaluate([[0.0, 0.0]] * 3, ["cat", "dog", "cat"], measures=["AP"])
        >>> f"{result.distribution('AP').at_least(1.0):.4f}"  # both queries have the order that they need
        '0.2500'
        """
        from tieproof.evaluation.spread import distribution_of  # rarely needed

        return distribution_of(self, self._known(measure), resolution)

    def _intervals(
        self, measures: Sequence[Measure], confidence: float, method: "Method", bound: "Bound"
    ) -> "dict[str, Interval]":
        from tieproof.evaluation.intervals import BOUNDS, METHODS, Interval, check_confidence, interval_ends

        check_confidence("confidence", confidence)
        check_choice("method", method, METHODS)
        check_choice("bound", bound, BOUNDS)
        values = np.column_stack([getattr(self.per_query(measure), bound) for measure in measures])
        queries, strata = self._in_groups(values[:, 0])
        ends = interval_ends(values[queries], strata, confidence, method)
        return {
            str(measure): Interval(getattr(self[measure], bound), *both, confidence, method, bound)
            for measure, both in zip(measures, ends, strict=True)
        }

    def _in_groups(self, values: FloatArray, least: int = 2) -> "tuple[IntArray, Strata]":
        """The queries whose values (Q,) count, by category if means are over these, and their groups."""
        from tieproof.evaluation.intervals import in_groups

        categories = self.category_of_query if self.setting.average == "macro" else None
        return in_groups(values, categories, least)

    def _known(self, measure: str | Measure) -> Measure:
        """The measure of that name, or "AP(rel=1)" for "AP"; an unknown name raises an error that lists the known."""
        try:
            known = parse(measure)
        except InputError as error:
            raise AbsentMeasureError(str(error)) from None
        if known not in self._per_query:
            at_one = [each for each in self._per_query if each.rel == 1 and each.without_rel == known]
            if at_one:
                return at_one[0]
            raise AbsentMeasureError(
                f"This result has no measure '{known}'; it has {', '.join(self.measures)}. Name it in measures=[...]."
            )
        return known

    def named(self, names: Any) -> Self:
        """A copy of this result whose queries are called names[0], names[1], … instead of 0, 1, ….

        names : integers or strings, one for each query that was passed to the evaluation, in that order

        Raises InputError for names of another type, for too few names, and if the queries already have names, as the
        queries of a run do.

        >>> import tieproof as tp
        >>> tp.evaluate_scores([[2, 1], [1, 2]], [[1, 0], [0, 1]]).named(["cat.jpg", "dog.jpg"]).query_ids
        array(['cat.jpg', 'dog.jpg'], dtype='<U7')
        """
        return type(self)(self.evaluated.named(names), self.ci, self.printed)

    @property
    def categories(self) -> tuple[Any, ...]:
        """The categories that have a query to average over, sorted; empty if no categories were passed."""
        return tuple(self._categories.members) if self._categories else ()

    @property
    def categories_left_out(self) -> tuple[Any, ...]:
        """The categories that are left out of all means, because none of their queries has a relevant item."""
        return self._categories.left_out if self._categories else ()

    @property
    def category_of_query(self) -> npt.NDArray[Any] | None:
        """The category of each of `query_ids`; None if no categories were passed."""
        return None if self._categories is None else self._categories.names[self._categories.of_query]

    @property
    def ties_per_query(self) -> dict[str, IntArray]:
        """For each of `query_ids`: the ties with a relevant item, the ambiguous ones, and the size of the largest."""
        ties, ambiguous, largest, _ = self.evaluated.tie_counts
        return {"ties": ties, "ambiguous_ties": ambiguous, "largest_tie": largest}

    def category(self, name: Any) -> Self:
        """The result of one category, whose means are over the queries of that category.

        Queries that a run leaves out (`missing="skip"`) and queries without judgments are in no category. An unknown
        category raises InputError that lists the known ones.

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores(
        ...     [[2, 1], [2, 1]], [[1, 0], [0, 1]], measures=["RR"], categories=["dogs", "cats"]
        ... )
        >>> result.categories, result.category("cats")["RR"].lower
        (('cats', 'dogs'), 0.5)
        """
        return type(self)(self.evaluated.of_category(name))

    def category_means(self, measure: str | Measure) -> dict[Any, Estimate[float]]:
        """The mean of a measure over the queries of each category: `category(name)[measure]` for all categories.

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores(
        ...     [[2, 1], [2, 1]], [[1, 0], [0, 1]], measures=["RR"], categories=["dogs", "cats"]
        ... )
        >>> {name: estimate.lower for name, estimate in result.category_means("RR").items()}
        {'cats': 0.5, 'dogs': 1.0}
        """
        known, members = self._known(measure), self._categories.members if self._categories else {}
        values, total = self._per_query[known], known.definition.total
        return {name: mean(values[:, chosen], total) for name, chosen in members.items()}

    @property
    def has_confidence(self) -> bool:
        """Whether the evaluation was given confidences of the queries."""
        return self.evaluated.confidence is not None

    def error_reject(self, measure: str | Measure) -> "ErrorRejectCurve":
        """The error 1 - measure of the most confident queries, by `tieproof.measures.confidence.error_reject_curve`.

        Two kinds of ties make the curve an interval: tied items, which change the error of a single query, and tied
        confidences, which change the order in which queries are rejected. `lower` and `upper` are the smallest and
        the largest values over all orders of both. `expected` and `std` take all orders as equally likely, and the
        orders of items and of confidences as independent. Queries with nothing relevant are included where the means
        include them. All queries have the same weight, with `average="macro"` too.

        Raises InputError if the evaluation was given no confidences, and for a count or a rank, which has no error.

        >>> import tieproof as tp
        >>> vectors, labels = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], ["a", "a", "b", "b"]
        >>> result = tp.evaluate(vectors, labels, measures=["P@1"], confidence=[0.9, 0.8, 0.1, 0.5])
        >>> curve = result.error_reject("P@1")
        >>> curve.error.upper.tolist(), curve.area.upper
        ([0.0, 0.0, 0.0, 0.25], 0.0625)
        """
        if self.evaluated.confidence is None:
            raise InputError(
                "This result has no confidences. Pass confidence= to the evaluation, one for each query."
            )
        from tieproof.evaluation.scoring import check_score
        from tieproof.measures.confidence.error_reject import error_reject_curve, errors_of

        check_score(self._known(measure))
        values = self.per_query(measure)
        return error_reject_curve(errors_of(values), self.evaluated.confidence[~np.isnan(values.lower)])


def averaged(result: Measured) -> list[str]:
    """The measures that are scores; counts, which are totals, and ranks only if there is nothing else."""
    means = [name for name in result.measures if parse(name).definition.is_score]
    return means or list(result.measures)
