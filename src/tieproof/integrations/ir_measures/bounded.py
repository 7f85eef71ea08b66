"""The measures of tieproof as measures of ir_measures, with the parameter `bound`."""

from collections.abc import Mapping
from math import fsum
from typing import Any, Literal, get_args

from ir_measures.measures.base import Agg, ParamInfo
from ir_measures.measures.base import Measure as TheirMeasure

from tieproof.errors import InputError
from tieproof.integrations.ir_measures.judgments import View
from tieproof.measures import REGISTRY, Definition, Measure

Bound = Literal["lower", "expected", "upper"]
BOUNDS: tuple[str, ...] = get_args(Bound)

GRADED = {"ERR", "nDCG"}
"""Measures that read grades; all others ask what is relevant, from which grade on."""

OF_GRADES_THERE = {"RBP"}
"""Measures that in ir_measures sum grades up unless `rel` is given, so that it has no default."""

GAINS = {"log2": "linear", "exp-log2": "exp"}
"""What ir_measures calls a formulation of DCG, and our gains."""

IDENTIFIERS = {"AP(trapezoid)": "AP_TRAPEZOID", "bpref": "Bpref"}
"""Names that ir_measures could not parse, or writes differently."""


class BoundedMeasure(TheirMeasure):  # type: ignore[misc]
    """A measure of tieproof as one of ir_measures; `bound` says which value over all orderings it is.

    ours : the name of the measure in tieproof
    params : bound ("lower", "expected" or "upper"); cutoff, rel, judged_only, dcg and gains as in ir_measures; those
        of the measure in tieproof
    """

    def __init__(self, ours: str, **params: Any) -> None:
        self.definition = REGISTRY[ours]
        self.__name__ = IDENTIFIERS.get(ours, ours)
        self.NAME = f"tieproof {ours}"  # no other provider may take it for its own, and leave the bound out
        self.PRETTY_NAME, self.SHORT_DESC = self.__name__, self.definition.meaning
        self.SUPPORTED_PARAMS = parameters_of(self.definition)
        known = [name for name in self.SUPPORTED_PARAMS if name in params]
        super().__init__(**{name: params[name] for name in dict.fromkeys([*known, *params])})

    def __call__(self, **params: Any) -> "BoundedMeasure":
        """Return the measure with these parameters, too."""
        return BoundedMeasure(self.definition.name, **{**self.params, **params})

    def __repr__(self) -> str:
        """Return how ir_measures writes it, also where a parameter is none of its own."""
        given = {
            name: value
            for name, value in self.params.items()
            if name != "cutoff"
            and (name not in self.SUPPORTED_PARAMS or value != self.SUPPORTED_PARAMS[name].default)
        }
        parameters = ",".join(f"{name}={self._param_repr(value)}" for name, value in given.items())
        cutoff = f"@{self.params['cutoff']}" if "cutoff" in self.params else ""
        return self.__name__ + (f"({parameters})" if parameters else "") + cutoff

    def aggregator(self) -> "ExactMean":
        """Return what takes the mean over queries."""
        return ExactMean()

    def validate_params(self) -> None:
        """Refuse what cannot be computed, with the reason."""
        params = self.params
        for name in params:
            if name not in self.SUPPORTED_PARAMS:
                known = ", ".join(self.SUPPORTED_PARAMS)
                raise InputError(f"'{self}': {self.__name__} has no parameter '{name}'; its parameters: {known}.")
        if params.get("bound") not in BOUNDS:
            raise InputError(
                f"'{self}': bound must be one of {', '.join(BOUNDS)}. It says which value over all orderings of tied "
                f"documents is meant; write for example {self(bound='lower')}."
            )
        if "rel" not in params and self.definition.name in OF_GRADES_THERE:
            raise InputError(
                f"'{self}' needs rel, the lowest grade that is relevant: without it, ir_measures sums grades up, and "
                f"tieproof does not. Write {self(rel=1)}."
            )
        rel = params.get("rel", 1)
        if isinstance(rel, bool) or not isinstance(rel, int) or rel < 1:
            raise InputError(f"'{self}': rel, the lowest grade that is relevant, must be a whole number from 1 on.")
        if not isinstance(params.get("gains", {}), Mapping):
            raise InputError(
                f"'{self}': gains must be a dictionary of grades and their gains, such as {{1: 1, 2: 3}}."
            )
        for name, choices in (("judged_only", (False, True)), ("dcg", tuple(GAINS))):
            if name in params and params[name] not in choices:
                raise InputError(f"'{self}': {name} must be one of {', '.join(map(str, choices))}.")
        self.ours()

    def ours(self) -> Measure:
        """Return the measure of tieproof, which has no bound: it has all of them."""
        chosen = {name: self.params[name] for name in own_parameters(self.definition) if name in self.params}
        if "dcg" in self.params:
            chosen["gain"] = GAINS[self.params["dcg"]]
        measure = Measure(self.definition.name)(**chosen)
        return measure @ self.params["cutoff"] if "cutoff" in self.params else measure.complete()

    def view(self) -> View:
        """Return how it looks at the judgments."""
        return View(
            rel=None if self.definition.name in GRADED else self.params.get("rel", 1),
            gains=tuple(sorted(self.params.get("gains", {}).items())),
            judged_only=bool(self.params.get("judged_only", False)),
        )


