"""`Comparison`: how systems that were evaluated on the same queries differ, with a verdict on each difference."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.comparison.verdicts import ROUNDING, Difference, QueryDifference, at_query, difference, values_in_order
from tieproof.errors import InputError, MissingExtraError
from tieproof.evaluation.result import Result
from tieproof.inputs.options import check_whole
from tieproof.measures import Measure
from tieproof.ties import Estimate, FloatArray, IntArray


@dataclass(frozen=True)
class Procedure:
    """How systems were compared.

    baseline : the system that all others are compared with; None if all are compared with each other
    test : "sign-flip", "t", "wilcoxon" or "tukey"
    correction : "holm", "bonferroni", "fdr" or None, over the pairs of each measure; None for "tukey", which includes
        its own correction
    confidence : of the intervals over queries; a p-value of at most 1 - confidence is significant
    """

    baseline: str | None
    test: str
    correction: str | None
    confidence: float


class Comparison:
    """Systems that were evaluated on the same queries, and how they differ; `tieproof.compare` returns it.

    `comparison[a, b, measure]` is the `Difference` of `a` minus `b`. `pairs` lists the pairs that were compared; each
    pair can be looked up in either order.

    systems : the names of the systems, in the order given
    results : the `Result` of each system, by its name
    measures : the names of the measures
    pairs : which systems were compared: with a baseline, (other, baseline) for each other system; otherwise every two
        systems, in the order given
    baseline, test, correction, confidence : as passed to `tieproof.compare`
    query_ids : the queries, in the order of the first result; `queries` is their number

    >>> import tieproof as tp
    >>> relevance = np.eye(10)
    >>> good, bad = tp.evaluate_scores(relevance, relevance), tp.evaluate_scores(-relevance, relevance)
    >>> comparison = tp.compare({"good": good, "bad": bad})
    >>> comparison.pairs, comparison["good", "bad", "RR"].wins
    ((('good', 'bad'),), 10)
    >>> comparison["bad", "good", "RR"].verdict.name
    'better whatever the ties'
    """

    def __init__(
        self,
        results: Mapping[str, Result],
        places: Mapping[str, IntArray],
        differences: Mapping[tuple[str, str, str], Difference],
        procedure: Procedure,
    ) -> None:
        """Take the differences of every pair and measure.

        places : for each system, the index in its result of every query of the first result
        """
        self.results = dict(results)
        self.systems = tuple(results)
        self.query_ids = results[self.systems[0]].query_ids
        self.measures = tuple(dict.fromkeys(measure for _, _, measure in differences))
        self.pairs = tuple(dict.fromkeys((a, b) for a, b, _ in differences))
        self.baseline, self.test = procedure.baseline, procedure.test
        self.correction, self.confidence = procedure.correction, procedure.confidence
        self._procedure, self._places, self._differences = procedure, places, differences

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.query_ids)

    def __getitem__(self, key: tuple[str, str, str | Measure]) -> Difference:
        """The difference of two systems in a measure; raises InputError that names the known systems or measures."""
        a, b, measure = self._known(key)
        if (a, b) in self.pairs:
            return self._differences[a, b, measure]
        if (b, a) in self.pairs:
            return self._differences[b, a, measure].mirrored()
        raise InputError(
            f"'{a}' and '{b}' were not compared, because all systems were compared with the baseline "
            f"'{self.baseline}'. Leave out baseline= to compare every two systems."
        )

    def per_query(self, a: str, b: str, measure: str | Measure) -> Estimate[FloatArray]:
        """How two systems differ on every query: arrays in the order of `query_ids`, a minus b.

        lower, expected, upper and std are over the orderings of tied items, where each system's ties break
        independently of the other's. A query with nothing relevant is NaN if its score is NaN (`empty="nan"`).
        """
        a, b, measure = self._known((a, b, measure))
        return difference(self._aligned(a, measure), self._aligned(b, measure))

    def deciding(self, a: str, b: str, measure: str | Measure, count: int = 10) -> tuple[QueryDifference, ...]:
        """The queries whose expected values differ most between two systems, the largest difference first.

        Queries with equal differences are in the order of `query_ids`; queries without a difference are left out.
        """
        check_whole("count", count)
        a, b, measure = self._known((a, b, measure))
        of_a, of_b = self._aligned(a, measure), self._aligned(b, measure)
        both = difference(of_a, of_b)
        size = np.nan_to_num(np.abs(both.expected))
        chosen = np.argsort(-size, kind="stable")[:count]
        ids = self.query_ids.tolist()
        return tuple(
            QueryDifference(ids[at], at_query(of_a, at), at_query(of_b, at), at_query(both, at))
            for at in chosen.tolist()
            if size[at] > ROUNDING
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings, lists and dictionaries."""
        return {
            **asdict(self._procedure),
            "queries": self.queries,
            "systems": {
                name: {measure: asdict(result[measure]) for measure in self.measures}
                for name, result in self.results.items()
            },
            "differences": [
                {"a": a, "b": b, "measure": measure, **asdict(found), "interval": list(found.interval)}
                for (a, b, measure), found in self._differences.items()
            ],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON; the same bytes for the same data in any order."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """A long table of every pair, measure and query, as arrays of equal length.

        lower, expected, upper and std describe the difference over the orderings of tied items.
        """
        keys = [(a, b, measure) for a, b, measure in self._differences]
        count = self.queries
        table = {
            name: np.repeat(np.array(values), count)
            for name, values in zip(("a", "b", "measure"), zip(*keys, strict=True), strict=True)
        }
        estimates = [self.per_query(*key) for key in keys]
        return {
            **table,
            "query": np.tile(self.query_ids, len(keys)),
            **{
                name: np.concatenate([getattr(each, name) for each in estimates])
                for name in ("lower", "expected", "upper", "std")
            },
        }

    def to_frame(self) -> Any:
        """`columns` as a pandas data frame (extra `pandas`), with a row for every pair, measure and query."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("Comparison.to_frame", "pandas") from None
        return pd.DataFrame(self.columns())

    def to_markdown(self) -> str:
        """Markdown tables to paste into an issue: the scores of each system, and how every two systems differ."""
        from tieproof.comparison.tables import comparison_as_markdown

        return comparison_as_markdown(self)

    def to_latex(self) -> str:
        """A LaTeX table of each system's scores to paste into a paper; it uses the package booktabs.

        After a score are the letters of the systems that it is better than by the verdicts. A score is bold if it is
        better than all others; none is bold where ties or the choice of queries could explain the differences.
        """
        from tieproof.comparison.tables import comparison_as_latex

        return comparison_as_latex(self)

    def _repr_html_(self) -> str:
        """The tables that notebooks show."""
        from tieproof.comparison.tables import comparison_as_html

        return comparison_as_html(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw every difference with its two intervals, and return the axes of matplotlib (extra `plot`)."""
        from tieproof.comparison.pictures import plot_comparison

        return plot_comparison(self, ax)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report (extra `report`) as one .html file that needs no network to be viewed."""
        from tieproof.comparison.page import report

        return report(self, path)

    def plot_queries(self, a: str, b: str, measure: str | Measure | None = None, ax: Any = None) -> Any:
        """Draw how two systems differ on each query, with `views.pictures.query_differences` (extra `plot`).

        measure : by default AP, or the first measure of a comparison without AP
        """
        from tieproof.comparison.pictures import plot_query_differences

        return plot_query_differences(self, a, b, measure, ax)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.comparison.tables import render

        return render(self)

    def __repr__(self) -> str:
        """A short text: what was compared, and how many differences have each verdict."""
        from tieproof.comparison.tables import comparison_in_short

        return comparison_in_short(self)

    def _known(self, key: tuple[str, str, str | Measure]) -> tuple[str, str, str]:
        """The pair and the name of the measure; an unknown name raises InputError that lists the known ones."""
        if not isinstance(key, tuple) or len(key) != 3:
            raise InputError(f"A comparison is indexed by (system, system, measure), not by {key!r}.")
        a, b, measure = key
        for name in (a, b):
            if not isinstance(name, str) or name not in self.results:
                raise InputError(f"This comparison has no system {name!r}; it has {', '.join(self.systems)}.")
        if a == b:
            raise InputError(f"{a!r} is named twice, but a system is not compared with itself: name two systems.")
        known = str(self.results[a]._known(measure))
        if known not in self.measures:
            raise InputError(f"This comparison has no measure '{known}'; it has {', '.join(self.measures)}.")
        return a, b, known

    def _aligned(self, name: str, measure: str) -> Estimate[FloatArray]:
        """The values of a system, in the order of `query_ids`."""
        return values_in_order(self.results[name], self._places[name], measure)
