"""Digests of rows, strings, ids and words, with integers of Python."""

import math
from collections.abc import Sequence

FIRST_KEY, SECOND_KEY = 0x243F6A8885A308D3, 0x13198A2E03707345
FIRST_FACTOR, SECOND_FACTOR = 0xA4093822299F31D1, 0x082EFA98EC4E6C89
SPREADING = 0xD6E8FEB86659FD93
WORD = 2**64


def bits_of(number: float) -> int:
    """The bits of a float64, by its sign, exponent and mantissa."""
    fraction, exponent = math.frexp(abs(number))
    mantissa = int(fraction * 2**53)
    if not mantissa:
        return 0
    if exponent < -1021:
        mantissa >>= -1021 - exponent
        exponent = -1022
    return (number < 0) * 2**63 + max(0, exponent + 1022) * 2**52 + mantissa % 2**52


def word_of(number: float) -> int:
    """The bits of a number in float64, the same for zeros of either sign, and the rounding error of an integer."""
    rounded = float(number)
    rest = number - int(rounded) if isinstance(number, int) else 0
    return (bits_of(rounded) + rest * FIRST_FACTOR) % WORD


def spread(word: int) -> int:
    """Mix a word, so that every bit of the input affects every bit of the output."""
    for _ in range(2):
        word = (word ^ word >> 32) * SPREADING % WORD
    return word ^ word >> 32


def folded(a: int, b: int) -> int:
    """The exclusive or of the two halves of a product."""
    return (a * b) % WORD ^ a * b >> 64


def keys(count: int) -> list[int]:
    """The keys of rows."""
    return [spread((place + 1) * FIRST_FACTOR % WORD) for place in range(count)]


def row_digest(row: Sequence[float], label: int) -> tuple[int, int]:
    """NH of a row: numbers in pairs, with a zero after an odd number of them."""
    words = [word_of(number) for number in row] + [0] * (len(row) % 2)
    sums = [(word + key) % WORD for word, key in zip(words, keys(len(words)), strict=True)]
    total = sum(a * b for a, b in zip(sums[::2], sums[1::2], strict=True)) % 2**128
    label = spread((label + FIRST_KEY) % WORD)
    return spread(total % WORD ^ label), spread(((total >> 64) + folded(label, SECOND_FACTOR)) % WORD)


def string_word(letters: Sequence[int]) -> int:
    """The word of a string."""
    word = spread((FIRST_KEY + len(letters)) % WORD)
    for letter in letters:
        word = (folded(word ^ letter, FIRST_FACTOR) + SECOND_KEY) % WORD
    return spread(word)


def id_word(letters: bytes) -> int:
    """The word of an id, eight bytes at a time, the last of which may be fewer or none."""
    word = spread((FIRST_KEY + len(letters)) % WORD)
    for start in range(0, len(letters) // 8 * 8 + 1, 8):
        part = int.from_bytes(letters[start : start + 8], "little")
        word = (folded(word ^ part, FIRST_FACTOR) + SECOND_KEY) % WORD
    return spread(word)


def summand(word: int) -> tuple[int, int]:
    """The summand of a word in a sum of digests."""
    once = folded(word ^ FIRST_KEY, FIRST_FACTOR)
    return once, folded(once ^ SECOND_KEY, word ^ SECOND_FACTOR)


def tie_word(k: int, n: int, l: int, m: int) -> int:
    """The word of a tie."""
    return (k * FIRST_KEY + n * SECOND_KEY + l * FIRST_FACTOR + m * SECOND_FACTOR) % WORD


def words_digest(words: Sequence[int]) -> tuple[int, int]:
    """The digest of some words in their order."""
    first, second = FIRST_KEY, SECOND_KEY
    for word in words:
        first = (folded(first ^ word, FIRST_FACTOR) + word) % WORD
        second = folded((second + word) % WORD, SECOND_FACTOR) ^ word
    return spread(first), spread(second)
