"""The study of sparse rows: its weights are TF-IDF by definition, and its intervals are those of dense rows."""

import math
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp

pytestmark = pytest.mark.heavy  # a study is not a promise of the library
pytest.importorskip("scipy")

from studies.common import Options  # noqa: E402
from studies.sparse import study  # noqa: E402

DOCSTRINGS = [
    [["sum", "of", "rows"], ["the", "rows", "of", "an", "array"], ["the", "columns", "are", "not"]],
    [["columns"], ["the", "sum", "of", "columns", "columns"]],
    [["the", "of"], ["the", "norm", "of", "sum"]],
]
RARE = {"rows", "an", "array", "are", "not", "norm"}
"""The words of one paragraph of four."""


def rows(monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, study.Rows], list[list[int]]]:
    monkeypatch.setattr(study, "RARE", 0.25)
    weighted, pairs = study.rows_of(DOCSTRINGS)
    return weighted, pairs.tolist()


def test_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    weighted, pairs = rows(monkeypatch)
    assert pairs == [[0, 0], [0, 1]]  # the others have no rare word in their summary
    paragraphs = [set(words) for _, *others in DOCSTRINGS for words in others]
    having = {word: sum(word in words for words in paragraphs) for word in set().union(*paragraphs)}
    names = sorted(having)
    for kind, kept in (("all words", set(names)), ("rare words", RARE)):
        (query,) = weighted[kind].queries.toarray().tolist()
        expected = [math.log(4 / having[name]) * (name in kept and name in DOCSTRINGS[0][0]) for name in names]
        assert query == pytest.approx(expected, rel=1e-6)
    twice = weighted["all words"].documents.toarray()[2, names.index("columns")]
    assert twice == pytest.approx((1 + math.log(2)) * math.log(4 / 2), rel=1e-6)


def test_intervals_are_those_of_dense_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    weighted, pairs = rows(monkeypatch)
    results = study.evaluate(weighted, np.array(pairs))
    for words, sparse in weighted.items():
        for form, sides in zip(study.FORMS, (sparse, study.quantized(sparse)), strict=True):
            queries, documents = (side.toarray() for side in sides)
            dense = tp.evaluate(
                queries, gallery=documents, relevance=pairs, distance="dot", measures=["R@1", "Success@1"]
            )
            assert results[words, form]["R@1"] == dense["R@1"]
    assert study.touched(weighted["rare words"]).tolist() == [1]


def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weighted, pairs = rows(monkeypatch)
    results = study.evaluate(weighted, np.array(pairs))
    study.draw(results, Options(Path(), True, tmp_path))
    assert ">rare words</text>" in (tmp_path / "widths.svg").read_text(encoding="utf-8")
    report = study.render(results, {words: study.touched(each) for words, each in weighted.items()}, (4, 10))
    for (words, form), result in results.items():
        assert f"\n| {words} | {form} | {study.interval(result['R@10'])} |" in report
