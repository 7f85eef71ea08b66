"""Runs and judgments in JSON, and in tables of pyarrow, polars and DuckDB."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import tieproof as tp

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1}}
RUN = {"q1": {"d1": 0.5, "d2": 0.5, "d4": 0.25}, "q2": {"d1": 1.5, "d9": 2.0}}


def expected() -> str:
    return tp.evaluate_run(QRELS, RUN).to_json()


def columns(values: dict[str, dict[str, Any]], value: str) -> dict[str, list[Any]]:
    rows = [(query, document, number) for query, inner in values.items() for document, number in inner.items()]
    return dict(zip(("query_id", "doc_id", value), map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("library", ["pyarrow", "polars", "polars, lazy", "duckdb"])
def test_tables_are_read_like_dictionaries(library: str) -> None:
    module = pytest.importorskip(library.removesuffix(", lazy"))

    def table(values: dict[str, dict[str, Any]], value: str) -> Any:
        if library == "polars":
            return module.DataFrame(columns(values, value))
        if library == "polars, lazy":
            return module.LazyFrame(columns(values, value))
        made = pytest.importorskip("pyarrow").table(columns(values, value))
        return made if library == "pyarrow" else module.from_arrow(made)

    assert tp.evaluate_run(table(QRELS, "relevance"), table(RUN, "score")).to_json() == expected()
    with pytest.raises(
        tp.InputError, match=r"must have a column for the grade.*The columns are query_id, doc_id, nan"
    ):
        tp.evaluate_run(table(QRELS, "nan"), table(RUN, "score"))


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars", "polars, lazy"])
def test_tables_of_subtopics_are_read_like_dictionaries(library: str) -> None:
    module = pytest.importorskip(library.removesuffix(", lazy"))
    make = {"pyarrow": "table", "polars, lazy": "LazyFrame"}.get(library, "DataFrame")
    qrels = {"q1": {"1": {"d1": 1, "d2": 0}, "2": {"d3": 2, "d1": 1}}, "q2": {"1": {"d1": 1}}}
    rows = [
        (query, int(subtopic), document, grade)
        for query, subtopics in qrels.items()
        for subtopic, grades in subtopics.items()
        for document, grade in grades.items()
    ]
    columns = dict(zip(("qid", "subtopic_id", "docno", "label"), map(list, zip(*rows, strict=True)), strict=True))
    found = tp.evaluate_diversity(getattr(module, make)(columns), RUN)
    assert found.to_dict() == tp.evaluate_diversity(qrels, RUN).to_dict()
    columns["topic"] = columns.pop("subtopic_id")
    with pytest.raises(tp.InputError, match="must have a column for the subtopic, called subtopic_id or subtopic or"):
        tp.evaluate_diversity(getattr(module, make)(columns), RUN)


def test_categories_of_a_table() -> None:
    arrow = pytest.importorskip("pyarrow")
    categories = arrow.table({"query_id": ["q1", "q2"], "category": ["a", "b"]})
    found = tp.evaluate_run(QRELS, RUN, categories=categories)
    assert found.category("b")["AP"].lower == 0.5


def test_json_is_read_like_dictionaries(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.json", tmp_path / "run.json.gz"
    qrels.write_text(json.dumps(QRELS))
    run.write_bytes(gzip.compress(json.dumps(RUN).encode()))
    assert tp.evaluate_run(qrels, run).to_json() == expected()


REFUSED = {
    "[]": r"qrels\.json is an empty list\. A file of JSON is \{query: \{document: number\}\}, or",
    "{}": r"qrels\.json is an empty dictionary\. A file",
    "{": r"qrels\.json is no JSON \(.*line 1 column 2.*\)\. A file",
    "[" * 10**5: r"qrels\.json is no JSON",
    '{"q1": {"d1": 1, "d1": 2}}': r"qrels\.json has 'd1' twice in one dictionary",
    '{"q1": {"d1": NaN}}': r"qrels\.json: the grade of document 'd1' for query 'q1' is nan",
    '{"q1": 1}': r"the value of query 'q1' is int",
    '{"q1": {"d1": "high"}}': "grade",
}


@pytest.mark.parametrize("content", REFUSED)
def test_json_that_is_refused(content: str, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.json"
    qrels.write_text(content)
    with pytest.raises(tp.InputError, match=REFUSED[content]):
        tp.evaluate_run(qrels, RUN)
