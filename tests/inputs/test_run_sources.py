"""Sources of runs: numbers, names, columns and objects that could be misread, and queries that are left out."""

import re
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tieproof as tp
from command_line import exit_status
from tieproof.evaluation.runs import evaluate_run

LARGE = 2**60 + 1

# Data sets of ir_datasets: a stub, because the library downloads what it reads


class DataSet:
    """What ir_datasets.load returns."""

    def __init__(self, qrels: list[tuple[str, str, int]] | None) -> None:
        self.qrels = qrels

    def has_qrels(self) -> bool:
        return self.qrels is not None

    def qrels_iter(self) -> Any:
        return (SimpleNamespace(query_id=q, doc_id=d, relevance=r, iteration="0") for q, d, r in self.qrels or ())


DATA_SETS = {
    "toy/dev": DataSet([("q1", "a", 2), ("q1", "b", 0), ("q2", "c", 1)]),
    "toy": DataSet(None),
    "toy/subtopics": DataSet([("q1", "a", 1), ("q1", "a", 0)]),
}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=DATA_SETS.__getitem__))


@pytest.mark.usefixtures("stub")
def test_qrels_of_a_data_set_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"c": 0.5}}
    judged = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
    found = evaluate_run("ir_datasets:toy/dev", run, measures=["RR", "nDCG"])
    assert found.to_json() == evaluate_run(judged, run, measures=["RR", "nDCG"]).to_json()
    lines = [f"{q} Q0 {d} 1 {score} t\n" for q, scores in run.items() for d, score in scores.items()]
    (tmp_path / "run.txt").write_text("".join(lines), encoding="utf-8")
    assert exit_status("run", "ir_datasets:toy/dev", str(tmp_path / "run.txt"), "-m", "RR", "-q") == 0
    assert capsys.readouterr().out.split("\n")[2] == "RR                    \tall\t0.7500"


@pytest.mark.usefixtures("stub")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("toy/test", "ir_datasets has no data set 'toy/test'. Its names are on"),
        ("toy", "The data set 'toy' of ir_datasets has no qrels"),
        ("toy/subtopics", "ir_datasets:toy/subtopics: document 'a' occurs twice for query 'q1'"),
    ],
)
def test_data_sets_that_are_refused(name: str, said: str) -> None:
    with pytest.raises(tp.InputError, match=re.escape(said)) as caught:
        evaluate_run(f"ir_datasets:{name}", {"q1": {"a": 1.0}})
    assert caught.value.argument == "qrels"


def test_a_data_set_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(tp.MissingExtraError, match=r"ir_datasets:toy needs .*pip install 'tieproof\[ir-datasets\]'"):
        evaluate_run("ir_datasets:toy", {"q1": {"a": 1.0}})


# Numbers


@pytest.mark.parametrize("large", [LARGE, np.int64(LARGE), np.uint64(LARGE), np.asarray(LARGE)])
@pytest.mark.parametrize("beside", [0.5, np.float32(0.5), 1e300])
def test_integers_beside_floats_are_not_rounded(large: Any, beside: Any) -> None:
    run = {"q": {"a": large, "b": np.int64(2**60), "c": beside}}
    with pytest.raises(tp.InputError, match="integer"):
        evaluate_run({"q": {"a": 1}}, run)
    with pytest.raises(tp.InputError, match="integer"):
        evaluate_run({"q": {"a": large, "b": beside}}, {"q": {"a": 1.0}})


def test_integers_of_both_signs_beyond_63_bits_are_not_rounded() -> None:
    with pytest.raises(tp.InputError, match="integer"):
        evaluate_run({"q": {"a": 1}}, {"q": {"a": np.uint64(2**63 + 1), "b": np.int64(-1)}})


def test_integers_that_floats_hold_are_taken() -> None:
    run = {"q": {"a": np.int64(2**60), "b": 0.5, "c": 2**62}}
    assert evaluate_run({"q": {"a": 1}}, run, measures=["RR"])["RR"].lower == 0.5
    whole = {"q": {"a": np.int64(LARGE), "b": np.int64(LARGE - 1)}}
    assert evaluate_run({"q": {"a": 1}}, whole, measures=["RR"])["RR"].lower == 1.0
    frame = pd.DataFrame({"qid": ["q"] * 2, "docno": ["a", "b"], "score": [LARGE, LARGE - 1]})
    assert evaluate_run({"q": {"a": 1}}, frame, measures=["RR"])["RR"].lower == 1.0


# Names


