"""The provider for ir_measures, which yields the bound that each measure names, and its registration there."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import ir_measures
from ir_measures.measures.base import Measure as TheirMeasure
from ir_measures.providers import Evaluator, Provider
from ir_measures.util import QrelsConverter, RunConverter

from tieproof.errors import InputError, warn
from tieproof.integrations.ir_measures.bounded import ALL, BOUNDS, ByQuery, OfSubtopics, View, WithBound
from tieproof.kit import Bound, check_choice

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


def by_query(converter: Any, what: Literal["qrels", "run"]) -> ByQuery:
    """The judgments, or the scores, of each query, from the converter of ir_measures for the given data.

    A repeated document is refused, while ir_measures keeps the last one.
    """
    value = "relevance" if what == "qrels" else "score"
    kind, _ = converter.predict_type()
    given = getattr(converter, what)
    if kind == "dict_of_dict":
        for query, documents in given.items():
            if not isinstance(documents, Mapping):
                raise InputError(
                    f"The {what} must be {{query: {{document: {value}}}}}, but the value of query {query!r} is "
                    f"{type(documents).__name__}, not a dictionary."
                )
        return dict(given)
    if kind == "pd_dataframe":
        rows: Iterable[tuple[Any, ...]] = zip(
            *(given[name].tolist() for name in ("query_id", "doc_id", value)), strict=True
        )
    else:
        rows = ((row.query_id, row.doc_id, getattr(row, value)) for row in converter.as_namedtuple_iter())
    of_queries: ByQuery = defaultdict(dict)
    for query, document, number in rows:
        documents = of_queries[query]
        if document in documents:
            raise InputError(f"The {what}: document '{document}' occurs twice for query '{query}'. Keep one of them.")
        documents[document] = number
    return dict(of_queries)


def by_subtopic(judgments: Iterable[Any]) -> OfSubtopics:
    """The grades of each subtopic, from the judgments of ir_measures, whose iteration is the subtopic."""
    found: OfSubtopics = defaultdict(lambda: defaultdict(dict))
    for row in judgments:
        documents = found[row.query_id][getattr(row, "iteration", "0")]
        if row.doc_id in documents:
            raise InputError(
                f"The qrels have two grades for document '{row.doc_id}' and subtopic "
                f"'{getattr(row, 'iteration', '0')}' of query '{row.query_id}'. Keep one of them."
            )
        documents[row.doc_id] = row.relevance
    if found and all(len(subtopics) < 2 for subtopics in found.values()):
        warn(
            "No query of the qrels has more than one subtopic, so nothing can be diverse. Pass a data frame with a "
            "column iteration, or ir_measures.Qrel with an iteration, which names the subtopic of each judgment."
        )
    return found


class _TieproofEvaluator(Evaluator):  # type: ignore[misc]
    """Scores runs against judgments in any form of ir_measures, by the measure with a bound of each requested one."""

    def __init__(self, measures: Mapping[Any, WithBound], qrels: Any) -> None:
        self.views: dict[Any, dict[Any, WithBound]] = defaultdict(dict)
        for asked, measure in measures.items():
            self.views[measure.view()][asked] = measure
        of_grades = [isinstance(view, View) for view in self.views]
        first, second = QrelsConverter(qrels).tee(2)
        self.subtopics = {} if all(of_grades) else by_subtopic(first.as_namedtuple_iter())
        self.qrels = by_query(second, "qrels") if any(of_grades) else {}
        self.names = {str(query): query for query in (*self.subtopics, *self.qrels)}
        super().__init__(list(measures), {*self.subtopics, *self.qrels})

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield the values of the queries with judgments; ir_measures adds 0 for queries without a value."""
        ranked = by_query(RunConverter(run), "run")
        judged = (*self.subtopics, *(query for query, documents in self.qrels.items() if documents))
        names = set(map(str, judged))
        if names and ranked and not any(str(query) in names for query in ranked):
            warn(
                f"The run has no query of the qrels, so everything scores 0: the qrels have queries such as "
                f"'{min(names)}', but the run has queries such as '{min(map(str, ranked))}'. Check that they belong "
                "together."
            )
        for view, measures in self.views.items():
            judgments = self.qrels if isinstance(view, View) else self.subtopics
            for query, asked, value in view.values(measures, judgments, ranked):
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
