"""Measures of ir_measures with a bound, and how each reads judgments and is computed."""

from collections.abc import Callable, Collection, Iterator, Mapping
from math import fsum
from numbers import Real
from typing import Any, NamedTuple, get_args

from ir_measures.measures.base import Agg, ParamInfo, SumAgg
from ir_measures.measures.base import Measure as TheirMeasure

from tieproof import evaluate_diversity, evaluate_run
from tieproof.errors import InputError
from tieproof.kit import Bound
from tieproof.measures import REGISTRY, Definition, Measure

ByQuery = dict[Any, dict[Any, Any]]  # a grade or a score for each document of each query
OfSubtopics = dict[Any, dict[Any, dict[Any, Any]]]  # the grade of each document for each subtopic of each query
Values = Iterator[tuple[str, Any, float]]  # the query, the requested measure and its value


class View(NamedTuple):
    """How a measure reads the judgments."""

    # The lowest grade that is relevant; None for measures that read grades; -infinity for Judged, which counts
    # negative grades, too.
    rel: float | None
    gains: tuple[tuple[int, int], ...]  # (grade, gain) for each grade that is replaced by another number
    judged_only: bool  # whether documents without a judgment, or with a negative one, are removed from the ranking

    def of_qrels(self, qrels: ByQuery) -> ByQuery:
        """Return the judgments as the measure reads them."""
        gains = dict(self.gains)

        def read(grade: Any) -> Any:
            is_number: bool = isinstance(grade, Real)
            if not is_number:
                raise InputError(f"The grades in the qrels must be numbers, not {type(grade).__name__}: {grade!r}.")
            return gains.get(grade, grade) if self.rel is None else 1 if grade >= self.rel else min(grade, 0)

        return {
            query: {document: read(grade) for document, grade in documents.items()}
            for query, documents in qrels.items()
        }

    def of_run(self, run: ByQuery, qrels: ByQuery) -> ByQuery:
        """Return the documents that are ranked."""
        if not self.judged_only:
            return run
        gains: Mapping[Any, Any] = dict(self.gains)
        judged = {
            str(query): {str(document) for document, grade in documents.items() if gains.get(grade, grade) >= 0}
            for query, documents in qrels.items()
        }
        return only(run, judged)

    def values(self, measures: Mapping[Any, "BoundedMeasure"], qrels: ByQuery, run: ByQuery) -> Values:
        """Yield the values of the queries with judgments."""
        kept, judged = self.of_run(run, qrels), {query: each for query, each in qrels.items() if each}
        names = set(map(str, judged))
        if not any(of_query and str(query) in names for query, of_query in kept.items()):
            return
        ours = {asked: measure.ours() for asked, measure in measures.items()}
        result = evaluate_run(self.of_qrels(judged), kept, measures=[*ours.values()], missing="zero", empty="zero")
        for asked, measure in measures.items():
            values = getattr(result.per_query(ours[asked]), measure.params["bound"]).tolist()
            for query, value in zip(result.query_ids.tolist(), values, strict=True):
                yield query, asked, value


class DiversityView(NamedTuple):
    """How a measure of diversity reads the judgments and weighs subtopics that were seen before."""

    alpha: float
    rel: int
    judged_only: bool

    def values(self, measures: Mapping[Any, "DiversityMeasure"], qrels: OfSubtopics, run: ByQuery) -> Values:
        """Yield the values of the queries with a relevant document."""
        graded = View(self.rel, (), False)
        read = {
            query: {
                subtopic: {document: max(grade, 0) for document, grade in documents.items()}
                for subtopic, documents in graded.of_qrels(subtopics).items()
            }
            for query, subtopics in qrels.items()
        }
        if self.judged_only:
            judged = {str(query): {str(d) for of in each.values() for d in of} for query, each in qrels.items()}
            run = only(run, judged)
        relevant = {str(query) for query, each in read.items() if any(any(of.values()) for of in each.values())}
        if not any(of and str(query) in relevant for query, of in run.items()):
            return
        names = {asked: f"{measure.__name__}@{measure.params['cutoff']}" for asked, measure in measures.items()}
        found = evaluate_diversity(read, run, measures=list(names.values()), alpha=self.alpha)
        for query, of_query in found.queries.items():
            for asked, measure in measures.items():
                yield query, asked, getattr(of_query[names[asked]], measure.params["bound"])


def only(run: ByQuery, kept: Mapping[str, Collection[str]]) -> ByQuery:
    """Return the run with these documents of each query alone."""
    return {
        query: {document: score for document, score in scores.items() if str(document) in kept.get(str(query), ())}
        for query, scores in run.items()
    }


BOUNDS: tuple[str, ...] = get_args(Bound)

