"""`noise`: how far embeddings are from the same items computed again, and which scores that leaves open."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.analyses.compare.compare import compare
from tieproof.analyses.compare.result import Comparison
from tieproof.analyses.compare.same_queries import about_settings
from tieproof.analyses.compare.verdicts import NoisyDifference
from tieproof.distances import DistanceName
from tieproof.errors import InputError
from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.moves import MOVED, moves_between
from tieproof.evaluation.result import Result
from tieproof.inputs.arrays import as_finite_embeddings
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.show.parts import count, first_of, signed
from tieproof.show.shown import AsFrame, Shown, Table
from tieproof.ties import Array, BoolArray, FloatArray


class NoiseReport(Shown, AsFrame):
    """What the difference between two computations of the same embeddings means; `tieproof.noise` returns it.

    first, second : the `Result` of each computation, whose noise is the distance of its rows to those of the other
    moves : (n,) how far each row moved, in the unit of `unit`; of the queries, if there is a gallery
    unit : what `moves` measures, in words
    may_change : the ids of the queries of which any measure may change under the noise, or does change
    changed : the ids of the queries of which any measure does change from one computation to the other
    comparison : of "first" with "against", the other model, as `tieproof.compare` returns it; None without one

    >>> import tieproof as tp
    >>> rows = np.array([[1.0, 0.0], [0.9, 0.1], [0.8, 0.3], [0.0, 1.0]])
    >>> report = tp.noise(rows, rows.astype(np.float16), ["a", "a", "b", "b"], measures=["AP"])
    >>> report.changed.tolist(), report.may_change.tolist()
    ([], [])
    """

    def __init__(
        self, first: Result, second: Result, moves: FloatArray, unit: str, comparison: Comparison | None = None
    ) -> None:
        self.first, self.second, self.moves, self.unit, self.comparison = first, second, moves, unit, comparison

    @cached_property
    def may_change(self) -> npt.NDArray[Any]:
        """The ids of the queries of which any measure may change under the noise, or does change."""
        return self.first.query_ids[self.first.evaluated.open_under_noise() | self._differ(*self.first.measures)]

    @cached_property
    def changed(self) -> npt.NDArray[Any]:
        """The ids of the queries of which any measure does change from one computation to the other."""
        return self.first.query_ids[self._differ(*self.first.measures)]

    def _differ(self, *measures: str) -> BoolArray:
        """(Q,) of which queries any of these measures changes from one computation to the other."""
        both = [(self.first.per_query(name), self.second.per_query(name)) for name in measures]
        apart = [(one.lower != other.lower) | (one.upper != other.upper) for one, other in both]
        return np.asarray(np.any(apart, axis=0))

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain numbers, strings and lists."""
        whole = {
            "moves": {"unit": self.unit, **self._extremes()},
            "queries": len(self.first.query_ids),
            "may_change": self.may_change.tolist(),
            "changed": self.changed.tolist(),
            "first": {name: asdict(self.first[name]) for name in self.first.measures},
            "second": {name: asdict(self.second[name]) for name in self.second.measures},
        }
        return whole if self.comparison is None else whole | {"comparison": self.comparison.to_dict()}

    def columns(self) -> dict[str, Array]:
        """The columns of the first result, with `lower` of the second, and how far the query's row moved.

        `may_change` and `changed` are about the measure of the row.
        """
        table, measures = self.first.columns(), self.first.measures
        table["second_lower"] = np.concatenate([self.second.per_query(name).lower for name in measures])
        table["move"] = np.tile(self.moves[self.first.query_ids], len(measures))
        changed = np.concatenate([self._differ(name) for name in measures])
        wider = (table["noise_lower"] < table["lower"]) | (table["noise_upper"] > table["upper"])
        return table | {"may_change": wider | changed, "changed": changed}

    def _extremes(self) -> Mapping[str, float]:
        return {"median": float(np.median(self.moves)), "largest": float(self.moves.max())}

    def _table(self) -> Table:
        header = ["measure", "first", "second", "noise of first", "noise of second"]
        rows = []
        for name in self.first.measures:
            one, other = self.first[name], self.second[name]
            rows.append([name, f"{one.lower:.4f}", f"{other.lower:.4f}", f"{one.noise:.4f}", f"{other.noise:.4f}"])
        queries = count(len(self.first.query_ids), "query")
        moves, may_change = self._extremes(), self.may_change.tolist()
        named = [f"Those that may change are {first_of(may_change, 10)}."] if may_change else []
        notes = [
            *([] if self.comparison is None else _survives(self.comparison)),
            f"The noise may change a score of {len(self.may_change):,} of {queries}, and it does change a score of "
            f"{len(self.changed):,}.",
            f"Rows moved by {moves['median']:.3g} (median) to {moves['largest']:.3g} (largest): {self.unit}.",
            *named,
            f"Evaluated {queries} under {self.first.setting.distance} distance; 'first' and 'second' are 'lower'.",
            "'noise' is the range over all rankings that are possible if every row may move as far as it did.",
        ]
        return Table(header, [rows], notes, header[1:])

    def __repr__(self) -> str:
        return (
            f"<NoiseReport of {count(len(self.first.query_ids), 'query')}: {len(self.may_change):,} may change, "
            f"{len(self.changed):,} did>"
        )


