"""The kernels that read runs, compared with Python on the same bytes, bit by bit."""

import random
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from kernel_levels import LEVELS, at
from kernels import lines, list_counts
from tieproof.evaluation.run_ties import count_scores
from tieproof.inputs.documents import EMPTY, Documents, documents_of, find_documents, places_of_queries, put_documents
from tieproof.inputs.lists import CountRoom
from tieproof.inputs.readers.trec import (
    READ_ALL,
    TOO_LONG,
    WRONG_COLUMNS,
    LineLayout,
    LineRows,
    LinesRead,
    read_lines,
)

RUN = LineLayout(6, 0, 2, 4)
BLANKS = (" ", "\t", "  ", " \r", "\x0b", "\x0c ")


NO_NUMBERS = ("nan", "inf", "-Infinity", "1_0", "high", ".", "1e", "+", "1e+", "0x1p3", "1.2.3", "--1", "٣")


def number(source: random.Random) -> str:
    """A number as in files, short or long, of any size, and sometimes text that is not a number."""
    digits = "".join(source.choices("0123456789", k=source.choice((1, 2, 3, 7, 15, 16, 17, 18, 19, 20, 25))))
    kind = source.randrange(9)
    point = source.randint(0, len(digits))
    text = digits if kind == 0 else f"{digits[:point]}.{digits[point:]}"
    if kind in (2, 3):
        text += source.choice("eE") + source.choice(("", "+", "-")) + str(source.choice((0, 1, 5, 19, 22, 40, 310)))
    if kind == 4:
        text = repr(source.uniform(-1, 1) * 10 ** source.randint(-12, 12))
    if kind == 5:
        text = repr(np.float32(source.gauss(0, 10)).item())
    if kind == 6 and source.random() < 0.2:
        text = source.choice(
            ("nan", "inf", "-Infinity", "1_0", "high", ".", "1e", "+", "1e+", "0x1p3", "1.2.3", "--1", "٣")
        )
    return source.choice(("", "", "-", "+")) + text


def texts() -> Iterator[bytes]:
    yield b""
    yield b"\n \t\n\r\n"
    yield b"q Q0 d 1 0.5 t"
    for seed in range(100):
        source = random.Random(seed)
        written = []
        for _ in range(source.choice((1, 5, 40))):
            if source.random() < 0.1:
                written.append(source.choice(("#", "  # q1 Q0 d1 1 0.5 tag", "#q1", "\t##\r")))
            cells = [
                source.choice(("q1", "q1", "q2", "ä")),
                "Q0",
                f"d{source.randrange(99)}",
                "1",
                number(source),
                "tag",
            ]
            if source.random() < 0.03:
                cells = cells[: source.randrange(6)] * source.choice((1, 3))
            if source.random() < 0.01:
                cells += ["more"] * source.choice((1, 9))
            gaps = [source.choice(BLANKS) for _ in cells]
            written.append(source.choice(("", " ")) + "".join(map("".join, zip(cells, gaps, strict=True))))
        yield ("\n" * source.randint(1, 2)).join(written).encode()


def value_of(cell: bytes) -> bytes | None:
    """The bits of the nearest double; None if the text is not a number."""
    try:
        return struct.pack("<d", float(cell))
    except ValueError:
        return None


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("piece", [1, 17, 10**6])
@pytest.mark.parametrize("level", LEVELS)
def test_lines_are_those_of_python(level: str, piece: int, more: bool) -> None:
    read, exact = at(level, read_lines), 0
    layout = RUN._replace(more=int(more))
    for text in texts():
        expected, wrong = lines.rows_of(text, *layout)
        letters, room = np.frombuffer(text, np.uint8), LineRows.of(text.count(b"\n") + 1)
        found = LinesRead(READ_ALL, 0, 1, 0, 0, 0)
        while found.at < len(text) and found.status == READ_ALL:
            found = read(letters, min(found.at + piece, len(text)), 10**6, layout, room, found)
        assert found.status == (READ_ALL if wrong is None else WRONG_COLUMNS)
        assert found.rows == len(expected)
        assert wrong is None or found.line == wrong
        count = slice(found.rows)
        assert list(zip(room.document_at[count], room.document_length[count], strict=True)) == [
            row.document for row in expected
        ]
        starts = room.segment[: found.segments]
        lengths = np.diff(starts, append=found.rows)
        ids = [
            text[first : first + length]
            for first, length in zip(room.query_at.tolist(), room.query_length.tolist(), strict=True)
        ]
        of_rows = np.repeat(np.arange(found.segments), lengths)
        assert [ids[segment] for segment in of_rows] == [text[a : a + n] for a, n in (row.query for row in expected)]
        left = set(room.open[: found.open].tolist())
        for number_of_row, row in enumerate(expected):
            cell = text[row.value[0] : row.value[0] + row.value[1]]
            if number_of_row not in left:
                assert struct.pack("<d", room.value[number_of_row]) == value_of(cell), cell
                exact += 1
        open_cells = list(zip(room.open_at[: found.open], room.open_length[: found.open], strict=True))
        assert open_cells == [expected[row].value for row in sorted(left)]
    assert exact > 300