BOUND = ParamInfo(dtype=str, required=True, choices=BOUNDS, desc="over all orderings of tied documents")
REL = ParamInfo(dtype=int, default=1, desc="minimum relevance score to be considered relevant")
JUDGED_ONLY = ParamInfo(dtype=bool, default=False, desc="ignore documents without a judgment")
"""The descriptions, for ir_measures, of parameters of many measures."""

_OF_GRADES_THERE = {"RBP"}
"""Measures that sum grades in ir_measures unless `rel` is given, so that `rel` has no default here."""

_GAINS = {"log2": "linear", "exp-log2": "exp"}
"""The names of ir_measures for formulations of DCG, and the gains of tieproof."""

_IDENTIFIERS = {"AP(trapezoid)": "AP_TRAPEZOID", "bpref": "Bpref"}
"""Names of tieproof that ir_measures cannot parse or spells differently, and the names used instead."""


class WithBound(TheirMeasure):  # type: ignore[misc]
    """A measure of ir_measures with the parameter `bound`, which selects the value over all orderings of ties."""

    def __init__(self, ours: str, name: str, meaning: str, supported: dict[str, ParamInfo], params: Any) -> None:
        super().__init__(**params)
        self.key, self.__name__, self.SUPPORTED_PARAMS = ours, name, supported
        self.NAME = f"tieproof {ours}"  # no other provider recognizes this name and ignores the bound
        self.PRETTY_NAME, self.SHORT_DESC = name, meaning

    def __call__(self, **params: Any) -> "WithBound":
        """Return the measure with these parameters added."""
        made: Callable[..., WithBound] = type(self)
        return made(self.key, **{**self.params, **params})

    def __repr__(self) -> str:
        """Return the spelling of ir_measures, with unknown parameters too."""
        given = {
            name: value
            for name, value in self.params.items()
            if name != self.AT_PARAM
            and (name not in self.SUPPORTED_PARAMS or value != self.SUPPORTED_PARAMS[name].default)
        }
        parameters = ",".join(f"{name}={self._param_repr(value)}" for name, value in given.items())
        cutoff = f"@{self.params[self.AT_PARAM]}" if self.AT_PARAM in self.params else ""
        return self.__name__ + (f"({parameters})" if parameters else "") + cutoff

    def aggregator(self) -> Agg:
        """Return the aggregator that computes the mean over queries."""
        return _ExactMean()

    def validate_params(self) -> None:
        """Refuse unknown parameters, and values that no measure accepts."""
        params = self.params
        for name in params:
            if name not in self.SUPPORTED_PARAMS:
                known = ", ".join(self.SUPPORTED_PARAMS)
                raise InputError(f"'{self}': {self.__name__} has no parameter '{name}'; its parameters: {known}.")
        if params.get("bound") not in BOUNDS:
            raise InputError(
                f"'{self}': bound must be one of {', '.join(BOUNDS)}. It selects a value over all orderings of tied "
                f"documents; write for example {self(bound='lower')}."
            )
        rel = params.get("rel", 1)
        if isinstance(rel, bool) or not isinstance(rel, int) or rel < 1:
            raise InputError(f"'{self}': rel, the lowest relevant grade, must be a whole number of at least 1.")
        for name, choices in (("judged_only", (False, True)), ("dcg", tuple(_GAINS))):
            if name in params and params[name] not in choices:
                raise InputError(f"'{self}': {name} must be one of {', '.join(map(str, choices))}.")


class BoundedMeasure(WithBound):
    """A measure of tieproof as a measure of ir_measures; `bound` selects the value over all orderings of ties.

    ours : the name of the measure in tieproof
    params : bound ("lower", "expected" or "upper"); cutoff, rel, judged_only, dcg and gains as in ir_measures; and
        the measure's own parameters in tieproof
    """

    def __init__(self, ours: str, **params: Any) -> None:
        self.definition = REGISTRY[ours]
        self.AT_PARAM = "recall" if ours == "IPrec" else "cutoff"
        supported = _parameters_of(self.definition)
        known = [name for name in supported if name in params]
        ordered = {name: params[name] for name in dict.fromkeys([*known, *params])}
        super().__init__(ours, _IDENTIFIERS.get(ours, ours), self.definition.meaning, supported, ordered)

    def aggregator(self) -> Agg:
        """Return the aggregator that computes the mean over queries, or the sum of counts."""
        return SumAgg() if self.definition.total else super().aggregator()

    def validate_params(self) -> None:
        """Refuse parameters for which the measure is not defined."""
        super().validate_params()
        params = self.params
        if "rel" not in params and self.definition.name in _OF_GRADES_THERE:
            raise InputError(
                f"'{self}' needs rel, the lowest grade that is relevant: without rel, ir_measures sums grades, which "
                f"tieproof does not. Write {self(rel=1)}."
            )
        if self.definition.name == "IPrec" and "recall" not in params:
            raise InputError(f"'{self}' needs the smallest recall that counts; write for example {self @ 0.1}.")
        if not isinstance(params.get("gains", {}), Mapping):
            raise InputError(
                f"'{self}': gains must be a dictionary of grades and their gains, such as {{1: 1, 2: 3}}."
            )
        self.ours()

    def ours(self) -> Measure:
        """Return the measure of tieproof, which computes all bounds."""
        chosen = {name: self.params[name] for name in _own_parameters(self.definition) if name in self.params}
        if "dcg" in self.params:
            chosen["gain"] = _GAINS[self.params["dcg"]]
        measure = Measure(self.definition.name)(**chosen)
        return measure @ self.params["cutoff"] if "cutoff" in self.params else measure.complete()

    def view(self) -> View:
        """Return how the measure reads the judgments."""
        rel = None if self.definition.graded else self.params.get("rel", 1)
        return View(
            rel=float("-inf") if self.definition.name == "Judged" else rel,
            gains=tuple(sorted(self.params.get("gains", {}).items())),
            judged_only=bool(self.params.get("judged_only", False)),
        )