@pytest.mark.parametrize("names", [["q", "q\0"], ["q\0", "p"]])
def test_queries_that_end_in_nul_are_refused(names: list[str]) -> None:
    good = {"q": {"a": 1}}
    each = {name: {"a": 1} for name in names}
    frame = pd.DataFrame({"qid": names, "docno": ["a", "a"], "score": [1, 2]})
    for qrels, run in ((good, each), (each, good), (good, frame), (frame, good)):
        with pytest.raises(tp.InputError, match=r"The query 'q\\x00' ends in a NUL character, which NumPy drops"):
            evaluate_run(qrels, run)


def test_documents_that_end_in_nul_are_documents_of_their_own() -> None:
    run = {"q": {"d": 1.0, "d\0": 3.0, "d\0\0": 2.0}}
    for name, rank in (("d\0", 1), ("d\0\0", 2), ("d", 3)):
        assert evaluate_run({"q": {name: 1}}, run, measures=["RR"])["RR"].lower == 1 / rank
    frame = pd.DataFrame({"qid": ["q"] * 3, "docno": list(run["q"]), "score": list(run["q"].values())})
    assert evaluate_run({"q": {"d": 1}}, frame, measures=["RR"])["RR"].lower == 1 / 3
    # NumPy keeps a NUL character in the middle of a name.
    assert evaluate_run({"q\0r": {"d": 1}}, {"q\0r": {"d": 1}}).query_ids.tolist() == ["q\0r"]


@pytest.mark.filterwarnings("ignore:All lists of the run have 11 documents")
@pytest.mark.parametrize("kind", [str, int])
def test_dictionaries_of_floats_are_read_like_all_others(kind: type) -> None:
    """Dictionaries of floats with names of one type are looked up directly; all others are read as files are."""
    source = np.random.default_rng(4)
    letters = [*"0123456789", "é", "中", "\ud800", "07"] if kind is str else range(20)
    qrels = {query: {name: int(source.integers(-1, 3)) for name in letters} for query in (2, "1", 3, "nobody")}
    run: dict[Any, dict[Any, float]] = {"3": {}, "absent": {}}
    for query in ("stranger", 2, "1"):
        names = [kind(name) for name in source.permutation(list(letters))[: len(letters) // 2]]
        run[query] = {name: float(source.integers(0, 3)) for name in [*names, kind(77)]}
    plain = evaluate_run(qrels, run, measures=["AP", "nDCG"])
    for other in (np.float32, int):
        mixed = {query: {name: other(value) for name, value in scores.items()} for query, scores in run.items()}
        found = evaluate_run(qrels, mixed, measures=["AP", "nDCG"])
        for measure in found:
            pair = [asdict(result.per_query(measure)).values() for result in (plain, found)]
            assert [value.tolist() for value in pair[0]] == [value.tolist() for value in pair[1]]


# Columns


def test_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame([["q", "d", 1.0, 2.0]], columns=["qid", "docno", "score", "score"])
    with pytest.raises(tp.InputError) as error:
        evaluate_run({"q": {"d": 1}}, frame)
    assert (
        str(error.value)
        == "The run must have only one column with the name 'score', not 2. Keep one of them, or rename the others."
    )
    with pytest.raises(tp.InputError, match="The qrels must have only one column with the name 'qid', not 2"):
        evaluate_run(frame.set_axis(["qid", "docno", "qid", "score"], axis=1), {"q": {"d": 1}})
    labels = pd.DataFrame([["q", "x", "y"]], columns=["qid", "category", "category"])
    with pytest.raises(
        tp.InputError, match="The categories must have only one column with the name 'category', not 2"
    ):
        evaluate_run({"q": {"d": 1}}, {"q": {"d": 1}}, categories=labels)


# Qrels and run exchanged


def test_a_run_passed_for_the_qrels_is_warned_about() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.75, "b": 2.5}}
    with pytest.warns(tp.InputWarning, match=r"fractional grades, such as 0\.75.*Pass the qrels first, then the run"):
        evaluate_run(run, qrels)


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"q": {"d": 3.5, "e": 1}}, {"q": {"e": 5, "d": 4}}),  # means of assessors, and a model that gives grades
        ({"q": {"a": 0.5, "b": 2.5, "c": 2.5}}, {"q": {"a": 1, "b": 3, "c": 3}}),
        ({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.75, "b": 2.5}}),
        ({"q": {"a": 1, "b": 0}}, {"q": {"a": 2, "b": 1}}),
        ({"q": {"a": 0.5, "b": 0}}, {"q": {"a": 0.75, "b": 1}}),
        ({"q": {"a": 0.5, "b": 0}}, {"q": {"a": 1000, "b": 999}}),
        ({"q": {"a": 0.5, "b": 0}}, {"q": {"a": -1, "b": -64}}),
    ],
)
def test_honest_grades_are_not_warned_about(qrels: Any, run: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate_run(qrels, run)


# Queries that a run leaves out

QRELS = {"q1": {"d1": 1}, "q2": {"d1": 1, "d2": 2}, "q3": {"d1": 0}, "q4": {"d1": 1}}
RUN = {"q1": {"d1": 1.0}, "q4": {"d1": 1.0}, "q9": {"d1": 1.0}, "q8": {"d1": 1.0}}


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("empty", ["skip", "zero", "one", "nan"])
def test_a_result_says_what_the_run_leaves_out(missing: Any, empty: Any) -> None:
    result = evaluate_run(QRELS, RUN, measures=["AP"], missing=missing, empty=empty)
    assert result.not_in_run.tolist() == ["q2", "q3"]
    assert result.to_dict()["not_in_run"] == 2
    becomes = "; 1 of these counts as 0" if missing == "zero" else ""
    text = " ".join(result.to_text(explain=True).split())
    assert f"The run has no document for 2 of 4 judged queries{becomes}." in text
    assert "2 queries with no judgment in the qrels" in text


def test_one_and_several_queries_that_count_as_zero() -> None:
    qrels = {name: {"d1": 1} for name in ("q1", "q2", "q3")}
    one = evaluate_run(qrels, {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}})
    assert "The run has no document for 1 of 3 judged queries; it counts as 0." in " ".join(str(one).split())
    two = evaluate_run(qrels, {"q1": {"d1": 1.0}})
    assert "The run has no document for 2 of 3 judged queries; they count as 0." in " ".join(str(two).split())


