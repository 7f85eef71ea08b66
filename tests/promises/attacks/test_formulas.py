"""Names in data that a spreadsheet would evaluate as formulas when it opens a table that tieproof wrote."""

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import exit_status

FORMULAS = {
    "=HYPERLINK(1)": "'=HYPERLINK(1)",
    "+1+1": "'+1+1",
    "-1+1": "'-1+1",
    "@SUM(1)": "'@SUM(1)",
    "a;=1+1": "a;'=1+1",
    "＝1+1": "'＝1+1",
}
"""Names of queries, and what a table must contain: OWASP's apostrophe before each formula."""

PLAIN = ("-5", "+1.5", "-1e-3", "q-1", "a=b", "a+b@c")
"""Numbers, and names with the same characters elsewhere."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with qrels and runs whose queries have these names."""
    monkeypatch.chdir(tmp_path)
    queries = (*FORMULAS, *PLAIN)
    Path("qrels.txt").write_text("".join(f"{query} 0 d1 1\n" for query in queries))
    Path("categories.txt").write_text("".join(f"{query} \t=cmd|'/c calc'!A0\n" for query in queries))
    for name in ("run.txt", "=1+1.txt"):
        Path(name).write_text("".join(f"{query} Q0 d1 1 {len(name)} t\n" for query in queries))
    return tmp_path


def column(path: str, name: str) -> list[str]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


def test_the_name_of_a_query_becomes_no_formula(folder: Path) -> None:
    assert exit_status("run", "qrels.txt", "run.txt", "-m", "AP", "--per-query", "queries.csv") == 0
    assert sorted(column("queries.csv", "query")) == sorted([*FORMULAS.values(), *PLAIN])


def test_a_category_becomes_no_formula(folder: Path) -> None:
    options = ("--categories", "categories.txt", "--per-query", "queries.csv")
    assert exit_status("run", "qrels.txt", "run.txt", "-m", "AP", *options) == 0
    assert set(column("queries.csv", "category")) == {"'=cmd|'/c calc'!A0"}


def test_the_name_of_a_system_becomes_no_formula(folder: Path) -> None:
    assert exit_status("compare", "--qrels", "qrels.txt", "run.txt", "=1+1.txt", "--per-query", "queries.csv") == 0
    assert set(column("queries.csv", "b")) == {"'=1+1"}


def test_names_in_parquet_are_those_of_the_data(folder: Path) -> None:
    assert exit_status("run", "qrels.txt", "run.txt", "-m", "AP", "--per-query", "queries.parquet") == 0
    assert sorted(pq.read_table("queries.parquet")["query"].to_pylist()) == sorted([*FORMULAS, *PLAIN])
