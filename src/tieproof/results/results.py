"""`Result`: what an evaluation found."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tieproof.errors import AbsentMeasureError, InputError, MissingExtraError
from tieproof.inputs.options import check_choice
from tieproof.measures import Measure, parse
from tieproof.results.evaluated import NOTHING_RELEVANT, Evaluated, TieSummary, mean, mean_of_means, summarize
from tieproof.ties import Estimate, FloatArray

if TYPE_CHECKING:
    from tieproof.confidence import ErrorRejectCurve
    from tieproof.results.intervals import Bound, Interval, Method

Per = Literal["query", "measure", "category"]
PER = ("query", "measure", "category")
"""What a row of a frame is about."""

MOST_IN_SHORT = 3
"""Measures that the short form of a result shows."""


class Result(Mapping[str, Estimate[float]]):
    """A mapping from the name of each measure to its `Estimate`: lower, expected and upper value, and std.

    A measure is found under every name that is understood where it is asked for; iteration gives the names of
    `measures`. Two results are equal only if they are one and the same.

    >>> import tieproof as tp
    >>> result = tp.evaluate([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]], ["a", "a", "b"], measures=["AP", "P@1"])
    >>> result["AP"].lower
    1.0
    >>> {name: estimate.lower for name, estimate in result.items()}
    {'AP': 1.0, 'P@1': 1.0}
    >>> len(result), "map" in result, "RR" in result
    (2, True, False)
    >>> result.query_ids
    array([0, 1])
    """

    def __init__(self, evaluated: Evaluated, ci: float | None = None) -> None:
        self._found = evaluated
        self.ci = ci
        self.setting = evaluated.setting
        self.query_ids = evaluated.query_ids
        self.empty_ids = evaluated.empty_ids
        self.ties: TieSummary = summarize(evaluated.tie_counts, evaluated.zero_vectors)
        self._per_query = evaluated.per_query
        self._categories = evaluated.categories

    @cached_property
    def _means(self) -> dict[Measure, Estimate[float]]:
        """The mean of every measure."""
        if self.setting.average == "micro":
            return {measure: mean(values) for measure, values in self._per_query.items()}
        return {measure: mean_of_means([*self.category_means(measure).values()]) for measure in self._per_query}

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, in the order asked for."""
        return tuple(str(measure) for measure in self._per_query)

    @property
    def evaluated(self) -> Evaluated:
        """All that is known of every query, before any mean; for those who build on results."""
        return self._found

    @cached_property
    def fingerprint(self) -> str:
        """What the evaluated data is known by, in 64 digits: the same for the same data in any order.

        docs/records.md says what it covers. The result of a category has none of its own: "".
        """
        return self._found.origin.fingerprint

    @property
    def skipped(self) -> dict[str, npt.NDArray[Any]]:
        """The ids of the queries that no mean includes, by the reason."""
        reasons = {**self._found.left_out}
        if self.setting.empty in ("skip", "nan"):
            reasons[NOTHING_RELEVANT] = self.empty_ids
        return {reason: ids for reason, ids in reasons.items() if len(ids)}

    @property
    def not_in_run(self) -> npt.NDArray[Any]:
        """The ids of the judged queries that have no document in the run, whatever `missing` made of them."""
        known = self._found.not_in_run
        return self.query_ids[:0] if known is None else known

    def __getitem__(self, measure: str | Measure) -> Estimate[float]:
        """The mean of a measure over the queries, or with `average="macro"` over the categories' means.

        Its std is over the orderings of tied items, not over the queries. Raises an InputError, which is a KeyError,
        with the measures there are.
        """
        return self._means[self._known(measure)]

    def __iter__(self) -> Iterator[str]:
        """The names of the measures."""
        return iter(self.measures)

    def __len__(self) -> int:
        """How many measures there are."""
        return len(self._per_query)

    def __eq__(self, other: object) -> bool:
        """Whether it is the same result: two may have the same means and differ in their queries."""
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def per_query(self, measure: str | Measure) -> Estimate[FloatArray]:
        """A measure of every query: arrays in the order of `query_ids`, std over the orderings of its tied items."""
        lower, expected, upper, variance = self._per_query[self._known(measure)]
        return Estimate(lower, expected, upper, np.sqrt(variance))

    def with_ci(self, ci: float = 0.95) -> "Result":
        """This result, which shows its confidence intervals over the queries wherever it is shown.

        ci : the confidence of the intervals
        """
        from tieproof.results.intervals import check_confidence

        check_confidence("ci", ci)
        return Result(self._found, ci)

    def intervals(
        self, confidence: float = 0.95, method: "Method" = "bca", bound: "Bound" = "lower"
    ) -> "dict[str, Interval]":
        """The `interval` of each measure, by its name: all at once is faster than one by one."""
        return self._intervals(list(self._per_query), confidence, method, bound)

    def interval(
        self, measure: str | Measure, confidence: float = 0.95, method: "Method" = "bca", bound: "Bound" = "lower"
    ) -> "Interval":
        """The confidence interval of a mean: what other queries could have made of it, and nothing of ties.

        bound : which value of each query is averaged
        method : "bca", the bias-corrected and accelerated bootstrap; or "t", Student's (extra `stats`)

        With `average="macro"` the mean is over the categories' means, and queries are drawn within their categories:
        these are taken as they are, and as many of each. The draws come from a fixed seed and do not depend on the
        order of the queries, so the same data has the same interval. Where all queries score the same it is a point.

        Raises InputError for a single query, alone or in a category, for nothing says how much queries differ.

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores([[2, 1]] * 3, [[1, 0], [0, 1], [1, 0]], measures=["RR"])
        >>> result.interval("RR")
        Interval(value=0.8333333333333334, low=0.5, high=1.0, confidence=0.95, method='bca', bound='lower')
        """
        (found,) = self._intervals([self._known(measure)], confidence, method, bound).values()
        return found

    def _intervals(
        self, measures: Sequence[Measure], confidence: float, method: "Method", bound: "Bound"
    ) -> "dict[str, Interval]":
        """The intervals of some measures."""
        from tieproof.results.intervals import Interval, check_options, interval_ends

        check_options(confidence, method, bound)
        values = np.column_stack([getattr(self.per_query(measure), bound) for measure in measures])
        categories = self.category_of_query if self.setting.average == "macro" else None
        ends = interval_ends(values, categories, confidence, method)
        return {
            str(measure): Interval(getattr(self[measure], bound), *both, confidence, method, bound)
            for measure, both in zip(measures, ends, strict=True)
        }

    def _known(self, measure: str | Measure) -> Measure:
        """The measure of that name, or a message with those there are."""
        try:
            found = parse(measure)
        except InputError as error:
            raise AbsentMeasureError(str(error)) from None
        if found not in self._per_query:
            raise AbsentMeasureError(
                f"This result has no '{found}'; it has {', '.join(self.measures)}. Name it in measures=[...]."
            )
        return found

    def named(self, names: npt.NDArray[Any]) -> "Result":
        """This result with queries that are called names[0], names[1], … instead of 0, 1, …."""
        return Result(self._found.named(names))

    @property
    def categories(self) -> tuple[Any, ...]:
        """The categories that have a query to average over, sorted; none where no categories were given."""
        return tuple(self._categories.members) if self._categories else ()

    @property
    def categories_left_out(self) -> tuple[Any, ...]:
        """The categories whose queries all have nothing relevant, and which no mean includes."""
        return self._categories.left_out if self._categories else ()

    @property
    def category_of_query(self) -> npt.NDArray[Any] | None:
        """The category of each of `query_ids`; None where no categories were given."""
        return None if self._categories is None else self._categories.names[self._categories.of_query]

    def category(self, name: Any) -> "Result":
        """The result of the queries of one category, in which the mean is over its queries.

        Queries that a run leaves out (`missing="skip"`), or that nobody judged, are in no category. Raises InputError
        with the categories there are.

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores(
        ...     [[2, 1], [2, 1]], [[1, 0], [0, 1]], measures=["RR"], categories=["dogs", "cats"]
        ... )
        >>> result.categories, result.category("cats")["RR"].lower
        (('cats', 'dogs'), 0.5)
        """
        return Result(self._found.of_category(name))

    def category_means(self, measure: str | Measure) -> dict[Any, Estimate[float]]:
        """The mean of a measure over the queries of each category, as `category(name)[measure]` of all at once.

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores(
        ...     [[2, 1], [2, 1]], [[1, 0], [0, 1]], measures=["RR"], categories=["dogs", "cats"]
        ... )
        >>> {name: estimate.lower for name, estimate in result.category_means("RR").items()}
        {'cats': 0.5, 'dogs': 1.0}
        """
        values, members = self._per_query[self._known(measure)], self._categories.members if self._categories else {}
        return {name: mean(values[:, chosen]) for name, chosen in members.items()}

    @property
    def has_confidence(self) -> bool:
        """Whether the queries came with confidences."""
        return self._found.confidence is not None

    def error_reject(self, measure: str | Measure) -> "ErrorRejectCurve":
        """The error 1 - measure of the most confident queries: `tieproof.confidence.error_reject_curve`.

        Two kinds of ties leave it open, and both count: those of items, which leave the error of a single query
        open, and those of confidences, which leave open who is rejected first. `lower` and `upper` are the smallest
        and the largest over all orders of both; `expected` and `std` are over both, all orders equally likely, and
        those of items and of confidences independent. Queries with nothing relevant are in it where the means
        include them. All queries count the same, also with `average="macro"`.

        Raises InputError where the evaluation was given no confidences.

        >>> import tieproof as tp
        >>> vectors, labels = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], ["a", "a", "b", "b"]
        >>> result = tp.evaluate(vectors, labels, measures=["P@1"], confidence=[0.9, 0.8, 0.1, 0.5])
        >>> curve = result.error_reject("P@1")
        >>> curve.error.upper.tolist(), curve.area.upper
        ([0.0, 0.0, 0.0, 0.25], 0.0625)
        """
        if self._found.confidence is None:
            raise InputError(
                "This result has no confidences. Pass confidence= to the evaluation, one for each query."
            )
        from tieproof.confidence.error_reject import error_reject_curve, errors_of

        values = self.per_query(measure)
        return error_reject_curve(errors_of(values), self._found.confidence[~np.isnan(values.lower)])

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings and dictionaries.

        The `std` of a measure is its standard deviation over the orderings of tied items, not over the queries.
        With confidences, `error_reject` has the curve of each measure: of Q queries, 4 Q numbers.
        After `with_ci`, `intervals` has those over the queries.
        """
        whole = {
            "setting": asdict(self.setting),
            "measures": {str(measure): asdict(value) for measure, value in self._means.items()},
            "ties": asdict(self.ties),
            "empty": len(self.empty_ids),
            "skipped": {reason: len(ids) for reason, ids in self.skipped.items()},
        }
        if self._found.not_in_run is not None:
            whole["not_in_run"] = len(self.not_in_run)
        if self.has_confidence:
            whole["error_reject"] = {name: self.error_reject(name).to_dict() for name in self.measures}
        if self.ci is not None:
            whole["intervals"] = {measure: asdict(each) for measure, each in self.intervals(self.ci).items()}
        if self._categories is None:
            return whole
        return whole | {
            "categories": {str(name): of_category(self.category(name)) for name in self.categories},
            "categories_left_out": list(map(str, self.categories_left_out)),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON; the same bytes for the same data in any order."""
        import json

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """A long table of every query and measure, as arrays of equal length.

        `std` is the standard deviation over the orderings of the query's tied items.
        """
        count = len(self._per_query)
        table = {"query": np.tile(self.query_ids, count)}
        if self.category_of_query is not None:
            table["category"] = np.tile(self.category_of_query, count)
        table["measure"] = np.repeat(self.measures, len(self.query_ids))
        estimates = [self.per_query(measure) for measure in self._per_query]
        for name in ("lower", "expected", "upper", "std"):
            table[name] = np.concatenate([getattr(estimate, name) for estimate in estimates])
        return table

    def to_frame(self, per: Per = "query") -> Any:
        """A pandas data frame of lower, expected and upper value and std over the orderings of ties (extra `pandas`).

        per : "query", a row for every query and measure; "measure", a row for every mean; or "category", a row for
            the mean of every category and measure, with the number of its queries

        Raises InputError for "category" where there are none.
        """
        check_choice("per", per, PER)
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("Result.to_frame", "pandas") from None
        if per == "query":
            return pd.DataFrame(self.columns())
        if per == "measure":
            return pd.DataFrame([{"measure": name, **asdict(self[name])} for name in self.measures])
        parts = {name: Result(self._found.of_category(name)) for name in self.categories or (None,)}
        rows = [
            {"category": name, "measure": measure, **asdict(part[measure]), "queries": part.ties.queries}
            for measure in self.measures
            for name, part in parts.items()
        ]
        return pd.DataFrame(rows)

    def to_flat_dict(self) -> dict[str, float]:
        """The means as numbers by name, for what logs numbers: `ndcg_at_10_lower` and so on.

        A name has small letters of ASCII, digits and underscores, and begins with a letter, which every logger takes
        (MLflow, TensorBoard, Weights & Biases); `tie_std` is the standard deviation over the orderings of tied items.

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores([[1, 1]], [[1, 0]], measures=["nDCG(gain=exp)@10"])
        >>> list(result.to_flat_dict())[:2]
        ['ndcg_gain_exp_at_10_lower', 'ndcg_gain_exp_at_10_expected']
        """
        return {
            f"{flat_name(measure)}_{flat}": getattr(self[measure], name)
            for measure in self.measures
            for flat, name in (("lower", "lower"), ("expected", "expected"), ("upper", "upper"), ("tie_std", "std"))
        }

    def to_markdown(self) -> str:
        """A table to paste into an issue, with what was evaluated below it."""
        from tieproof.views.tables.results import result_as_markdown

        return result_as_markdown(self)

    def to_latex(self) -> str:
        """A table to paste into a paper, with the rules of the package booktabs and what was evaluated as caption."""
        from tieproof.views.tables.results import result_as_latex

        return result_as_latex(self)

    def save(self, path: Any) -> None:
        """Write all of this result to a file that ends in .tieproof: `tp.load` reads it, `tp.verify` checks it.

        The file is the same, byte for byte, for the same result. Raises InputError where it cannot be written, and
        for the result of one category.
        """
        from tieproof.views.records import save

        return save(self, path)

    def plot(self, ax: Any = None) -> Any:
        """A picture of the interval of every measure, as axes of matplotlib (extra `plot`)."""
        from tieproof.views.pictures.measures import plot_measures

        return plot_measures(self, ax)

    def plot_queries(self, measure: str | Measure = "AP", ax: Any = None) -> Any:
        """A picture of what each query can score, sorted; see `views.pictures.queries` (extra `plot`)."""
        from tieproof.views.pictures.queries import plot_queries

        return plot_queries(self, measure, ax)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.views.text.text import render

        return render(self)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        from tieproof.views.tables.results import result_as_html

        return result_as_html(self)

    def __repr__(self) -> str:
        """The intervals of the first measures, in short."""
        shown = [f"{name} {self[name]:.4f}" for name in self.measures[:MOST_IN_SHORT]]
        left = len(self) - len(shown)
        return f"<Result of {self.ties.queries} queries: {', '.join(shown)}{f' and {left} more' if left else ''}>"


def flat_name(measure: str) -> str:
    """A measure in small letters, digits and underscores.

    >>> flat_name("nDCG@10"), flat_name("AP(norm=min)@5"), flat_name("RBP(p=0.8)")
    ('ndcg_at_10', 'ap_norm_min_at_5', 'rbp_p_0_8')
    """
    spelt = measure.lower().replace("@", "_at_")
    return re.sub("[^a-z0-9]+", "_", spelt).strip("_")


def of_category(result: Result) -> dict[str, Any]:
    """What JSON says of one category."""
    return {
        "measures": {name: asdict(result[name]) for name in result.measures},
        "ties": asdict(result.ties),
        "empty": len(result.empty_ids),
    }
