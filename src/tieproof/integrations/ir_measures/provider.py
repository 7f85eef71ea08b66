"""The provider for ir_measures: it scores runs with `evaluate_run`, and yields the bound that each measure names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import ir_measures
from ir_measures.measures.base import Measure as TheirMeasure
from ir_measures.providers import Evaluator, Provider
from ir_measures.util import QrelsConverter, RunConverter

from tieproof import evaluate_run
from tieproof.errors import InputError, warn
from tieproof.integrations.ir_measures.bounded import BOUNDS, MEASURES, BoundedMeasure, View, WithBound, by_query
from tieproof.integrations.ir_measures.diverse import DIVERSITY, DiversityMeasure, DiversityView, by_subtopic, scores
from tieproof.kit import Bound, check_choice

ALL: dict[str, WithBound] = {**MEASURES, **DIVERSITY}  # all measures with a bound, by their names in ir_measures

SHARED: dict[type, str] = {
    type(getattr(ir_measures, name)): name
    for name in ALL
    # SetRelP is SetP(relative=True) there, and NumRelRet is NumRet(rel=1).
    if hasattr(ir_measures, name) and name not in ("SetRelP", "NumRelRet")
}
"""The types of the measures that ir_measures also has, and their names."""


class _SpelledMeasure(TheirMeasure):  # type: ignore[misc]
    """An entry in the registry of ir_measures: its own measure, or the measure of tieproof if a bound is given."""

    def __init__(self, plain: Any, bounded: WithBound) -> None:
        super().__init__(**plain.params)
        self.plain, self.bounded = plain, bounded
        self.__name__, self.NAME = plain.__name__, plain.NAME
        self.PRETTY_NAME, self.SHORT_DESC, self.AT_PARAM = plain.PRETTY_NAME, plain.SHORT_DESC, plain.AT_PARAM
        self.SUPPORTED_PARAMS = plain.SUPPORTED_PARAMS | bounded.SUPPORTED_PARAMS

    def __call__(self, **params: Any) -> Any:
        return (self.bounded if "bound" in params else self.plain)(**params)

    def validate_params(self) -> None:
        """Check the parameters of the measure of ir_measures, because no bound is given yet."""
        self.plain.validate_params()


class TieproofProvider(Provider):  # type: ignore[misc]
    """Computes measures with a bound, and measures of ir_measures without one by its own `bound`.

    bound : "lower", "expected" or "upper"
    """

    NAME = "tieproof"
    SUPPORTED_MEASURES = tuple(ALL.values())

    def __init__(self, bound: Bound = "lower") -> None:
        check_choice("bound", bound, BOUNDS)
        super().__init__()
        self.bound = bound

    def supports(self, measure: Any) -> bool:
        """Return whether the provider computes the measure.

        >>> TieproofProvider().supports(ir_measures.AP), TieproofProvider().supports(ir_measures.infAP)
        (True, False)
        """
        measure.validate_params()
        try:
            self.bounded(measure)
        except InputError:
            return False
        return True

    def bounded(self, measure: Any) -> WithBound:
        """Return the measure with a bound, after checking its parameters."""
        if not isinstance(measure, WithBound):
            name = SHARED.get(type(getattr(measure, "plain", measure)))
            if name is None:
                raise InputError(f"tieproof does not compute '{measure}'; for ir_measures it has {', '.join(ALL)}.")
            params = dict(measure.params)
            name = "SetRelP" if params.pop("relative", False) else name
            name = "NumRelRet" if name == "NumRet" and "rel" in params else name
            measure = ALL[name](bound=self.bound, **params)
        measure.validate_params()
        checked: WithBound = measure
        return checked

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> "_TieproofEvaluator":
        return _TieproofEvaluator({measure: self.bounded(measure) for measure in measures}, qrels)


class _OfBounds(TieproofProvider):
    """The last choice of ir_measures, which leaves every measure without a bound to its other providers."""

    def supports(self, measure: Any) -> bool:
        """Return whether the measure has a bound."""
        measure.validate_params()
        return isinstance(measure, WithBound)


class _TieproofEvaluator(Evaluator):  # type: ignore[misc]
    """Scores runs against judgments in any form of ir_measures, by the measure with a bound of each requested one."""

    def __init__(self, measures: Mapping[Any, WithBound], qrels: Any) -> None:
        self.views: dict[View, dict[Any, BoundedMeasure]] = defaultdict(dict)
        self.of_subtopics: dict[DiversityView, dict[Any, DiversityMeasure]] = defaultdict(dict)
        for asked, measure in measures.items():
            if isinstance(measure, DiversityMeasure):
                self.of_subtopics[measure.view()][asked] = measure
            elif isinstance(measure, BoundedMeasure):
                self.views[measure.view()][asked] = measure
        first, second = QrelsConverter(qrels).tee(2)
        self.subtopics = by_subtopic(first.as_namedtuple_iter()) if self.of_subtopics else {}
        self.qrels = by_query(second, "qrels") if self.views else {}
        self.names = {str(query): query for query in (*self.subtopics, *self.qrels)}
        super().__init__(list(measures), {*self.subtopics, *self.qrels})

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield the values of the queries with judgments; ir_measures adds 0 for queries without a value."""
        ranked = by_query(RunConverter(run), "run")
        judged = {query: documents for query, documents in self.qrels.items() if documents}
        names = {str(query) for query in (*judged, *self.subtopics)}
        if names and ranked and not any(str(query) in names for query in ranked):
            warn(
                f"The run has no query of the qrels, so everything scores 0: the qrels have queries such as "
                f"'{min(names)}', but the run has queries such as '{min(map(str, ranked))}'. Check that they belong "
                "together."
            )
        for of_view, of_diversity in self.of_subtopics.items():
            for query, asked, value in scores(of_diversity, of_view, self.subtopics, ranked):
                yield ir_measures.Metric(self.names[query], asked, value)
        for view, measures in self.views.items():
            kept = view.of_run(ranked, self.qrels)
            if not any(of_query and str(query) in names for query, of_query in kept.items()):
                continue
            ours = [measure.ours() for measure in measures.values()]
            result = evaluate_run(view.of_qrels(judged), kept, measures=ours, missing="zero", empty="zero")
            for (asked, measure), of_ours in zip(measures.items(), ours, strict=True):
                values = getattr(result.per_query(of_ours), measure.params["bound"]).tolist()
                for query, value in zip(result.query_ids.tolist(), values, strict=True):
                    yield ir_measures.Metric(self.names[query], asked, value)


