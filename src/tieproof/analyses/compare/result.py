"""`Comparison`: how systems that were evaluated on the same queries differ, with a verdict on each difference."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tieproof.analyses.compare import pictures
from tieproof.analyses.compare.same_queries import differing_settings
from tieproof.analyses.compare.tables import differences_as_text, differences_table, page, scores_table
from tieproof.analyses.compare.verdicts import Difference, QueryDifference, difference
from tieproof.errors import InputError
from tieproof.evaluation.result import Result
from tieproof.inputs.options import check_whole
from tieproof.measures import Measure
from tieproof.show.parts import count, first_of
from tieproof.show.printable import printable
from tieproof.show.shown import AsFrame, AsPage, Shown, Table, html, markdown
from tieproof.ties import ROUNDING, Estimate, FloatArray, IntArray, columns_of, of_queries

if TYPE_CHECKING:
    from tieproof.analyses.compare.over_ties import OverTies


class Comparison(Shown, AsFrame, AsPage):
    """Systems that were evaluated on the same queries, and how they differ; `tieproof.compare` returns it.

    `comparison[a, b, measure]` is the `Difference` of `a` minus `b`. `pairs` lists the pairs that were compared; each
    pair can be looked up in either order.

    systems : the names of the systems, in the order given
    results : the `Result` of each system, by its name
    measures : the names of the measures
    pairs : which systems were compared: with a baseline, (other, baseline) for each other system; otherwise every two
        systems, in the order given
    baseline, test, correction, confidence : as passed to `tieproof.compare`; correction is None for "tukey", which
        includes its own correction
    query_ids : the queries, in the order of the first result; `queries` is their number

    >>> import tieproof as tp
    >>> relevance = np.eye(10)
    >>> good, bad = tp.evaluate_scores(relevance, relevance), tp.evaluate_scores(-relevance, relevance)
    >>> comparison = tp.compare({"good": good, "bad": bad})
    >>> comparison.pairs, comparison["good", "bad", "RR"].wins
    ((('good', 'bad'),), 10)
    >>> comparison["bad", "good", "RR"].verdict.name
    'better whatever the ties'
    >>> relevance, good = np.eye(8), np.eye(8)
    >>> bad = good * [1, 1, 0, 0, 0, 0, 0, 0]
    >>> systems = {"good": tp.evaluate_scores(good, relevance), "bad": tp.evaluate_scores(bad, relevance)}
    >>> print(tp.compare(systems, measures=["RR"]))
       lower  expected     upper         queries 95%        p  p lower
    ------------------------------------------------------------------
    RR
    good - bad: good is better in expectation; good won 6, lost 0, drew 2
      0.0000   +0.4952   +0.6562  +0.2476 to +0.6603   0.0312   1.0000
    <BLANKLINE>
    Compared 2 systems on 8 queries.
    4 more: --explain, or to_text(explain=True)
    """

    def __init__(
        self,
        results: Mapping[str, Result],
        places: Mapping[str, IntArray],
        differences: Mapping[tuple[str, str, str], Difference],
        baseline: str | None,
        test: str,
        correction: str | None,
        confidence: float,
        notes: Sequence[str] = (),
    ) -> None:
        """`places` tells where each query of the first result is in every result, and `notes` what was left out."""
        self.results = dict(results)
        self.systems = tuple(results)
        self.query_ids = results[self.systems[0]].query_ids
        self.measures = tuple(dict.fromkeys(measure for _, _, measure in differences))
        self.pairs = tuple(dict.fromkeys((a, b) for a, b, _ in differences))
        self.baseline, self.test, self.correction, self.confidence = baseline, test, correction, confidence
        self.notes, self._places, self._differences = tuple(notes), places, differences

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

    def over_ties(self, a: str, b: str, measure: str | Measure, *, resolution: float = 1e-6) -> "OverTies":
        """How likely it is that system `a` is better than `b` when ties are broken at random, and the p-values of it.

        The ties of the two systems and of different queries are broken independently. This says what ties leave open
        on these queries; it is not a test. The p-values are those of the sign-flip test over all orders of ties.

        resolution : the distance at which two differences are told apart, from 1e-7 to 1

        Raises InputError where `Result.distribution` does.

        >>> import tieproof as tp
        >>> relevance = [[1, 0, 0], [0, 1, 0]]
        >>> one = tp.evaluate_scores([[2, 2, 1], [1, 2, 2]], relevance, measures=["RR"])
        >>> other = tp.evaluate_scores([[1, 1, 2], [1, 1, 1]], relevance, measures=["RR"])
        >>> found = tp.compare({"one": one, "other": other}).over_ties("one", "other", "RR")
        >>> f"{found.better:.3f}", f"{found.equal:.3f}", f"{found.worse:.3f}"
        ('0.792', '0.125', '0.083')
        """
        from tieproof.analyses.compare.over_ties import over_ties

        return over_ties(self, *self._known((a, b, measure)), resolution)

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

        def estimate_at(values: Estimate[FloatArray], at: int) -> Estimate[float]:
            return Estimate(*(float(column[at]) for column in vars(values).values()))

        return tuple(
            QueryDifference(ids[at], estimate_at(of_a, at), estimate_at(of_b, at), estimate_at(both, at))
            for at in chosen.tolist()
            if size[at] > ROUNDING
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings, lists and dictionaries."""
        return {
            "baseline": self.baseline,
            "test": self.test,
            "correction": self.correction,
            "confidence": self.confidence,
            "queries": self.queries,
            **({"notes": list(self.notes)} if self.notes else {}),
            "different_settings": {name: own for name, own in differing_settings(self.results).items() if own},
            "systems": {
                name: {measure: asdict(result[measure]) for measure in self.measures}
                for name, result in self.results.items()
            },
            "differences": [
                {"a": a, "b": b, "measure": measure, **asdict(difference), "interval": list(difference.interval)}
                for (a, b, measure), difference in self._differences.items()
            ],
        }

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
        table["query"] = np.tile(self.query_ids, len(keys))
        return table | columns_of([self.per_query(*key) for key in keys])

    def _table(self) -> Table:
        return scores_table(self)

    def to_text(self, width: int | None = None, color: bool = False, explain: bool = False) -> str:
        """The verdict on each pair in each measure, with the numbers that it is based on, and their meaning."""
        return differences_as_text(self, width, color, explain)

    def to_markdown(self) -> str:
        """Markdown tables to paste into an issue: the scores of each system, and how every two systems differ."""
        return f"{markdown(self._table())}\n\n{markdown(differences_table(self))}"

    def to_latex(
        self, *, caption: str | None = None, label: str | None = None, columns: Sequence[str] | None = None
    ) -> str:
        """A LaTeX table of each system's scores to paste into a paper; the arguments are those of `Result.to_latex`.

        After a score are the letters of the systems that it is better than by the verdicts. A score is bold if it is
        better than all others; none is bold where ties or the choice of queries could explain the differences.
        """
        return super().to_latex(caption=caption, label=label, columns=columns)

    def _repr_html_(self) -> str:
        return html(self._table(), differences_table(self))

    def __repr__(self) -> str:
        verdicts = [self[a, b, measure].verdict.name for measure in self.measures for a, b in self.pairs]
        counts = ", ".join(f"{verdicts.count(name):,} {name}" for name in dict.fromkeys(verdicts))
        systems = first_of([*map(printable, self.systems)])
        return f"<Comparison of {systems} on {count(self.queries, 'query')}: {counts}>"

    plot = pictures.plot
    plot_queries = pictures.plot_queries
    _page = page

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
        return of_queries(self.results[name].per_query(measure), self._places[name])
