"""Tables of TOML, checked key by key: what is wrong is refused by its name, with what was expected."""

import difflib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tieproof.errors import InputError


def as_it_is(value: Any) -> Any:
    """A value that needs no further check."""
    return value


class Key(NamedTuple):
    """What may stand under a key.

    expected : what its value is, in words
    types : of the value
    default : where it is left out; ... where it must be there
    take : makes of the value what it means; InputError where there is no such thing
    """

    expected: str
    types: tuple[type, ...]
    default: Any = None
    take: Callable[[Any], Any] = as_it_is


def text(default: Any = None) -> Key:
    """A text, which is not empty."""
    return Key("a text", (str,), default, not_empty)


def whole(default: Any, least: int = 1) -> Key:
    """A whole number."""
    return Key(f"a whole number of at least {least}", (int,), default, at_least(least))


def seconds(default: Any) -> Key:
    """A time."""
    return Key("a number of seconds above 0", (int, float), default, positive)


def choice(words: tuple[str, ...], default: str) -> Key:
    """One of these words."""
    return Key(f"one of {', '.join(words)}", (str,), default, among(words))


class UnexpectedError(Exception):
    """A value is of the right type, and not what was expected all the same."""


def not_empty(value: str) -> str:
    """A text of at least one letter."""
    if not value.strip():
        raise UnexpectedError
    return value


def at_least(least: int) -> Callable[[int], int]:
    """A number that is not smaller."""

    def take(value: int) -> int:
        if value < least:
            raise UnexpectedError
        return value

    return take


def positive(value: float) -> float:
    """A finite number above 0."""
    if not 0 < value < float("inf"):
        raise UnexpectedError
    return float(value)


def among(words: tuple[str, ...]) -> Callable[[str], str]:
    """One of these words."""

    def take(value: str) -> str:
        if value not in words:
            raise UnexpectedError
        return value

    return take


def taken(found: Any, keys: Mapping[str, Key], file: str, table: str = "") -> dict[str, Any]:
    """The values of all keys of a table; refused where one is unknown, missing, or not what was expected.

    table : what stands before its keys in messages, as `judge.`
    """
    for name in found:
        if name not in keys:
            near = "".join(f" Did you mean {table}{each}?" for each in difflib.get_close_matches(name, keys, 1))
            raise InputError(
                f"{file} has the key {table}{name}, which is not known.{near} Known: {', '.join(keys)}.", name
            )
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