def test_a_run_that_answers_everything_leaves_out_nothing() -> None:
    result = evaluate_run({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}})
    assert result.not_in_run.tolist() == []
    assert result.to_dict()["not_in_run"] == 0
    assert "The run has no document" not in str(result)
    assert tp.evaluate_scores([[1]], [[1]]).not_in_run.tolist() == []
    assert "not_in_run" not in tp.evaluate_scores([[1]], [[1]]).to_dict()


def test_categories_know_what_the_run_leaves_out() -> None:
    categories = {"q1": "a", "q2": "a", "q3": "b", "q4": "b"}
    result = evaluate_run(QRELS, RUN, measures=["AP"], categories=categories)
    assert result.category("a").not_in_run.tolist() == ["q2"]
    assert result.category("b").not_in_run.tolist() == ["q3"]


# Objects of ranx


@pytest.mark.heavy
def test_qrels_and_runs_of_ranx() -> None:
    ranx = pytest.importorskip("ranx")
    qrels = {"q1": {"a": 1, "b": 3}, "q2": {"c": 2}}
    run = {"q1": {"a": 0.5, "b": 0.5, "x": 0.25}, "q2": {"d": 2.0, "c": 1.0}}
    judged, ranked = ranx.Qrels(qrels), ranx.Run(run)
    expected = evaluate_run(qrels, run)
    for pair in ((judged, ranked), (qrels, ranked), (judged, run)):
        got = evaluate_run(*pair)
        assert got.to_json() == expected.to_json()
        assert (got.query_ids == expected.query_ids).all()
    with pytest.raises(tp.InputError) as error:
        evaluate_run(ranked, judged)
    assert str(error.value) == (
        "The qrels are a Run of ranx, but a Qrels of ranx is expected. Pass the qrels first, then the run."
    )


@pytest.mark.heavy
def test_names_in_objects_of_ranx() -> None:
    """Names of any letters and lengths; `add_multi` makes dictionaries of another type of strings."""
    ranx = pytest.importorskip("ranx")
    qrels = {"q1": {"ä": 1, "a longer name": 2}, "q2": {"数": 1, "7": 0}}
    run = {"q1": {"a": 3.0, "ä": 2.0, "a longer name": 2.0}, "q2": {"数": 0.5, "77": 1.0}}
    added = ranx.Run()
    added.add_multi([*run], [[*scores] for scores in run.values()], [[*scores.values()] for scores in run.values()])
    expected = evaluate_run(qrels, run)
    for judged in (qrels, ranx.Qrels(qrels)):
        for ranked in (ranx.Run(run), added):
            assert evaluate_run(judged, ranked).to_json() == expected.to_json()
    with pytest.raises(tp.InputError, match="The run is empty"):
        evaluate_run(qrels, ranx.Run())


