"""`table`: the scores of several systems in several measures, for a paper."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from tieproof.analyses.compare.same_queries import about_settings, aligned, check_results, common_measures
from tieproof.errors import InputError
from tieproof.evaluation.result import Result
from tieproof.measures import Measure
from tieproof.show.parts import count
from tieproof.show.shown import AsFrame, Cell, Row, Shown, Table
from tieproof.ties import ROUNDING, Array


class ScoreTable(Shown, AsFrame):
    """The lowest score of each system in each measure over all orderings of ties; `tieproof.table` returns it.

    A score is bold if it is above the highest score of every other system, so that its system is the best one
    whatever the ties. No score of a measure is bold if ties leave open which system is best.

    results : the `Result` of each system, by its name
    measures : the names of the measures
    best : for each measure the name of the system that is best whatever the ties, or None
    """

    def __init__(self, results: Mapping[str, Result], measures: Sequence[str]) -> None:
        self.results, self.measures = dict(results), tuple(measures)
        self.best = {measure: self._best(measure) for measure in measures}

    def _best(self, measure: str) -> str | None:
        means = {name: result[measure] for name, result in self.results.items()}
        first = max(means, key=lambda name: means[name].lower)
        others = [mean.upper for name, mean in means.items() if name != first]
        return first if others and means[first].lower > max(others) + ROUNDING else None

    def to_dict(self) -> dict[str, Any]:
        """The four numbers of each system in each measure, and the name of the best system, as numbers and texts."""
        systems = {
            name: {measure: asdict(result[measure]) for measure in self.measures}
            for name, result in self.results.items()
        }
        return {"systems": systems, "best": self.best}

    def columns(self) -> dict[str, Array]:
        """The names of the systems, and the lowest score in each measure, as arrays of equal length."""
        scores = {
            measure: np.array([result[measure].lower for result in self.results.values()])
            for measure in self.measures
        }
        return {"system": np.array(list(self.results)), **scores}

    def _table(self) -> Table:
        rows: list[Row] = [
            (name, *(Cell(f"{result[measure].lower:.4f}", self.best[measure] == name) for measure in self.measures))
            for name, result in self.results.items()
        ]
        queries = count(next(iter(self.results.values())).ties.queries, "query")
        notes = [*about_settings(self.results)]
        found = [f"{name} in {measure}" for measure, name in self.best.items() if name is not None]
        unknown = [measure for measure, name in self.best.items() if name is None]
        if found:
            notes.append(f"Best whatever the ties, and in bold: {', '.join(found)}.")
        if unknown and len(self.results) > 1:
            notes.append(f"In {', '.join(unknown)} no system is best whatever the ties, so that no score is in bold.")
        bold = "; one in bold is above the highest one of all others" if found else ""
        notes.append(f"Each score is the lowest over all orderings of tied items, over {queries}{bold}.")
        return Table(("system", *self.measures), [rows], notes, self.measures)

    def __repr__(self) -> str:
        return f"<ScoreTable of {count(len(self.results), 'system')} in {', '.join(self.measures)}>"


def table(results: Mapping[str, Result], *, measures: Sequence[str | Measure] | None = None) -> ScoreTable:
    """Make a table of several systems and measures; a score is bold if its system is the best one whatever the ties.

    Print it, or use `to_latex(caption=…, label=…)`, `to_markdown()` or `to_frame()`. Whether a difference may be due
    to the choice of queries is not tested; `tieproof.compare` does that.

    Parameters
    ----------
    results : {name: Result}
        Results of the same queries, with the same labels and policies; the rows are in this order.
    measures :
        The measures of the columns; by default all.

    Raises
    ------
    InputError
        If the results do not belong together, or lack a measure.

    Examples
    --------
    >>> import tieproof as tp
    >>> relevance = [[1, 0, 0], [0, 1, 0]]
    >>> good = tp.evaluate_scores([[3, 2, 1], [1, 3, 2]], relevance, measures=["RR", "R@2"])
    >>> tied = tp.evaluate_scores([[1, 1, 1], [2, 2, 3]], relevance, measures=["RR", "R@2"])
    >>> print(tp.table({"good": good, "tied": tied}))
    system      RR     R@2
    ----------------------
    good    1.0000  1.0000
    tied    0.3333  0.0000
    <BLANKLINE>
    Best whatever the ties, and in bold: good in RR.
    In R@2 no system is best whatever the ties, so that no score is in bold.
    1 more: --explain, or to_text(explain=True)

    """
    check_results(results)
    if not results:
        raise InputError("A table needs at least one result. Pass {name: result} for each system.", "results")
    aligned(results)
    return ScoreTable(results, common_measures(results, measures))