def parameters_of(definition: Definition) -> dict[str, Any]:
    """What ir_measures shows of the parameters of a measure."""
    described = {
        "bound": ParamInfo(dtype=str, required=True, choices=BOUNDS, desc="over all orderings of tied documents"),
    }
    if definition.cutoff != "none":
        required = definition.cutoff == "required"
        described["cutoff"] = ParamInfo(dtype=int, required=required, desc="ranking cutoff threshold")
    if "gain" in (parameter.name for parameter in definition.parameters):
        described["dcg"] = ParamInfo(dtype=str, choices=list(GAINS), default="log2", desc="DCG formulation")
        described["gains"] = ParamInfo(dtype=dict, desc="custom gain mapping (int-to-int)")
    if definition.name not in GRADED:
        default = {"required": True} if definition.name in OF_GRADES_THERE else {"default": 1}
        described["rel"] = ParamInfo(dtype=int, desc="minimum relevance score to be considered relevant", **default)
    if not definition.judged_only:
        described["judged_only"] = ParamInfo(dtype=bool, default=False, desc="ignore documents without a judgment")
    for name in own_parameters(definition):
        parameter = definition.parameter(name)
        kind = str if parameter.choices else float
        described[name] = ParamInfo(dtype=kind, default=parameter.default, desc=parameter.meaning)
    return described


def own_parameters(definition: Definition) -> list[str]:
    """The parameters that a measure has under their own names; the gain is called dcg in ir_measures."""
    return [parameter.name for parameter in definition.parameters if parameter.name != "gain"]


class ExactMean(Agg):  # type: ignore[misc]
    """The mean over queries, rounded once: their order cannot matter."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def add(self, value: float) -> None:
        """Add the value of a query."""
        self.values.append(value)

    def result(self) -> float:
        """Return the mean; NaN of no query, as in ir_measures."""
        return fsum(self.values) / len(self.values) if self.values else float("nan")


AP = BoundedMeasure("AP")
AP_TRAPEZOID = BoundedMeasure("AP(trapezoid)")
AUC = BoundedMeasure("AUC")
ERR = BoundedMeasure("ERR")
Bpref = BoundedMeasure("bpref")
F1 = BoundedMeasure("F1")
INP = BoundedMeasure("INP")
P = BoundedMeasure("P")
R = BoundedMeasure("R")
RBP = BoundedMeasure("RBP")
RR = BoundedMeasure("RR")
RelP = BoundedMeasure("RelP")
Rprec = BoundedMeasure("Rprec")
Success = BoundedMeasure("Success")
nDCG = BoundedMeasure("nDCG")  # noqa: N816

MEASURES: dict[str, BoundedMeasure] = {
    measure.__name__: measure
    for measure in (AP, AP_TRAPEZOID, AUC, Bpref, ERR, F1, INP, P, R, RBP, RR, RelP, Rprec, Success, nDCG)
}
"""All of them, by their names in ir_measures."""
