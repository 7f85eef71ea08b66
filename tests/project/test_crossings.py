"""Which tests are collected: the sample of cases has every value of every parameter, and is the same each time."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import conftest

NUMBERS, WORDS, OBJECTS = range(7), ["a", "b", "c"], [[1], [1], [2]]


def case(test: str, **values: Any) -> Any:
    name = f"{test}[{'-'.join(map(str, values.values()))}]" if values else test
    return (
        SimpleHashable(nodeid=name, callspec=SimpleNamespace(params=values))
        if values
        else SimpleHashable(nodeid=name)
    )


class SimpleHashable(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]


CASES = [case("crossed", number=n, word=w, thing=t) for n, w, t in product(NUMBERS, WORDS, OBJECTS)]


def test_every_value_of_every_parameter_is_sampled() -> None:
    chosen: set[Any] = conftest.sample(CASES)
    assert len(chosen) == len(NUMBERS)  # each number with some word and some object
    assert {each.callspec.params["number"] for each in chosen} == set(NUMBERS)
    assert {each.callspec.params["word"] for each in chosen} == set(WORDS)
    assert {id(each.callspec.params["thing"]) for each in chosen} == set(map(id, OBJECTS))


def test_the_sample_is_the_same_each_time() -> None:
    assert conftest.sample(CASES) == conftest.sample(list(CASES))


def test_tests_with_few_cases_are_whole() -> None:
    few = [*CASES[: conftest.LEAST - 1], case("a test without parameters")]
    assert conftest.sample(few) == set(few)


def test_cases_of_one_parameter_are_all_sampled() -> None:
    many = [case("listed", number=number) for number in range(100)]
    assert conftest.sample(many) == set(many)


def test_modules_that_need_heavy_libraries_are_there() -> None:
    assert [path for path in conftest.NEEDED if not path.exists()] == []