UNITS = {"cosine": "the distance between rows of norm 1", "cityblock": "the sum of the absolute differences of a row"}


def noise(
    embeddings: Any,
    again: Any,
    labels: Any,
    *,
    gallery: Any = None,
    gallery_again: Any = None,
    gallery_labels: Any = None,
    against: Result | None = None,
    distance: DistanceName | str = "cosine",
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    memory: str | int = "1GiB",
    threads: int | None = None,
) -> NoiseReport:
    """Compare two computations of the same embeddings: on another device, in another batch size or format.

    Every item queries all the others (leave-one-out), or the gallery. Each row may move as far as it moved between
    the two computations. The scores of either, and of all embeddings between them, are inside the bounds.

    Parameters
    ----------
    embeddings, again : (n, d)
        The same items in the same order, from two computations.
    labels : (n,) or (n, c), as in `evaluate`
    gallery, gallery_again, gallery_labels :
        The gallery from both computations, and its labels.
    against : Result
        That of another model on the same queries, as `evaluate` returns it: the report then says whether the
        comparison of the two models survives the noise, and that of the other model if it was evaluated with noise.
    distance : "cosine", "euclidean", "sqeuclidean", "cityblock" or "dot"
    measures, memory, threads : as in `evaluate`

    Raises
    ------
    InputError
        If the two arrays have different shapes, and for whatever `evaluate` refuses.

    Notes
    -----
    docs/guides/reproducible.md describes the bounds; docs/compare.md says when a model is better whatever the noise.

    Examples
    --------
    >>> import numpy as np
    >>> import tieproof as tp
    >>> rows = np.array([[1.0, 0.0], [0.9, 0.1], [0.8, 0.3], [0.0, 1.0]])
    >>> tp.noise(rows, rows.astype(np.float16), ["a", "a", "b", "b"], measures=["AP"])
    <NoiseReport of 4 queries: 0 may change, 0 did>

    """
    if (gallery is None) != (gallery_again is None):
        raise InputError("A gallery is needed from both computations. Pass gallery= and gallery_again=.", "gallery")
    if not isinstance(against, Result | None):
        raise InputError(
            f"against must be a result, as tp.evaluate returns, not {type(against).__name__}.", "against"
        )
    options: dict[str, Any] = {"distance": distance, "measures": measures, "memory": memory, "threads": threads}
    options |= {"gallery_labels": gallery_labels}
    both = ((embeddings, gallery), (again, gallery_again))
    noises = (again, embeddings) if gallery is None else ((again, gallery_again), (embeddings, gallery))
    first, second = (
        evaluate(queries, labels, gallery=items, noise=moved, **options)
        for (queries, items), moved in zip(both, noises, strict=True)
    )
    called = first.setting.distance
    moves = moves_between(as_finite_embeddings(embeddings, "embeddings"), again, MOVED[called]).move
    unit = UNITS.get(called, "the Euclidean norm of the difference of a row")
    comparison = None if against is None else compare({"first": first, "against": _with_noise(against)})
    return NoiseReport(first, second, moves, unit, comparison)


def _with_noise(result: Result) -> Result:
    """Return a result whose bounds under noise are those of its ties, if it was evaluated without noise."""
    evaluated = result.evaluated
    if evaluated.noisy:
        return result
    values = {measure: np.vstack([rows, rows[[0, 2]]]) for measure, rows in evaluated.per_query.items()}
    return Result(evaluated._replace(per_query=values))


def _survives(comparison: Comparison) -> Iterator[str]:
    yield from about_settings(comparison.results)
    for name in comparison.measures:
        difference = comparison["first", "against", name]
        assert isinstance(difference, NoisyDifference)
        lower, upper = difference.noise.lower, difference.noise.upper
        fate = "no noise reverses it" if lower > 0 or upper < 0 else "noise and ties can make it zero or reverse it"
        span = f"from {signed(lower)} to {signed(upper)}"
        yield f"{name} of 'first' minus that of 'against' is {span} under the noise: {fate}."
        yield difference.verdict.sentence
