"""Whether the parts of a record belong together: its facts, and the arrays of all queries."""

import re
from collections.abc import Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, get_args, get_type_hints

import numpy as np

from tieproof.evaluation.evaluated import EMPTY, Setting
from tieproof.inputs.categories import AVERAGES
from tieproof.ties import Array

OPTIONS: dict[str, dict[str, tuple[type, ...]]] = {
    "evaluate": {"bits": (int, NoneType)},
    "evaluate_answers": {"unanswered": (str,)},
    "evaluate_scores": {},
    "evaluate_distances": {},
    "evaluate_neighbors": {"search": (str,)},
    "evaluate_run": {"missing": (str,), "truncated": (bool,), "n_items": (int, NoneType)},
}
"""The calls whose results have records, and the options of each call with their types."""

HASHES = ("fingerprint", "relevant")

LONGEST = 1000
"""The length of a text among the facts, which must be printable: some are shown in terminals."""

CATEGORIES = ("category_names", "category_of_query", "category_of_empty", "category_counted")


def fits(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> bool:
    """Whether the arrays are consistent with each other and with the facts."""
    count, measures = len(arrays["query_ids"]), len(facts["measures"])
    shapes = {
        "query_ids": (count,),
        "values": (measures, 4, count),
        "tie_counts": (4, count),
        "relevant": (count,),
        "query_digests": (count,),
        "confidence": (count,),
        "category_of_query": (count,),
        "category_of_empty": arrays["empty_ids"].shape,
    }
    lower, expected_value, upper, variance = np.moveaxis(arrays["values"], 1, 0)
    open_values = np.isnan(lower)
    parts = [part for part in CATEGORIES if part in arrays]
    return bool(
        count
        and measures
        and all(arrays[name].shape == shape for name, shape in shapes.items() if name in arrays)
        and all(array.ndim == 1 for name, array in arrays.items() if name not in ("values", "tie_counts"))
        and np.isfinite(arrays["values"][:, :, ~open_values.any(axis=0)]).all()
        and (open_values == open_values[0]).all()
        and open_values[0].sum() == (len(arrays["empty_ids"]) if facts["setting"]["empty"] == "nan" else 0)
        and (((lower <= expected_value) & (expected_value <= upper) & (variance >= 0)) | open_values).all()
        and (arrays["tie_counts"] >= 0).all()
        and parts in ([], [*CATEGORIES])
        and (not parts or categories_fit(arrays))
        and options_fit(facts["call"], facts["options"])
        and setting_fits(facts["setting"], bool(parts))
        and all(re.fullmatch("[0-9a-f]{64}", facts[name]) for name in HASHES if name in facts)
        and type(facts["zero_vectors"]) is int
        and facts["zero_vectors"] >= 0
        and all(each.isprintable() and len(each) < LONGEST for each in [facts["tieproof"], *facts["left_out"]])
    )


def options_fit(call: str, options: Mapping[str, Any]) -> bool:
    """Whether a call has these options."""
    known = OPTIONS[call]
    return set(options) == set(known) and all(type(value) in known[name] for name, value in options.items())


def categories_fit(arrays: Mapping[str, Array]) -> bool:
    """Whether the categories are sorted, and every query is in one of them."""
    names, of_query, of_empty, counted = (arrays[part] for part in CATEGORIES)
    places = np.concatenate([of_query, of_empty])
    return bool(
        (names[1:] > names[:-1]).all()
        and counted.shape == names.shape
        and len(places)
        and places.min() >= 0
        and places.max() < len(names)
    )


def setting_fits(setting: Mapping[str, Any], has_categories: bool) -> bool:
    """Whether a setting has the fields of `Setting` with the right types, no negative number and known policies."""
    hints = get_type_hints(Setting)
    if list(setting) != [field.name for field in fields(Setting)]:
        return False
    for name, value in setting.items():
        kinds = (str,) if name == "average" else get_args(hints[name]) or (hints[name],)
        if type(value) not in kinds or (type(value) is int and value < 0):
            return False
        if isinstance(value, str) and not (value.isprintable() and len(value) < LONGEST):
            return False
    return (
        setting["empty"] in EMPTY
        and setting["average"] in AVERAGES
        and (setting["average"] == "micro" or has_categories)
    )
