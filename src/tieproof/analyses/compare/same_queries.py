"""Checks that results have the same queries, labels, measures and policies, and aligns their queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.evaluation.evaluated import NOT_IN_ALL
from tieproof.evaluation.result import Result
from tieproof.evaluation.scoring import check_score, parse_with_sets
from tieproof.measures import Measure, parse
from tieproof.show.parts import count, first_of
from tieproof.ties import IntArray

_SAME_LABELS = "Evaluate both with the same labels or judgments."
_SAME_MEASURES = "Evaluate both with the same measures, or pass the measures to compare as measures=."

# The settings that must be equal, because they decide what a score means, and those that may differ from system to
# system, of which a comparison tells; no evaluation has others.
_SAME = ("leave_one_out", "average", "empty", "unanswered", "missing", "truncated", "n_items")
_MAY_DIFFER = ("call", "distance", "precision", "bits", "search", "gallery")
# The calls whose number of gallery items is the length of the longest list.
_LISTS = ("evaluate_scores", "evaluate_distances", "evaluate_run")


def check_results(results: Any) -> None:
    """Refuse what is not {name: result}."""
    if not isinstance(results, Mapping) or isinstance(results, Result):
        raise InputError(f"The results must be {{name: result}}, not {type(results).__name__}.", "results")
    for name, result in results.items():
        if not isinstance(name, str) or not isinstance(result, Result):
            raise InputError(
                f"The results must be {{name: result}}, but {name!r} is {type(result).__name__}. Pass the results "
                "that evaluate returned, with strings as names.",
                "results",
            )


def on_shared(results: Mapping[str, Result]) -> tuple[dict[str, Result], list[str]]:
    """Return the results of runs on the queries that all of them answered, and a sentence on those left out.

    Only results with missing="skip" are of different queries in this way; all others are returned as they are.
    """
    answers = {name: set(result.query_ids.tolist()) for name, result in results.items()}
    shared = set.intersection(*answers.values()) if answers else set()
    anywhere = set().union(*answers.values())
    skips = all(result.evaluated.origin.options.get("missing") == "skip" for result in results.values())
    micro = all(result.setting.average == "micro" for result in results.values())
    if not (skips and micro and shared) or shared == anywhere:
        return dict(results), []
    left_out = np.array(sorted(anywhere - shared))
    restricted = {}
    for name, result in results.items():
        chosen = np.flatnonzero(np.isin(result.query_ids, np.array(list(shared))))
        among = result.evaluated.among(chosen, np.arange(len(result.empty_ids)))
        setting = replace(among.setting, queries=among.setting.queries + len(left_out))
        restricted[name] = Result(among._replace(setting=setting, left_out={NOT_IN_ALL: left_out}), result.ci)
    lacking = [f"{name} {len(anywhere - own):,}" for name, own in answers.items() if anywhere - own]
    return restricted, [
        f"All numbers are over the {count(len(shared), 'query')} that every system answered; "
        f"{count(len(left_out), 'query')} that some lack are left out, though missing='skip' would count them for "
        f"the others: {', '.join(lacking)}."
    ]


def aligned(results: Mapping[str, Result]) -> dict[str, IntArray]:
    """Return the position of each query of the first result in every result; results that differ are refused."""
    for name, result in results.items():
        known, counts = np.unique(result.query_ids, return_counts=True)
        if len(known) < len(result.query_ids):
            raise InputError(
                f"'{name}' has {counts.max()} queries with the name {known[np.argmax(counts)]}. Give each query a "
                "different name: result.named(names).",
                "results",
            )
    _check_policies(results)
    (first, one), *others = results.items()
    places = {first: np.arange(len(one.query_ids))}
    for name, other in others:
        _check_queries(first, one, name, other)
        places[name] = np.argsort(other.query_ids)[np.argsort(np.argsort(one.query_ids))]
        _check_judgments(first, one, name, other, places[name])
        _check_categories(first, one, name, other, places[name])
    return places


def _refuse(first: str, name: str, what: str, one: str, other: str, advice: str) -> None:
    raise InputError(f"'{first}' and '{name}' have different {what}: {one} and {other}. {advice}", "results")


def _check_policies(results: Mapping[str, Result]) -> None:
    settings = {name: _settings_of(result) for name, result in results.items()}
    for field in _SAME:
        values = {name: own[field] for name, own in settings.items()}
        if field == "unanswered":  # where every item has an answer, both policies give the same scores
            values = {name: value for name, value in values.items() if value is not None}
        first = next(iter(values), "")
        for name, value in values.items():
            if value != values[first]:
                both = repr(values[first]), repr(value)
                _refuse(first, name, f"{field}=", *both, "Evaluate both with the same value.")


def _settings_of(result: Result) -> dict[str, Any]:
    """All settings of an evaluation; those that its call does not have are None."""
    origin = result.evaluated.origin
    own = {**asdict(result.setting), **origin.options, "call": origin.call.removesuffix("_answers")}
    if origin.call in _LISTS:
        del own["gallery"]
    return {field: own.get(field) for field in (*_SAME, *_MAY_DIFFER)}


def differing_settings(results: Mapping[str, Result]) -> dict[str, str]:
    """Return, for each system, its settings that are not the same for all, in words; "" if there are none.

    That unanswered items had the worst place is not told, because no system can gain by it.
    """
    settings = {name: _settings_of(result) for name, result in results.items()}
    for own in settings.values():
        own["unanswered"] = own["unanswered"] or "worst"
    differ = [field for field in (*_SAME, *_MAY_DIFFER) if len({own[field] for own in settings.values()}) > 1]
    return {name: ", ".join(f"{field} = {own[field]}" for field in differ) for name, own in settings.items()}


def about_settings(results: Mapping[str, Result]) -> Iterator[str]:
    """Yield a sentence on the settings that are not the same for all systems, if there are any."""
    differing = differing_settings(results)
    if any(differing.values()):
        each = "; ".join(f"{name} has {own}" for name, own in differing.items())
        yield f"The systems were evaluated with different settings, which may be why their scores differ: {each}."


def _check_queries(first: str, one: Result, name: str, other: Result) -> None:
    if one.query_ids.dtype.kind != other.query_ids.dtype.kind:
        mine, theirs = (f"names such as {result.query_ids.tolist()[0]!r}" for result in (one, other))
        advice = "Evaluate both from the same kind of data, or give the queries the same names: result.named(names)."
        _refuse(first, name, "queries", mine, theirs, advice)
    for here, there, owner, lacking in ((first, name, one, other), (name, first, other, one)):
        alone = owner.query_ids[~np.isin(owner.query_ids, lacking.query_ids)]
        if len(alone):
            raise InputError(
                f"{len(alone):,} of {len(owner.query_ids):,} queries of '{here}' are missing from '{there}': "
                f"{first_of(alone.tolist())}. Systems are compared on the same queries: evaluate both with the same "
                "ones.",
                "results",
            )


def _check_judgments(first: str, one: Result, name: str, other: Result, place: IntArray) -> None:
    """Refuse results with different relevance; results of the same function are compared query by query."""
    if not np.array_equal(np.sort(one.empty_ids), np.sort(other.empty_ids)):
        mine, theirs = (f"{len(result.empty_ids):,} queries without relevant items" for result in (one, other))
        _refuse(first, name, "labels", mine, theirs, _SAME_LABELS)
    if one.evaluated.origin.call != other.evaluated.origin.call:
        return
    known, relevant = one.evaluated.origin.relevant, other.evaluated.origin.relevant
    if isinstance(known, str) or isinstance(relevant, str):
        if one.evaluated.relevance_hash() != other.evaluated.relevance_hash():
            raise InputError(
                f"'{first}' and '{name}' have different labels, or their queries were named in different orders: the "
                f"hash of what is relevant to all queries, which a record has, differs. {_SAME_LABELS}",
                "results",
            )
        return
    differs = known != relevant[place]
    if differs.any():
        raise InputError(
            f"'{first}' and '{name}' have different labels: {np.count_nonzero(differs):,} of {len(differs):,} "
            "queries differ in their labels, their judgments or their number of relevant items; the first is query "
            f"{one.query_ids[np.argmax(differs)]}. {_SAME_LABELS}",
            "results",
        )


def _check_categories(first: str, one: Result, name: str, other: Result, place: IntArray) -> None:
    """Refuse means over categories if a query has different categories in the results."""
    mine, theirs = one.category_of_query, other.category_of_query
    if one.setting.average == "micro" or mine is None or theirs is None:
        return
    if not np.array_equal(mine, theirs[place]):
        at = int(np.argmin(mine == theirs[place]))
        mine_at = f"query {one.query_ids[at]} is in {str(mine[at])!r}"
        advice = "Evaluate both with the same categories."
        _refuse(first, name, "categories", mine_at, f"in {str(theirs[place][at])!r}", advice)


def common_measures(results: Mapping[str, Result], wanted: Sequence[str | Measure] | None) -> list[str]:
    """Return the measures to compare: those wanted, or all, without counts; results that lack one are refused."""
    (first, one), *others = results.items()
    if wanted is not None:
        measures, of_sets = parse_with_sets(wanted)
        lacking = [
            each for each in map(str, of_sets) if any(each not in result.measures for result in results.values())
        ]
        if lacking:
            warn(f"Not all results have these measures of the set, which are left out: {', '.join(sorted(lacking))}.")
        asked = [measure for measure in measures if str(measure) not in lacking]
        names = {label: [str(result._known(measure)) for measure in asked] for label, result in results.items()}
        for name, _ in others:
            if names[name] != names[first]:
                _refuse(first, name, "measures", ", ".join(names[first]), ", ".join(names[name]), _SAME_MEASURES)
        return _means_of(names[first])
    for name, other in others:
        if set(one.measures) != set(other.measures):
            _refuse(first, name, "measures", ", ".join(one.measures), ", ".join(other.measures), _SAME_MEASURES)
    return _means_of(one.measures)


def _means_of(names: Sequence[str]) -> list[str]:
    """Return the measures that are scores; there must be one."""
    means = [name for name in names if parse(name).definition.is_score]
    if not means:
        check_score(parse(names[0]))
    return means
