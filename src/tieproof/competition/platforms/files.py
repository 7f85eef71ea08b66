"""What several platforms share: columns of a leaderboard, YAML, a logo, and programs that call scripts."""

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.competition.scoring import SHOWN, Scoring
from tieproof.errors import InputError, MissingExtraError
from tieproof.evaluation.result import flat_name
from tieproof.inputs.readers.damage import reading

LONGEST = 36
"""The most characters of a column's title and key on Codabench."""


class Column(NamedTuple):
    """A column: its title, and the name of its number among the numbers of a submission."""

    title: str
    key: str


def columns_of(scoring: Scoring) -> list[Column]:
    """The columns in order; submissions are ranked by the first one.

    >>> [column.key for column in columns_of(Scoring("run", ("AP", "P@1")))]
    ['ap_lower', 'ap_expected', 'ap_upper', 'p_at_1_lower']
    """
    columns = []
    for place, measure in enumerate(scoring.measures):
        for bound in SHOWN if place == 0 else SHOWN[:1]:
            column = Column(f"{measure} {bound}", f"{flat_name(measure)}_{bound}")
            if max(map(len, column)) > LONGEST:
                raise InputError(
                    f"'{column.title}' is longer than the {LONGEST} characters of a column's title or key. Give the "
                    "measure a shorter name, or leave it out.",
                    "measures",
                )
            columns.append(column)
    return columns


def as_yaml(content: Mapping[str, Any]) -> bytes:
    r"""A mapping as readable YAML, in its own order.

    >>> as_yaml({"title": "Wörter", "start": "2027-01-10 00:00:00"}).decode()
    "title: Wörter\nstart: '2027-01-10 00:00:00'\n"
    """
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("Writing a bundle", "competition") from None
    text: str = yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, width=1000)
    return text.encode()


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file."""
    try:
        import yaml
    except ImportError:
        raise MissingExtraError(f"Reading {path}", "competition") from None
    with reading(path, "YAML"):
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise InputError(f"{path} is not a YAML mapping. Write keys and values, as the platform documents them.")
    return found


SIZE = 256
BLUE, AMBER, WHITE = b"\x1f\x4e\x79", b"\xd9\x82\x1b", b"\xff\xff\xff"
BARS = ((0.9, BLUE), (0.7, BLUE), (0.5, AMBER), (0.5, AMBER), (0.3, BLUE))
"""The length of each bar, as a share of the width, and its colour."""


def logo_name(picture: Path | None) -> str:
    """The name of the logo's file in the bundle."""
    return "logo.png" if picture is None else f"logo{picture.suffix.lower()}"


def logo() -> bytes:
    r"""A picture of 256 by 256 pixels as a PNG.

    >>> logo()[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    rows = b"".join(b"\0" + row(at) for at in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, data) for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    )


def row(at: int) -> bytes:
    """The pixels of a row; each bar fills two thirds of its share of the height."""
    bar, within = divmod(at * len(BARS), SIZE)
    length, colour = BARS[bar]
    filled = round(length * SIZE) if SIZE // 6 <= within < SIZE * 5 // 6 else 0
    return colour * filled + WHITE * (SIZE - filled)


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG, with its length and its checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


EVALAI = """
import importlib, json, sys
truth, submission, codename, packages = sys.argv[1:]
sys.path.insert(0, packages)
evaluate = importlib.import_module("challenge_1").evaluate
found = evaluate(truth, submission, codename, submission_metadata={})
print()
print(found.get("submission_result"))
print(json.dumps(list(found["result"][0].values())[0], default=float))
"""
"""Calls evaluate(truth, submission, codename, submission_metadata=…) of challenge_1; prints what participants see of
its answer, the numbers in the last line."""

KAGGLE = """
import json, sys
import pandas as pd
metric, solution, submission, usage = sys.argv[1:]
namespace = {"__name__": "metric"}
exec(compile(open(metric).read(), metric, "exec"), namespace)
solution = pd.read_csv(solution)
try:
    submission = pd.read_csv(submission)
except Exception as error:
    sys.exit(f"Kaggle cannot read the submission as a table: {error}")
row_id = solution.columns[0]
if "Usage" in solution.columns:
    others = set(solution[row_id][solution["Usage"] != usage])
    solution = solution[solution["Usage"] == usage].drop(columns="Usage").reset_index(drop=True)
    submission = submission[[each not in others for each in submission[row_id]]].reset_index(drop=True)
found = namespace["score"](solution.copy(), submission.copy(), row_id)
print()
print(json.dumps({"score": float(found)}))
"""
"""Calls score(solution, submission, row_id) for the rows of one part; prints the answer."""


def last_line(out: str) -> str:
    """The last line that a driver printed."""
    return out.strip().rpartition("\n")[2]