@pytest.mark.parametrize("level", LEVELS)
def test_numbers_are_the_nearest(level: str) -> None:
    # Halfway between two doubles, and one digit to either side of that.
    cells = [
        b"9007199254740993",
        b"9007199254740992.9",
        b"9007199254740993.1",
        b"0.0000000000000000001",
        b"-0.0",
        b"-0",
    ]
    source = random.Random(1)
    for _ in range(4000):
        power = source.randint(0, 19)
        middle = (2 * source.getrandbits(53) + 1) * 5**power  # times 10^-power 2^power / 2
        beside = (middle - 1, middle, middle + 1)
        cells += [f"{near}e-{power}".encode() for near in beside if near < 10**19]
        cells.append(f"{source.getrandbits(64)}e{source.randint(-19, 19)}".encode())
    text = b"".join(b"q 0 d 1 " + cell + b" t\n" for cell in cells)
    room = LineRows.of(len(cells))
    found = at(level, read_lines)(
        np.frombuffer(text, np.uint8), len(text), 99, RUN, room, LinesRead(READ_ALL, 0, 1, 0, 0, 0)
    )
    left = set(room.open[: found.open].tolist())
    assert len(left) < len(cells) / 3
    for row, cell in enumerate(cells):
        assert row in left or struct.pack("<d", room.value[row]) == value_of(cell), cell


def test_long_lines_end_reading() -> None:
    text = b"q 0 d 1 1 t\n" + b"q 0 " + b"d" * 50 + b" 1 1 t\n"
    found = read_lines(
        np.frombuffer(text, np.uint8), len(text), 40, RUN, LineRows.of(3), LinesRead(READ_ALL, 0, 1, 0, 0, 0)
    )
    assert (found.status, found.line, found.at, found.rows) == (TOO_LONG, 2, 12, 1)


def documents(source: random.Random, count: int, names: int) -> Documents:
    ids = [bytes([source.randrange(256)]) * source.choice((0, 1, 7, 8, 9, 16)) for _ in range(names)]
    query = np.array([source.randrange(5) for _ in range(count)], dtype=np.int64)
    return documents_of([source.choice(ids) for _ in range(count)], query)


def keys(of: Documents) -> list[tuple[int, bytes]]:
    return [(int(query), of.id(row)) for row, query in enumerate(of.query)]


@pytest.mark.parametrize("level", LEVELS)
def test_documents_are_found_as_in_a_dictionary(level: str) -> None:
    repeated = 0
    for seed in range(60):
        source = random.Random(seed)
        known, wanted = documents(source, source.choice((1, 20, 300)), 400), documents(source, 50, 60)
        first = places_of_queries(known.query, 5)
        table = np.full(first[-1], EMPTY, dtype=np.uint64)
        earlier, of_key = np.zeros(1, dtype=np.int64), dict[tuple[int, bytes], int]()
        again = at(level, put_documents)(known, 0, len(known.at), table, first, earlier)
        for row, key in enumerate(keys(known)):
            if key in of_key:
                assert (int(earlier[0]), again) == (of_key[key], row)
                repeated += 1
                break
            of_key[key] = row
        else:
            assert again == -1
        found = np.zeros(len(wanted.at), dtype=np.int64)
        at(level, find_documents)(wanted, known, table, first, found)
        assert found.tolist() == [of_key.get(key, -1) for key in keys(wanted)]
    assert 0 < repeated < 60


@pytest.mark.parametrize("level", LEVELS)
def test_scores_are_counted_among_thresholds(level: str) -> None:
    for seed in range(80):
        random_numbers = np.random.default_rng(seed)
        values = (
            np.array([-np.inf, -1.0, -0.0, 0.0, 5e-324, 0.5, 1.0, 1e308])
            if seed % 2
            else random_numbers.normal(size=40)
        )
        lengths = random_numbers.integers(0, 50, 7)
        start = np.concatenate([[0], np.cumsum(lengths)])
        score = random_numbers.choice(values, start[-1])
        thresholds = [
            np.unique(random_numbers.choice(values, random_numbers.integers(0, 9)) + 0.0)[::-1] for _ in range(7)
        ]
        first = np.concatenate([[0], np.cumsum(list(map(len, thresholds)))])
        counted, expected = (np.full((2, first[-1]), -7) for _ in range(2))
        room = CountRoom.of(int(np.diff(first).max()))
        at(level, count_scores)(score, start, np.concatenate(thresholds), first, room, *counted)
        list_counts.count_scores(score, start, np.concatenate(thresholds), first, *expected)
        assert (counted == expected).all()