def first_choice(bound: Bound = "lower") -> None:
    """Make tieproof the provider in ir_measures, and so in PyTerrier, of measures that name no bound, too.

    Parameters
    ----------
    bound : "lower", "expected" or "upper"
        The value of measures such as `nDCG@10` from now on in this process, wherever ir_measures chooses the
        provider. Measures that tieproof does not have are computed as before. A second call changes the bound.

    Raises
    ------
    InputError
        The bound is unknown.

    Examples
    --------
    >>> import ir_measures
    >>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 0.5}}
    >>> before = list(ir_measures.DefaultPipeline.providers)
    >>> first_choice("upper")
    >>> ir_measures.calc_aggregate([ir_measures.RR], qrels, run)
    {RR: 1.0}
    >>> ir_measures.DefaultPipeline.providers[:] = before  # as it was

    """
    provider = TieproofProvider(bound)
    providers = ir_measures.DefaultPipeline.providers
    providers[:] = [provider, *(each for each in providers if type(each) is not TieproofProvider)]


def _register() -> None:
    """Register the provider, and the measures under all names that ir_measures has for them."""
    registry = ir_measures.measures.registry
    for name, bounded in ALL.items():
        plain = getattr(ir_measures, name, None)
        for known in [known for known, measure in registry.items() if measure is plain] or [name]:
            registry[known] = _SpelledMeasure(plain, bounded) if plain else bounded
    ir_measures.providers.register(TieproofProvider())
    ir_measures.DefaultPipeline.providers.append(_OfBounds())


_register()
