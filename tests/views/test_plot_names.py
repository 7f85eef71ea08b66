"""Names in pictures are short and still different."""

import random

import pytest

from tieproof.show import style


@pytest.mark.parametrize("most", [10, 20, 28])
def test_names_are_no_wider_than_they_may_be(most: int) -> None:
    source = random.Random(4)
    for _ in range(300):
        letters = source.choice(["ab", "数据", "aé数", "x\u0301y"])
        known = {"".join(source.choices(letters, k=source.randrange(1, 60))) for _ in range(source.randrange(1, 9))}
        shown = style.shortened(sorted(known), most)
        assert max(map(style.columns, shown)) <= most
        assert [short for short, whole in zip(shown, sorted(known), strict=True) if style.columns(whole) <= most] == [
            whole for whole in sorted(known) if style.columns(whole) <= most
        ]


def test_names_that_differ_in_one_place_are_told_apart() -> None:
    for place in range(60):
        known = [f"{'a' * place}{letter}{'a' * (59 - place)}" for letter in "bcdefgh"]
        assert len({*style.shortened(known, 20)}) == 7


def test_a_name_that_is_the_start_of_another() -> None:
    known = ["a" * 30, "a" * 60]
    assert len({*style.shortened(known, 20)}) == 2


def test_a_name_as_long_as_a_book() -> None:
    assert style.shortened(["x" * 1_000_000, "x" * 999_999 + "y"], 10) == ["xxxxx…xxxx", "xxxxx…xxxy"]


def test_the_same_name_twice_and_what_moves_the_cursor() -> None:
    assert style.shortened(["x" * 60, "x" * 60, "\x1b[31m", 7], 10)[2:] == ["\\x1b[31m", "7"]


def test_fonts_that_are_installed_come_after_those_that_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "_OTHER_SCRIPTS", ("No Such Font", "DejaVu Serif"))
    assert style.families() == ["sans-serif", "DejaVu Serif"]