def _parameters_of(definition: Definition) -> dict[str, Any]:
    """The descriptions of a measure's parameters for ir_measures."""
    described = {"bound": BOUND}
    if definition.cutoff != "none":
        required = definition.cutoff == "required"
        described["cutoff"] = ParamInfo(dtype=int, required=required, desc="ranking cutoff threshold")
    if definition.name == "nDCG":
        described["dcg"] = ParamInfo(dtype=str, choices=list(_GAINS), default="log2", desc="DCG formulation")
        described["gains"] = ParamInfo(dtype=dict, desc="custom gain mapping (int-to-int)")
    if not definition.graded:
        required = definition.name in _OF_GRADES_THERE
        described["rel"] = ParamInfo(dtype=int, required=True, desc=REL.desc) if required else REL
    if not (definition.judged_only or definition.unjudged or definition.total):
        described["judged_only"] = JUDGED_ONLY
    for name in _own_parameters(definition):
        parameter = definition.parameter(name)
        kind = str if parameter.choices else float
        described[name] = ParamInfo(dtype=kind, default=parameter.default, desc=parameter.meaning)
    if "recall" in described:
        described["recall"] = ParamInfo(dtype=float, required=True, desc=described["recall"].desc)
    return described


def _own_parameters(definition: Definition) -> list[str]:
    """The names of a measure's parameters, except gain, which ir_measures calls dcg, and by which its RBP differs."""
    return [parameter.name for parameter in definition.parameters if parameter.name != "gain"]


class DiversityMeasure(WithBound):
    """A measure of `evaluate_diversity` as a measure of ir_measures, with alpha where ir_measures has it."""

    def __init__(self, name: str, **params: Any) -> None:
        supported = {
            "bound": BOUND,
            "cutoff": ParamInfo(dtype=int, required=True, desc="ranking cutoff threshold, up to 100"),
            "rel": REL,
            "judged_only": JUDGED_ONLY,
        }
        if name.startswith("alpha"):
            supported["alpha"] = ParamInfo(dtype=float, default=0.5, desc="what a repetition loses")
        super().__init__(name, name, "gains of subtopics that earlier documents lack", supported, params)

    def validate_params(self) -> None:
        """Refuse parameters for which the measure is not defined."""
        super().validate_params()
        cutoff, alpha = self.params.get("cutoff"), self.params.get("alpha", 0.5)
        if isinstance(cutoff, bool) or not isinstance(cutoff, int) or not 1 <= cutoff <= 100:
            raise InputError(f"'{self}' needs a cutoff from 1 to 100; write for example {self @ 20}.")
        if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 <= alpha < 1:
            raise InputError(f"'{self}': alpha must be a number of at least 0 and below 1, such as 0.5.")

    def view(self) -> DiversityView:
        """Return how the measure reads the judgments."""
        params = self.params
        return DiversityView(params.get("alpha", 0.5), params.get("rel", 1), params.get("judged_only", False))


class _ExactMean(Agg):  # type: ignore[misc]
    """The mean over queries, rounded once, so that the order of the queries cannot matter."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def add(self, value: float) -> None:
        self.values.append(value)

    def result(self) -> float:
        """Return the mean; without queries NaN, as in ir_measures."""
        return fsum(self.values) / len(self.values) if self.values else float("nan")


MEASURES: dict[str, BoundedMeasure] = {
    measure.__name__: measure
    for measure in sorted(map(BoundedMeasure, REGISTRY), key=lambda measure: measure.__name__)
}
"""All measures with a bound, by their names in ir_measures."""

DIVERSITY = {name: DiversityMeasure(name) for name in ("ERR_IA", "alpha_DCG", "alpha_nDCG", "nERR_IA")}
"""All measures of diversity with a bound, by their names in ir_measures."""

ALL: dict[str, WithBound] = {**MEASURES, **DIVERSITY}
