"""Whether the content of a JSON file has the types of a class, so that a wrong file is refused where it is read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def fits(content: Any, kind: Any) -> bool:
    """Whether content has a type: that of a number or text, a list, a dictionary, or a data class with these fields.

    A dictionary of types stands for a dictionary with at least these keys. A float may be written as an integer, and
    is finite; nothing else is converted.
    """
    if isinstance(kind, dict):
        return isinstance(content, dict) and all(fits(content.get(name), each) for name, each in kind.items())
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin is Literal:
        return type(content) is str and content in inner
    if origin in (Union, UnionType):
        return any(fits(content, each) for each in inner)
    if origin in (list, tuple, Sequence):
        return isinstance(content, list) and all(fits(each, inner[0]) for each in content)
    if origin in (dict, Mapping):
        return isinstance(content, dict) and all(fits(each, inner[1]) for each in content.values())
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return (
            isinstance(content, dict)
            and content.keys() == hints.keys()
            and all(fits(content[name], hint) for name, hint in hints.items())
        )
    if kind is float:
        return type(content) in (int, float) and math.isfinite(content)
    return type(content) is (NoneType if kind is None else kind)
