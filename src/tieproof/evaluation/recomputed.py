"""`noise`: how far embeddings are from the same items computed again, and which scores that leaves open."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.moves import MOVED, moves_between
from tieproof.evaluation.result import Result
from tieproof.inputs.arrays import as_finite_embeddings
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.show.parts import count
from tieproof.show.shown import AsJson, Shown, Table
from tieproof.ties import BoolArray, FloatArray


class NoiseReport(Shown, AsJson):
    """What the difference between two computations of the same embeddings means; `tieproof.noise` returns it.

    first, second : the `Result` of each computation, whose noise is the distance of its rows to those of the other
    moves : (n,) how far each row moved, in the unit of `unit`
    unit : what `moves` measures, in words
    may_change : the ids of the queries of which any measure may change under the noise
    changed : the ids of the queries of which any measure does change from one computation to the other

    >>> import tieproof as tp
    >>> rows = np.array([[1.0, 0.0], [0.9, 0.1], [0.8, 0.3], [0.0, 1.0]])
    >>> report = tp.noise(rows, rows.astype(np.float16), ["a", "a", "b", "b"], measures=["AP"])
    >>> report.changed.tolist(), report.may_change.tolist()
    ([], [])
    """

    def __init__(self, first: Result, second: Result, moves: FloatArray, unit: str) -> None:
        self.first, self.second, self.moves, self.unit = first, second, moves, unit

    @cached_property
    def may_change(self) -> npt.NDArray[Any]:
        """The ids of the queries of which any measure may change under the noise."""
        return self.first.query_ids[self.first.evaluated.open_under_noise()]

    @cached_property
    def changed(self) -> npt.NDArray[Any]:
        """The ids of the queries of which any measure does change from one computation to the other."""
        return self.first.query_ids[_differ(self.first, self.second)]

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain numbers, strings and lists."""
        return {
            "moves": {"unit": self.unit, **self._extremes()},
            "queries": len(self.first.query_ids),
            "may_change": self.may_change.tolist(),
            "changed": self.changed.tolist(),
            "first": {name: asdict(self.first[name]) for name in self.first.measures},
            "second": {name: asdict(self.second[name]) for name in self.second.measures},
        }

    def _extremes(self) -> Mapping[str, float]:
        """The median and the largest move."""
        return {"median": float(np.median(self.moves)), "largest": float(self.moves.max())}

    def _table(self) -> Table:
        header = ["measure", "first", "second", "noise of first", "noise of second"]
        rows = []
        for name in self.first.measures:
            one, other = self.first[name], self.second[name]
            rows.append([name, f"{one.lower:.4f}", f"{other.lower:.4f}", f"{one.noise:.4f}", f"{other.noise:.4f}"])
        queries = count(len(self.first.query_ids), "query")
        moves = self._extremes()
        notes = [
            f"Evaluated {queries} under {self.first.setting.distance} distance; 'first' and 'second' are 'lower'.",
            f"Rows moved by {moves['median']:.3g} (median) to {moves['largest']:.3g} (largest): {self.unit}.",
            f"This may change a score of {len(self.may_change):,} of {queries}, and it does change a score of "
            f"{len(self.changed):,}.",
            "'noise' is the range over all rankings that are possible if every row may move as far as it did.",
        ]
        return Table(header, [rows], notes, header[1:])

    def __repr__(self) -> str:
        """How many queries may change, and how many do."""
        return (
            f"<NoiseReport of {count(len(self.first.query_ids), 'query')}: {len(self.may_change):,} may change, "
            f"{len(self.changed):,} did>"
        )


UNITS = {
    "cosine": "the distance between rows of norm 1",
    "cityblock": "the sum of the absolute differences of a row",
}


def noise(
    embeddings: Any,
    again: Any,
    labels: Any,
    *,
    distance: str = "cosine",
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    memory: str | int = "1GiB",
    threads: int | None = None,
) -> NoiseReport:
    """Compare two computations of the same embeddings: on another device, in another batch size or format.

    Every item queries all the others (leave-one-out). Each row may move as far as it moved between the two
    computations. The scores of either, and of all embeddings between them, are inside the bounds.

    Parameters
    ----------
    embeddings, again : (n, d)
        The same items in the same order, from two computations.
    labels : (n,) or (n, c), as in `evaluate`
    distance : "cosine", "euclidean", "sqeuclidean", "cityblock" or "dot"
    measures, memory, threads : as in `evaluate`

    Raises
    ------
    InputError
        If the two arrays have different shapes, and for whatever `evaluate` refuses.

    Notes
    -----
    docs/noise.md derives the bounds. To see whether one model is better than another whatever the noise, pass results
    with noise to `tieproof.compare`.

    Examples
    --------
    >>> import numpy as np
    >>> import tieproof as tp
    >>> rows = np.array([[1.0, 0.0], [0.9, 0.1], [0.8, 0.3], [0.0, 1.0]])
    >>> tp.noise(rows, rows.astype(np.float16), ["a", "a", "b", "b"], measures=["AP"])
    <NoiseReport of 4 queries: 0 may change, 0 did>

    """
    options: dict[str, Any] = {"distance": distance, "measures": measures, "memory": memory, "threads": threads}
    first = evaluate(embeddings, labels, noise=again, **options)
    second = evaluate(again, labels, noise=embeddings, **options)
    called = first.setting.distance
    moves = moves_between(as_finite_embeddings(embeddings, "embeddings"), again, MOVED[called]).move
    return NoiseReport(first, second, moves, UNITS.get(called, "the Euclidean norm of the difference of a row"))


def _differ(one: Result, other: Result) -> BoolArray:
    """Which queries have another value of any measure in the two results."""
    differ = np.zeros(len(one.query_ids), dtype=np.bool_)
    for name in one.measures:
        first, second = one.per_query(name), other.per_query(name)
        differ |= (first.lower != second.lower) | (first.upper != second.upper)
    return differ
