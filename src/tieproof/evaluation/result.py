"""`Result`: the result of an evaluation, with methods that show it as text, tables, files, pictures and reports."""

import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from tieproof.evaluation.measured import Measured
from tieproof.evaluation.text import curves_of, medians, table_of, table_of_errors
from tieproof.inputs.options import check_choice
from tieproof.measures import Measure
from tieproof.show.files import output, pages
from tieproof.show.parts import count, first_of
from tieproof.show.shown import AsFrame, AsPage, Shown, Table, frame, text
from tieproof.ties import by_name, columns_of, for_loggers

if TYPE_CHECKING:
    from tieproof.evaluation.one_order import OneOrderStd

Per = Literal["query", "measure", "category"]  # the rows of a data frame


class Result(Measured, Shown, AsFrame, AsPage):
    """A mapping from the name of each measure to its `Estimate`: lower, expected and upper value, and std.

    A measure can be looked up under each of its names and aliases; iteration gives the names in `measures`. Two
    results are equal only if they are the same object.

    setting : what was evaluated: `distance`, `leave_one_out`, the numbers of `queries`, of items (`gallery`) and of
        `dimensions`, and the policies `empty`, `average` and `precision`
    query_ids : the ids of the evaluated queries, an array in the order of `per_query`
    empty_ids : the ids of the queries with nothing relevant
    ci : the confidence of the intervals over queries that are shown; None shows no intervals

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
    >>> print(tp.evaluate([[0.0, 0.0]] * 3, ["cat", "dog", "cat"], measures=["AP"]))
    measure   lower  expected   upper  tie std
    ------------------------------------------
    AP       0.5000    0.7500  1.0000   0.1768
    <BLANKLINE>
    Left out: 1 query with no relevant item.
    2 of 2 queries hold an ambiguous tie; 3 vectors are all zero.
    5 more: --explain, or to_text(explain=True)
    """

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings and dictionaries.

        The `std` of a measure is its standard deviation over the orderings of tied items, not over the queries.
        With confidences, `error_reject` has the curve of each score, which is 4 Q numbers for Q queries.
        After `with_ci`, `intervals` has the confidence intervals over the queries; after `as_printed`, `printed` has
        the rule and the values that it gives. `medians` has the medians of ranks, if any was evaluated.
        """
        whole = {
            "setting": asdict(self.setting),
            **_numbers_of(self),
            "skipped": {reason: len(ids) for reason, ids in self.skipped.items()},
        }
        if self.search is not None:
            whole["search"] = self.search
        if self.evaluated.said:
            whole["said"] = list(self.evaluated.said)
        if self.evaluated.not_in_run is not None:
            whole["not_in_run"] = len(self.not_in_run)
        if self.has_confidence:
            whole["error_reject"] = {name: curve.to_dict() for name, curve in curves_of(self).items()}
        if of_ranks := medians(self):
            whole["medians"] = {name: asdict(bounds) for name, bounds in of_ranks.items()}
        if self.printed is not None:
            whole["printed"] = {"rule": self.printed.rule, "measures": {**self.printed}}
        if self.ci is not None:
            whole["intervals"] = {measure: asdict(each) for measure, each in self.intervals(self.ci).items()}
        if self._categories is None:
            return whole
        return whole | {
            "categories": {str(name): _numbers_of(self.category(name)) for name in self.categories},
            "categories_left_out": list(map(str, self.categories_left_out)),
        }

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """A long table of every query and measure, as arrays of equal length.

        `std` is the standard deviation over the orderings of the query's tied items.
        """
        measures = len(self._per_query)
        table = {"query": np.tile(self.query_ids, measures)}
        if self.category_of_query is not None:
            table["category"] = np.tile(self.category_of_query, measures)
        table["measure"] = np.repeat(self.measures, len(self.query_ids))
        table |= columns_of([self.per_query(measure) for measure in self._per_query])
        if self.printed is not None:
            table["printed"] = np.concatenate([self.printed.per_query(measure) for measure in self._per_query])
        return table

    def to_frame(self, per: Per = "query") -> Any:
        """A pandas data frame of lower, expected and upper value and std over the orderings of ties (extra `pandas`).

        per : "query", a row for every query and measure; "measure", a row for every mean; or "category", a row for
            the mean of every category and measure, with the number of queries in the category

        Raises InputError for "category" if the result has no categories.
        """
        check_choice("per", per, get_args(Per))
        if per == "query":
            return super().to_frame()
        rule = self.printed
        if per == "measure":
            rows = [{"measure": name, **by_name(self[name])} for name in self.measures]
            means = [] if rule is None else [*rule.values()]
        else:
            parts = {name: self.category(name) for name in self.categories or (None,)}
            rows = [
                {"category": name, "measure": measure, **by_name(part[measure]), "queries": part.ties.queries}
                for measure in self.measures
                for name, part in parts.items()
            ]
            parted = [] if rule is None else [rule.category_means(measure) for measure in self.measures]
            means = [mean for each in parted for mean in each.values()]
        kinds = {"category": None if self._categories is None else self._categories.names.dtype}
        columns = {name: np.array([row[name] for row in rows], kinds.get(name)) for name in rows[0]}
        return frame("Result.to_frame", columns | ({"printed": np.array(means)} if means else {}))

    def to_flat_dict(self) -> dict[str, float]:
        """The means as numbers by name, such as `ndcg_at_10_lower`, for loggers of metrics.

        Names consist of lower-case ASCII letters, digits and underscores and begin with a letter, which every logger
        accepts (MLflow, TensorBoard, Weights & Biases). `tie_std` is the standard deviation over the orderings of
        tied items.

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores([[1, 1]], [[1, 0]], measures=["nDCG(gain=exp)@10"])
        >>> list(result.to_flat_dict())[:2]
        ['ndcg_gain_exp_at_10_lower', 'ndcg_gain_exp_at_10_expected']
        """
        return {
            name: value
            for measure in self.measures
            for name, value in for_loggers(flat_name(measure), self[measure]).items()
        }

    def _table(self) -> Table:
        return table_of(self)

    def to_text(self, width: int | None = None, color: bool = False, explain: bool = False) -> str:
        """The table that the command line shows, and below it that of the errors by confidence, if they are known."""
        shown = super().to_text(width, color, explain)
        curves = curves_of(self)
        return f"{shown}\n\n{text(table_of_errors(curves), width, color, explain)}" if curves else shown

    def __repr__(self) -> str:
        """A short text with the intervals of the first measures."""
        shown = first_of([f"{name} {self[name]:.4f}" for name in self.measures])
        return f"<Result of {count(self.ties.queries, 'query')}: {shown}>"

    def save(self, path: Any) -> None:
        """Save this result to a file that ends in .tieproof; `tp.load` reads the file, `tp.verify` checks it.

        The file contains the scores of every query. Whoever has it and the embeddings, or the run, can infer from the
        scores which items are relevant: do not publish the record of a test set whose labels are secret.

        The same result gives the same file, byte for byte. Raises InputError if the file cannot be written, and for
        the result of one category.
        """
        from tieproof.evaluation.saving import save  # slow to import, as is the page

        return save(self, path)

    def as_printed(self, rule: str, **evaluated: Any) -> Self:
        """A copy of this result that also shows what a library prints, which breaks ties by a rule.

        Not for decisions: another order of the documents, or other ids, would give another number. It tells where a
        number that somebody published lies in the interval that ties leave open.

        rule : the order of items with equal scores: "trec_eval", "pytrec_eval" or "ranx", which needs ranx (extra
            `ranx`); by document id "ascending" or "descending"; in the order given, "position", or in reverse of it,
            "reversed". For lists of scores or distances, only the last two.
        evaluated : the evaluated data, by the names of the arguments: `qrels` and `run`, or `scores` or `distances`
            with `relevance` or `labels`; a result does not keep its data

        `printed` of the copy is a mapping from the name of each measure to the mean, with `per_query(measure)`.
        Queries count as in this result, by `missing` and `empty`: trec_eval without -c leaves out what is not in the
        run, as missing="skip" does. The value can lie outside of the interval only by "pytrec_eval", where scores
        that differ are equal in single precision, and by "trec_eval" and "pytrec_eval" for grades with fractions,
        which trec_eval cuts off, and for IPrec, whose hits each version counts in its own way.

        Raises InputError if the data is not that of the result, and for the result of another evaluation or of one
        category.

        >>> import tieproof as tp
        >>> qrels, run = {"q": {"d1": 1}}, {"q": {"d1": 0.5, "d2": 0.5, "d3": 0.5}}
        >>> result = tp.evaluate_run(qrels, run, measures=["RR"]).as_printed("trec_eval", qrels=qrels, run=run)
        >>> f"{result['RR']:.2f}", f"{result.printed['RR']:.2f}"
        ('0.33 ≤ 0.61 ≤ 1.00', '0.33')
        """
        from tieproof.evaluation.one_order import printed  # rarely needed

        return type(self)(self.evaluated, self.ci, printed(self, rule, evaluated))

    def std_of_one_order(
        self, measure: str | Measure, *, draws: int = 100, seed: int = 0, **evaluated: Any
    ) -> "OneOrderStd":
        """The standard deviation of a mean if one order of the gallery ranks the tied items of all queries.

        `std`, which tables call "tie std", has the ties of each query broken independently. A stable sort breaks all
        of them by the order of the data, which moves many queries in the same direction. As this spread has no closed
        form, orders are drawn.

        measure : one of the result's measures
        draws, seed : the number of drawn orders, and their seed; the same data in the same order gives the same bits
        evaluated : the evaluated data, by the names of the arguments, such as `embeddings` and `labels`, or `scores`
            and `relevance`; a result does not keep its data

        Returns an `OneOrderStd`: `std`, its `standard_error`, and `draws`. It takes 24 bytes for each pair of a query
        and an item. Raises InputError if the data is not that of the result, for runs, and for lists of several
        lengths.

        >>> import tieproof as tp
        >>> data = {"scores": [[1, 1], [2, 2], [3, 3]], "relevance": [[1, 0], [1, 0], [1, 0]]}
        >>> result = tp.evaluate_scores(**data, measures=["RR"])
        >>> f"{result['RR'].std:.3f}", "{:.3f} ± {:.3f}".format(*result.std_of_one_order("RR", **data)[:2])
        ('0.144', '0.250 ± 0.002')
        """
        from tieproof.evaluation.one_order import std_of_one_order  # rarely needed

        return std_of_one_order(self, self._known(measure), draws, seed, evaluated)

    def plot(self, ax: Any = None) -> Any:
        """Draw the interval of every measure, and return the axes of matplotlib (extra `plot`).

        ax : axes to draw on, or the path of a picture (.svg, .pdf or .png), which is written whole or not at all; the
            other pictures take the same
        """
        from tieproof.evaluation.pictures import plot_measures  # slow to import for an evaluation that draws nothing

        return plot_measures(self, ax)

    def plot_queries(self, measure: str | Measure | None = None, ax: Any = None) -> Any:
        """Draw the interval of every query, sorted (extra `plot`).

        measure : by default AP, or the first measure of a result without AP
        """
        from tieproof.evaluation.pictures import plot_queries

        return plot_queries(self, measure, ax)

    def plot_precision_recall(self, ax: Any = None) -> Any:
        """Draw precision over recall, with the band over all orderings of tied items (extra `plot`).

        The result needs `IPrec` at several levels of recall: evaluate with `measures=tp.measures.PRECISION_RECALL`.
        """
        from tieproof.evaluation.pictures import plot_precision_recall

        return plot_precision_recall(self, ax)

    def _page(self, *shown: Any) -> tuple[str, dict[str, Any]]:
        from tieproof.evaluation.page import contents  # slow to import

        return contents(self, *shown)

    def report(
        self, path: str | os.PathLike[str], *, items: Any = None, gallery_items: Any = None, **evaluated: Any
    ) -> None:
        """Write a report (extra `report`) as one .html file that needs no network to be viewed.

        path : must end in .html; the file is written completely or not at all, and the same result gives the same
            bytes
        items, gallery_items : the queries and the gallery items as people see them: texts, or paths of images, which
            the report shows as thumbnails: every `pathlib.Path`, and texts if all of them name images and these are
            in the folder of the report. Pass a sequence in the order of the data, or a dictionary by id, as for a
            run. In leave-one-out, `items` serves for both.
        evaluated : the evaluated data, by the names of the evaluation's arguments, such as `embeddings` and `labels`,
            or `qrels` and `run`. A result does not keep the data. If it is passed, the report shows the nearest items
            of the worst queries, and which of them are relevant or tied.

        Raises InputError if the file cannot be written, if the number of items is wrong, and if the data cannot be
        the evaluated data; MissingExtraError without Jinja2.

        >>> import tempfile
        >>> import tieproof as tp
        >>> texts, labels = ["a cat", "a kitten", "a dog"], ["cat", "cat", "dog"]
        >>> embeddings = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
        >>> result = tp.evaluate(embeddings, labels)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(f"{folder}/report.html", items=texts, embeddings=embeddings, labels=labels)
        """
        made = pages(lambda _: self._page(items, gallery_items, evaluated, [Path(path).parent] * 2))
        with output(path, made) as write:
            write(self)


def flat_name(measure: str) -> str:
    """The name of a measure in lower-case letters, digits and underscores."""
    spelled = measure.lower().replace("@", "_at_").replace("%", "_percent")
    return re.sub("[^a-z0-9]+", "_", spelled).strip("_")


def _numbers_of(result: Result) -> dict[str, Any]:
    return {
        "measures": {name: asdict(result[name]) for name in result.measures},
        "ties": asdict(result.ties),
        "empty": len(result.empty_ids),
    }
