"""Checks of TOML tables, key by key; an error names the key, its value, and what was expected."""

import difflib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tieproof.errors import InputError


def as_it_is(value: Any) -> Any:
    """A value that needs no further check."""
    return value


class Key(NamedTuple):
    """The values that a key may have.

    expected : the expected value, in words
    types : the types of the value
    default : the value if the key is missing; ... if the key is required
    take : converts the value; UnexpectedError or InputError if the value is not allowed
    """

    expected: str
    types: tuple[type, ...]
    default: Any = None
    take: Callable[[Any], Any] = as_it_is


def text(default: Any = None) -> Key:
    """A key whose value is a text that is not empty."""
    return Key("a text", (str,), default, not_empty)


def whole(default: Any, least: int = 1) -> Key:
    """A key whose value is a whole number."""
    return Key(f"a whole number of at least {least}", (int,), default, at_least(least))


def seconds(default: Any) -> Key:
    """A key whose value is a number of seconds."""
    return Key("a number of seconds above 0", (int, float), default, positive)


def choice(words: tuple[str, ...], default: str) -> Key:
    """A key whose value is one of some words."""
    return Key(f"one of {', '.join(words)}", (str,), default, among(words))


class UnexpectedError(Exception):
    """A value has an expected type but is not an expected value."""


def not_empty(value: str) -> str:
    """The text, unless it is blank."""
    if not value.strip():
        raise UnexpectedError
    return value


def at_least(least: int) -> Callable[[int], int]:
    """A function that returns a number unless it is smaller than `least`."""

    def take(value: int) -> int:
        if value < least:
            raise UnexpectedError
        return value

    return take


def positive(value: float) -> float:
    """The number, if it is finite and above 0."""
    if not 0 < value < float("inf"):
        raise UnexpectedError
    return float(value)


def among(words: tuple[str, ...]) -> Callable[[str], str]:
    """A function that returns a word if it is one of some words."""

    def take(value: str) -> str:
        if value not in words:
            raise UnexpectedError
        return value

    return take


def taken(found: Any, keys: Mapping[str, Key], file: str, table: str = "") -> dict[str, Any]:
    """The values of all keys of a table; InputError if a key is unknown, missing, or has an unexpected value.

    table : the prefix of keys in messages, such as `judge.`
    """
    for name in found:
        if name not in keys:
            near = "".join(f" Did you mean {table}{each}?" for each in difflib.get_close_matches(name, keys, 1))
            raise InputError(f"{file} has the unknown key {table}{name}.{near} Known: {', '.join(keys)}.", name)
    return {name: value_of(found, name, key, file, table) for name, key in keys.items()}


def value_of(found: Mapping[str, Any], name: str, key: Key, file: str, table: str) -> Any:
    """The value of one key."""
    if name not in found:
        if key.default is ...:
            raise InputError(f"{file} lacks the key {table}{name}. Give {key.expected}.", name)
        return key.default
    value = found[name]
    wrong = InputError(f"{file} has {table}{name} = {value!r}. Give {key.expected}.", name)
    if not isinstance(value, key.types) or (isinstance(value, bool) and bool not in key.types):
        raise wrong
    try:
        return key.take(value)
    except UnexpectedError:
        raise wrong from None
    except InputError as error:
        raise InputError(f"{file} has {table}{name} = {value!r}: {error}", name) from None
