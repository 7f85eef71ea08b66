"""Tables that have the score and the relevance of each document, in files of any kind and in data frames.

q1 has a (relevant) and b tied at 0.9, so that its RR is 1/2 to 1; q2 has b, which is not relevant, before a,
so that its RR is 1/2.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tieproof as tp

ROWS: dict[str, list[Any]] = {
    "query_id": ["q2", "q1", "q1", "q2"],
    "doc_id": ["a", "a", "b", "b"],
    "score": [0.125, 0.875, 0.875, 0.25],
    "label": [1, 1, 0, 0],
}


def text(delimiter: str, rows: dict[str, list[Any]] = ROWS) -> str:
    return "\n".join(delimiter.join(map(str, row)) for row in [tuple(rows), *zip(*rows.values(), strict=True)]) + "\n"


def renamed(*names: str) -> dict[str, list[Any]]:
    return dict(zip(names, ROWS.values(), strict=True))


RECORDS = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
FILES = {
    "preds.csv": text(","),
    "preds.tsv": text("\t"),
    "semicolons.csv": text(";").replace(".", ","),
    "crlf.csv": text(",").replace("\n", "\r\n"),
    "marked.csv": "\ufeff" + text(","),
    "records.json": json.dumps(RECORDS),
    "columns.json": json.dumps(ROWS),
    "pandas.json": json.dumps({name: dict(enumerate(values)) for name, values in ROWS.items()}),
    "preds.jsonl": "\n".join(map(json.dumps, RECORDS)),
    "torchmetrics.csv": text(",", renamed("indexes", "docs", "preds", "target")),
    "sklearn.csv": text(",", renamed("Query ID", "item_id", "y_score", "y_true")),
    "recommender.csv": text(",", renamed("userId", "itemId", "prediction", "rating")),
    "truths.csv": text(",", ROWS | {"label": [True, True, False, False]}),
}


def check(result: tp.Result) -> None:
    assert result.query_ids.tolist() == ["q1", "q2"]
    found = result.per_query("RR")
    assert (found.lower.tolist(), found.expected.tolist()) == ([0.5, 0.5], [0.75, 0.5])
    assert found.upper.tolist() == [1.0, 0.5]


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    check(tp.evaluate_scores(tmp_path / name, measures=["RR"]))
    (tmp_path / "packed.gz").write_bytes(gzip.compress(FILES[name].encode()))
    check(tp.evaluate_scores(str(tmp_path / "packed.gz"), measures=["RR"]))


@pytest.mark.parametrize("library", ["pandas.DataFrame", "polars.DataFrame", "polars.LazyFrame", "pyarrow.table"])
def test_frames_are_read(library: str, tmp_path: Path) -> None:
    module, _, make = library.partition(".")
    frame = getattr(pytest.importorskip(module), make)(ROWS)
    check(tp.evaluate_scores(frame, measures=["RR"]))
    if make == "table":
        pytest.importorskip("pyarrow.parquet").write_table(frame, tmp_path / "preds.parquet")
        check(tp.evaluate_scores(tmp_path / "preds.parquet", measures=["RR"]))


def test_random_tables_score_as_their_lists_do(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    query, score = random.integers(0, 5, 40), random.integers(-3, 4, 40) / 4
    grade = random.integers(0, 3, 40)
    lines = [f"{q},{s},{g}" for q, s, g in zip(query, score, grade, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["qid,pred,grade", *lines]))
    lists = [query == each for each in range(5)]
    expected = tp.evaluate_scores([score[rows] for rows in lists], [grade[rows] for rows in lists])
    found = tp.evaluate_scores(tmp_path / "t.csv")
    for measure in expected.measures:
        for bound in ("lower", "expected", "upper", "std"):
            assert (
                getattr(found.per_query(measure), bound).tolist()
                == getattr(expected.per_query(measure), bound).tolist()
            )
    one = tp.evaluate_scores(tmp_path / "t.csv", measures=["RR"], categories=dict(enumerate("aabbb")))
    assert one.category("a").query_ids.tolist() == ["0", "1"]


def test_scores_and_labels_alone_are_one_list(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("score,label\n0.5,1\n0.25,0\n0.2,0\n0.125,1\n")
    with pytest.warns(tp.InputWarning, match=r"one list\. If each row is a pair .* tieproof det .*two\.csv"):
        found = tp.evaluate_scores(tmp_path / "two.csv", measures=["AP"])
    assert found["AP"].lower == 0.75  # (1 + 2/4) / 2


def test_distances_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "far.csv").write_text("qid,dist,rel\na,2,0\na,1,1\n")
    assert tp.evaluate_distances(tmp_path / "far.csv", measures=["RR"])["RR"].lower == 1
    with pytest.raises(
        tp.InputError, match=r"far.csv has distances, in column 'dist', .*evaluate_distances; .*--dist"
    ):
        tp.evaluate_scores(tmp_path / "far.csv")


def test_integers_that_float64_would_round_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "big.csv").write_text(f"qid,score,rel\na,{2**53},0\na,{2**53 + 1},1\n")
    assert tp.evaluate_scores(tmp_path / "big.csv", measures=["RR"])["RR"].lower == 1
    far = {"score": [2**53 + 1, 2**53 + 1025], "rel": [1, 0]}  # noise of 1/2 changes no order, of 512 makes a tie
    for noise, upper in ((0.5, 0.5), (512, 1.0)):
        bounds = tp.evaluate_scores(pd.DataFrame(far), measures=["RR"], noise=noise)["RR"].noise
        assert bounds == tp.Bounds(0.5, upper)
    near = {"score": [2**53 + 1, 2**53 + 2], "rel": [1, 0]}  # equal in float32
    assert tp.evaluate_scores(pd.DataFrame(near), measures=["RR"], precision="float32")["RR"].upper == 1
    with pytest.raises(tp.InputError, match="grade"):
        tp.evaluate_scores(pd.DataFrame({"score": [1, 2], "rel": [2**53 + 1, 1]}))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_embeddings_may_be_a_frame_with_vectors_or_text(library: str) -> None:
    frame = pytest.importorskip(library).DataFrame
    vectors, labels = [[1.0, 0.0], [1.0, 0.5], [0.0, 1.0], [0.5, 1.0]], [0, 0, 1, 1]
    expected = tp.evaluate(vectors, labels).to_json()
    assert tp.evaluate(frame({"caption": list("abcd"), "label": labels, "v": vectors}), labels).to_json() == expected
    columns = dict(zip(("x0", "x1"), map(list, zip(*vectors, strict=True)), strict=True))
    with pytest.warns(tp.InputWarning, match="caption, label are left out, and the dimensions are x0, x1"):
        found = tp.evaluate(frame({"caption": list("abcd"), "label": labels} | columns), labels)
    assert found.to_json() == expected