def response(scores: dict[str, float]) -> dict[str, Any]:
    """The answer of Elasticsearch or OpenSearch to a search."""
    hits = [{"_index": "items", "_id": name, "_score": score, "_source": {}} for name, score in scores.items()]
    return {"took": 5, "hits": {"total": {"value": 3, "relation": "eq"}, "max_score": 2.0, "hits": hits}}


def test_responses_of_search_engines_are_runs() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"c": 2, "a": 1}, "hits": {"b": 1}}
    run = {"q1": {"a": 1.5, "b": 1.5}, "q2": {"a": 2.0, "c": 1.0}, "hits": {}}
    expected = tp.evaluate_run(qrels, run, measures=["AP", "nDCG"])
    wrapped = [
        {query: response(scores) for query, scores in run.items()},
        {query: SimpleNamespace(body=response(scores)) for query, scores in run.items()},
        {query: response(scores)["hits"]["hits"] for query, scores in run.items()},
    ]
    for each in wrapped:
        found = tp.evaluate_run(qrels, each, measures=["AP", "nDCG"])
        assert found["AP"] == expected["AP"] == tp.Estimate(1 / 2, 7 / 12, 2 / 3, expected["AP"].std)
        assert found["nDCG"] == expected["nDCG"]
    named = {"q1": {"hits": 2.0, "a": 1.0}}  # a document may have that name
    assert tp.evaluate_run({"q1": {"a": 1}}, named, measures=["RR"])["RR"].lower == 0.5
    sorted_by_field = {"q1": [{"_id": "a", "_score": None, "sort": [3]}]}
    with pytest.raises(tp.InputError, match="The hit 'a' of query 'q1' has no _score"):
        tp.evaluate_run(qrels, sorted_by_field)
    with pytest.raises(tp.InputError, match=r"'a' occurs twice for query 'q1', at places 1 and 2\. Keep one"):
        tp.evaluate_run(qrels, {"q1": [{"_id": "a", "_score": 1.0}, {"_id": "a", "_score": 2.0}]})


def test_results_of_retrievers_are_runs() -> None:
    """Objects of the shapes of LlamaIndex (NodeWithScore), Haystack (Document) and Qdrant (ScoredPoint)."""
    qrels = {"q1": {"a": 1}, "q2": {"c": 2, "a": 1}}
    run = {"q1": {"a": 1.5, "b": 1.5}, "q2": {"a": 2.0, "c": 1.0}}
    expected = tp.evaluate_run(qrels, run, measures=["AP"])["AP"]
    assert expected == tp.Estimate(3 / 4, 7 / 8, 1.0, expected.std)

    def hits(query: str, name: str) -> list[Any]:
        return [SimpleNamespace(**{name: item}, score=score, text="…") for item, score in run[query].items()]

    for given in (
        {query: hits(query, "node_id") for query in run},
        {query: SimpleNamespace(source_nodes=hits(query, "node_id")) for query in run},
        {query: hits(query, "id") for query in run},
        {query: {"documents": hits(query, "id")} for query in run},
        {query: SimpleNamespace(points=hits(query, "id")) for query in run},
    ):
        assert tp.evaluate_run(qrels, given, measures=["AP"])["AP"] == expected
    numbers = {"q1": [SimpleNamespace(id=7, score=0.5), SimpleNamespace(id=8, score=0.5)]}
    assert tp.evaluate_run({"q1": {"7": 1}}, numbers, measures=["RR"])["RR"].lower == 0.5
    documents = {"q1": {"documents": 2.0, "a": 1.0}}  # a document may have that name
    assert tp.evaluate_run({"q1": {"a": 1}}, documents, measures=["RR"])["RR"].lower == 0.5


def test_results_that_do_not_say_whether_larger_is_nearer_are_refused_by_name() -> None:
    qrels = {"q": {"a": 1}}
    chroma = {"ids": [["a", "b"]], "distances": [[0.1, 0.4]], "documents": None, "metadatas": None}
    pair = (SimpleNamespace(id="a", page_content="a text", metadata={}), 0.1)
    for run in (chroma, {"q": chroma}):
        with pytest.raises(tp.InputError, match=r"a result of Chroma.* Pass \{query: \{id: -distance\}\}"):
            evaluate_run(qrels, run)
    with pytest.raises(tp.InputError, match="pairs of LangChain, of a document and a score, which is a distance in"):
        evaluate_run(qrels, {"q": [pair]})
    assert evaluate_run(qrels, {"q": {"ids": 1.0, "a": 2.0}}, measures=["RR"])["RR"].lower == 1.0
