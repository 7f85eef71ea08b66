"""Runs and judgments as people have them: ids in order, sets, hits, lists; repeated ids, own documents, chunks."""

import json
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import tieproof as tp
from command_line import exit_status

QRELS = {"q1": {"a": 1}, "q2": {"c": 1, "x": 1}}
SCORES = {"q1": {"b": 0.5, "a": 0.5, "c": 0.25}, "q2": {"d": 2.0, "c": 1.0}}
RANKED = {query: list(scores) for query, scores in SCORES.items()}
NAMES = ["RR", "AP", "nDCG@2"]


class ScoredDoc(NamedTuple):
    """A row of ir_measures."""

    query_id: str
    doc_id: str
    score: float


def hits(query: str, document: str = "id", score: str = "score") -> list[dict[str, Any]]:
    return [{document: name, "text": "…", score: value} for name, value in SCORES[query].items()]


def objects(query: str, document: str = "id", **more: Any) -> list[Any]:
    return [SimpleNamespace(**{document: name}, score=value, **more) for name, value in SCORES[query].items()]


def each(make: Any) -> dict[str, Any]:
    return {query: make(query) for query in SCORES}


SCORED: dict[str, Any] = {
    "FlashRank, Qdrant": each(hits),
    "Elasticsearch": each(lambda q: {"hits": {"hits": hits(q, "_id", "_score")}}),
    "Qdrant by REST": each(lambda q: {"result": {"points": hits(q)}, "status": "ok"}),
    "Qdrant by REST, search": each(lambda q: {"result": hits(q), "status": "ok"}),
    "Pinecone": each(lambda q: {"matches": hits(q), "namespace": ""}),
    "Pinecone's client": each(lambda q: SimpleNamespace(matches=objects(q), namespace="")),
    "Weaviate": each(
        lambda q: SimpleNamespace(
            objects=[
                SimpleNamespace(uuid=name, metadata=SimpleNamespace(score=value)) for name, value in SCORES[q].items()
            ]
        )
    ),
    "Weaviate by GraphQL": each(
        lambda q: [{"_additional": {"id": name, "score": value}} for name, value in SCORES[q].items()]
    ),
    "Haystack": each(lambda q: {"documents": objects(q, meta={"id": 7})}),
    "LlamaIndex": each(lambda q: SimpleNamespace(source_nodes=objects(q, "node_id"))),
    "semantic_search of sentence-transformers": each(lambda q: hits(q, "corpus_id")),
    "Cohere": each(lambda q: {"results": hits(q, "document_id", "relevance_score")}),
    "DPR": [{"query_id": q, "question": "…", "ctxs": hits(q)} for q in SCORES],
    "pairs": each(lambda q: list(SCORES[q].items())),
    "float32": each(lambda q: [{"pid": name, "score": np.float32(value)} for name, value in SCORES[q].items()]),
    "rank_llm": [{"query": {"text": "…", "qid": q}, "candidates": hits(q, "docid")} for q in SCORES],
    "rank_llm's objects": [
        SimpleNamespace(query=SimpleNamespace(qid=q), candidates=objects(q, "docid")) for q in SCORES
    ],
    "RankGPT": [{"query": "…", "hits": [{"qid": q, "rank": 9, **hit} for hit in hits(q, "docid")]} for q in SCORES],
    "rows": [{"qid": q, "docno": name, "score": value} for q in SCORES for name, value in SCORES[q].items()],
    "ir_measures": [ScoredDoc(q, name, value) for q in SCORES for name, value in SCORES[q].items()],
}

IN_ORDER: dict[str, Any] = {
    "ids": RANKED,
    "tuples": {query: tuple(names) for query, names in RANKED.items()},
    "arrays": {query: np.array(names) for query, names in RANKED.items()},
    "hits without scores": each(lambda q: [{"id": name} for name in RANKED[q]]),
    "hits with ranks, in another order": each(
        lambda q: [{"id": name, "rank": rank} for rank, name in reversed([*enumerate(RANKED[q], 1)])]
    ),
    "entries with one list": [{"query_id": q, "ranking": names} for q, names in RANKED.items()],
    "rows without scores": [{"query_id": q, "doc_id": name} for q in RANKED for name in RANKED[q]],
    "frame of ranks": pd.DataFrame(
        [(q, name, rank) for q in RANKED for rank, name in enumerate(RANKED[q], 1)],
        columns=["query_id", "doc_id", "rank"],
    ),
}


@pytest.mark.parametrize("form", SCORED)
def test_hits_have_the_ties_of_their_scores(form: str) -> None:
    """By hand: a is tied with b for q1, so that its RR is 1/2 or 1; c is second for q2."""
    found = tp.evaluate_run(QRELS, SCORED[form], measures=NAMES)
    assert (found["RR"].lower, found["RR"].expected, found["RR"].upper) == (0.5, 0.625, 0.75)
    assert {**found} == {**tp.evaluate_run(QRELS, SCORES, measures=NAMES)}


@pytest.mark.parametrize("form", IN_ORDER)
def test_lists_without_scores_are_rankings_without_ties(form: str) -> None:
    found = tp.evaluate_run(QRELS, IN_ORDER[form], measures=NAMES)
    assert (found["RR"].lower, found["RR"].upper) == (0.5, 0.5)
    assert "Documents without scores are ranked in the order given, or by their ranks" in " ".join(str(found).split())
    assert found.to_dict()["said"] == list(found.evaluated.said)


def test_equal_ranks_are_ties() -> None:
    frame = pd.DataFrame({"qid": ["q1"] * 2, "docno": ["a", "b"], "rank": [1, 1]})
    assert tp.evaluate_run(QRELS, frame, measures=["RR"]).per_query("RR").lower.tolist() == [0.5, 0.0]


@pytest.mark.parametrize("kind", [set, list, frozenset, tuple, np.array])
def test_judgments_without_grades(kind: Any) -> None:
    judged = {query: kind([*grades]) for query, grades in QRELS.items()} if kind is not np.array else None
    judged = judged or {query: np.array([*grades]) for query, grades in QRELS.items()}
    assert {**tp.evaluate_run(judged, SCORES)} == {**tp.evaluate_run(QRELS, SCORES)}


def test_an_entry_alone() -> None:
    alone = {"query": {"qid": "q1"}, "candidates": hits("q1", "docid")}
    assert tp.evaluate_run([{"qid": "q1", "relevant": ["a"]}], alone, measures=["RR"])["RR"].expected == 0.75


def test_lists_of_queries_that_are_numbered() -> None:
    """As `util.semantic_search` of sentence-transformers returns them, with judgments in a list, too."""
    found = tp.evaluate_run([{"a"}, ["c", "x"]], [hits("q1", "corpus_id"), RANKED["q2"]], measures=["RR"])
    assert (found["RR"].lower, found["RR"].upper) == (0.5, 0.75)
    assert found.query_ids.tolist() == ["0", "1"]


def test_ids_of_any_type_that_are_texts() -> None:
    name = UUID(int=1)
    hit = SimpleNamespace(uuid=name, metadata=SimpleNamespace(score=1.0))
    assert tp.evaluate_run({"q": {str(name)}}, {"q": [hit]}, measures=["RR"])["RR"].lower == 1.0
    assert tp.evaluate_run({"q": [7]}, {"q": [8, 7]}, measures=["RR"])["RR"].lower == 0.5


@pytest.mark.parametrize("form", ["rank_llm", "RankGPT", "Qdrant by REST", "Pinecone", "rows", "pairs"])
@pytest.mark.parametrize("extension", ["json", "jsonl"])
def test_saved_answers(form: str, extension: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, run, qrels = SCORED[form], tmp_path / f"run.{extension}", tmp_path / "qrels.json"
    if extension == "jsonl" and isinstance(content, dict):
        content = [{"qid": query, "results": value} for query, value in content.items()]
    lines = [content] if extension == "json" else content
    run.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    qrels.write_text(json.dumps({query: [*grades] for query, grades in QRELS.items()}))
    assert exit_status("run", str(qrels), str(run), "-m", "RR", "-q") == 0
    assert capsys.readouterr().out.split("\n")[2] == "RR                    \tall\t0.5000"


REFUSED: dict[str, tuple[Any, str]] = {
    "the list of one query": (
        ["a", "b"],
        r"has 'a' in place of those of query 0\. Pass \{query: \{document: score\}\}",
    ),
    "hits of one query": (hits("q1"), r"has \{'id': 'b'.* in place of those of query 0"),
    "two lists": (
        [{"qid": "q1", "ids": ["a"], "scores": [1.0]}],
        r"has \{'qid': 'q1'.* in place of those of query 0",
    ),
    "a set": (
        {"q1": {"a", "b"}},
        r"value of query 'q1' is set, which has no order\. Pass .* a list of ids in the order",
    ),
    "a hit without an id": ({"q1": [{"text": "…", "score": 1.0}]}, r"an id for each document of query 'q1', such as"),
    "distances": (
        {"q1": [{"id": "a", "distance": 0.5}]},
        r"query 'q1' have distances.*Pass \{query: \{id: -distance",
    ),
    "some scores": ({"q1": [{"id": "a", "score": 1.0}, {"id": "b"}]}, r"The hit 'b' of query 'q1' has no score"),
    "scores and an order": (
        [{"qid": "q1", "docid": "a", "score": 1.0}, {"qid": "q1", "docid": "b"}],
        r"scores of some documents of a query, and only the order of others",
    ),
    "an id that is no id": ({"q1": ["a", 0.5]}, r"must name every document by a string or an integer.* 0\.5"),
    "ids and lists": ({"q1": ["a", ["b"]]}, r"an id for each document of query 'q1'.* but one is 'a'"),
    "twice": ({"q1": ["b", "a", "b"]}, r"document 'b' occurs twice for query 'q1', at places 1 and 3\. Keep one"),
    "NaN": ({"q1": [{"id": "a", "score": np.nan}]}, r"score of document 'a' for query 'q1' is nan, at place 1"),
    "nothing": ({"q1": [], "q2": []}, r"The run is empty"),
    "negative ranks": (
        pd.DataFrame({"qid": ["q1"], "docno": ["a"], "rank": [-1]}),
        r"must have a column for the score, called score",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    run, message = REFUSED[name]
    with pytest.raises(tp.InputError, match=message):
        tp.evaluate_run(QRELS, run)


# Repeated ids


def test_a_repeated_id_counts_at_its_first_place(tmp_path: Path) -> None:
    """The list is a, b, a, as retrievers of chunks return it: by hand, a is first."""
    lines = tmp_path / "run.txt"
    lines.write_text("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")
    frame = pd.DataFrame({"qid": "q", "docno": ["a", "b", "a"], "score": [1.0, 2.0, 3.0]})
    for run in ({"q": ["a", "b", "a"]}, {"q": [("a", 3), ("b", 2), ("a", 1)]}, lines, frame, {"q": {7: 1, "7": 0}}):
        with pytest.raises(tp.InputError, match=r"occurs twice for query 'q'.*or pass duplicates='first'"):
            tp.evaluate_run({"q": {"a": 1, "7": 1}}, run)
        found = tp.evaluate_run({"q": {"a": 1, "7": 1}}, run, measures=["RR", "NumRet"], duplicates="first")
        assert found["RR"].lower == 1.0
        assert "1 repeated id is left out: an item counts at its first place." in " ".join(str(found).split())
    assert (
        tp.evaluate_run({"q": ["a", "a"]}, {"q": ["b", "a"]}, measures=["AP"], duplicates="first")["AP"].lower == 0.5
    )
    with pytest.raises(tp.InputError, match="document 'a' has several grades for query 'q'"):
        tp.evaluate_run([ScoredDoc("q", "a", 1), ScoredDoc("q", "a", 2)], {"q": ["a"]}, duplicates="first")
    with pytest.raises(tp.InputError, match="Unknown duplicates='last'"):
        tp.evaluate_run(QRELS, SCORES, duplicates="last")  # type: ignore[arg-type]


def test_a_repeated_neighbor_counts_at_its_first_place() -> None:
    """By hand: items 1, 0, 1 of which 0 is relevant; without the copy, P@2 is 1/2, and of 3 items nothing is open."""
    given: dict[str, Any] = {"labels": [5], "gallery_labels": [5, 6, 6], "measures": ["RR", "P@2"]}
    forms: list[dict[str, Any]] = [{}, {"distances": [[0.1, 0.2, 0.3]]}, {"scores": np.array([[3, 2, 1]], np.uint8)}]
    for more in forms:
        with pytest.raises(tp.InputError, match="item 1 twice for query 0, at places 1 and 3"):
            tp.evaluate_neighbors([[1, 0, 1]], **given, **more)
        with pytest.raises(tp.InputError, match="contain 1 copies of items, but an exact search"):
            tp.evaluate_neighbors([[1, 0, 1]], **given, **more, duplicates="first")
        found = tp.evaluate_neighbors([[1, 0, 1]], **given, **more, duplicates="first", search="returned")
        assert (found["RR"].lower, found["RR"].upper, found["P@2"].lower) == (0.5, 0.5, 0.5)
        assert found.to_dict()["said"] == ["1 repeated id is left out: an item counts at its first place."]
        data = [[[1, 0, 1]], *([more["distances"]] if "distances" in more else [])]
        named = {name: value for name, value in more.items() if name == "scores"}
        assert tp.verify(found, *data, **named, labels=[5], gallery_labels=[5, 6, 6]).agrees


# The query's own document


def test_own_documents_are_left_out_of_run_and_judgments(tmp_path: Path) -> None:
    """By hand: q0 … q11 find themselves first, then d; one of them judges itself, too."""
    qrels: dict[str, Any] = {f"q{i}": {f"d{i}": 1} for i in range(12)}
    qrels["q0"]["q0"] = 1
    run = {f"q{i}": {f"q{i}": 9.0, f"d{i}": 5.0, "x": 1.0} for i in range(12)}
    said = r"12 of 12 queries find .* RR is 0\.5417 .*; without these documents it is 1\.0000 .*own='drop' \(--own"
    for given in (run, {query: [*scores.items()] for query, scores in run.items()}):
        with pytest.warns(tp.InputWarning, match=said):
            tp.evaluate_run(qrels, given, measures=["Success@2", "RR"])
        found = tp.evaluate_run(qrels, given, measures=["RR", "AP"], own="drop")
        assert (found["RR"].lower, found["AP"].upper) == (1.0, 1.0)
        assert "12 documents with the id of their query are left out of the run." in " ".join(str(found).split())
    found.save(tmp_path / "run.tieproof")
    assert tp.verify(tmp_path / "run.tieproof", qrels, run).agrees
    assert {**(found.as_printed("trec_eval", qrels=qrels, run=run).printed or {})}["RR"] == 1.0
    board = tp.leaderboard(qrels, {"one": run, "other": run}, own="drop")
    assert [system.score.lower for system in board.systems] == [1.0, 1.0]
    tp.evaluate_run(qrels, run, measures=["Success@2"])  # dropping would change nothing
    with pytest.raises(tp.InputError, match="only documents with the id of their query"):
        tp.evaluate_run({"q": {"a"}}, {"q": {"q": 1.0}}, own="drop")


def test_rules_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = {query: [f"{query}0"] for query in ("a", "b", "c")}
    run = {query: [query, f"{query}0", f"{query}1", f"{query}0"] for query in qrels}
    for name, content in (("qrels.json", qrels), ("one.json", run), ("other.json", run)):
        (tmp_path / name).write_text(json.dumps(content))
    files = [str(tmp_path / name) for name in ("qrels.json", "one.json", "other.json")]
    options = ["--own", "drop", "--duplicates", "first", "-m", "RR"]
    assert exit_status("leaderboard", *files, *options, "-q") == 0
    assert capsys.readouterr().out == "1\t1.0\tone\n1\t1.0\tother\n"
    assert exit_status("compare", "--qrels", *files, *options, "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["systems"]["one"]["RR"]["lower"] == 1.0
    np.savez(tmp_path / "found.npz", ids=[[1, 0, 1]], labels=[5], gallery=[5, 6, 6])
    found = tmp_path / "found.npz"
    given = [f"{found}:ids", "--labels", f"{found}:labels", "--gallery-labels", f"{found}:gallery"]
    assert exit_status("neighbors", *given, "--search", "returned", "-m", "RR", "--json", "-") == 2
    assert "at places 1 and 3" in capsys.readouterr().err
    assert exit_status("neighbors", *given, "--search", "returned", "--duplicates", "first", "-m", "RR") == 0
    assert "1 repeated id is left out" in capsys.readouterr().out


# Chunks

CHUNKS = {"A0": "A", "A1": "A", "B0": "B", "C0": "C", "C1": "C"}


@pytest.mark.parametrize(
    "scores", [(3, 2, 3, 1, 3), (1, 1, 1, 1, 1), (2, 1, 1, 2, 1), (5, 4, 3, 2, 1), (-0.0, 0, 0, -5e-324, 0)]
)
def test_a_document_counts_by_its_best_chunk(scores: tuple[float, ...]) -> None:
    """Every order of tied chunks, of which each document keeps its first place."""
    run = dict(zip(CHUNKS, map(float, scores), strict=True))
    found = tp.evaluate_run({"q": {"B": 1, "C": 1}}, {"q": run}, measures=["RR", "AP"], documents=CHUNKS)
    orders = {
        tuple(dict.fromkeys(CHUNKS[chunk] for chunk in order))
        for order in permutations(run)
        if all(run[one] >= run[other] for one, other in pairwise(order))
    }
    for name, value in (("RR", reciprocal_rank), ("AP", average_precision)):
        values = [value(order) for order in orders]
        expected = float(min(values)), float(sum(values) / len(values)), float(max(values))
        assert (found[name].lower, found[name].expected, found[name].upper) == pytest.approx(expected, rel=1e-12)
    assert found.to_dict()["said"] == ["5 chunks count as 3 documents, each by its best chunk."]


def reciprocal_rank(order: tuple[str, ...]) -> Fraction:
    return Fraction(1, 1 + next(place for place, name in enumerate(order) if name in "BC"))


def average_precision(order: tuple[str, ...]) -> Fraction:
    places = [place for place, name in enumerate(order, 1) if name in "BC"]
    return sum((Fraction(hit, place) for hit, place in enumerate(places, 1)), Fraction()) / 2


def test_only_a_last_tie_that_holds_a_best_chunk_may_continue() -> None:
    """The list was cut off. After B, the last document, came another chunk of A, with the same score or not."""
    qrels = {"q": {"B": 1, "D": 1}}
    documents = tp.evaluate_run(qrels, {"q": {"A": 3.0, "B": 2.0}}, measures=["AP"], truncated=True)["AP"]
    complete = tp.evaluate_run(qrels, {"q": {"A": 3.0, "B": 2.0}}, measures=["AP"])["AP"]
    assert documents.lower < complete.lower == complete.upper < documents.upper
    for last, length, expected in (
        *((1.0, True, complete), (1.0, 3, complete), (1.0, 4, complete)),
        *((2.0, True, documents), (2.0, 3, documents), (2.0, 4, complete)),
    ):
        run = {"q": [("A0", 3.0), ("B0", 2.0), ("A1", last)]}
        assert tp.evaluate_run(qrels, run, measures=["AP"], documents=CHUNKS, truncated=length)["AP"] == expected


def test_documents_of_chunks_by_a_function_and_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, qrels, file = (
        {"q": {"A0": 0.9, "A1": 0.8, "B0": 0.7, "C0": 0.1}},
        {"q": {"B": 1}},
        tmp_path / "documents.txt",
    )
    file.write_text("".join(f"{chunk} {document}\n" for chunk, document in CHUNKS.items()))
    for documents in (CHUNKS, file, lambda chunk: chunk[0]):
        found = tp.evaluate_run(qrels, run, measures=["RR"], documents=documents)
        assert found["RR"].lower == 0.5
        assert tp.verify(found, qrels, run, documents=documents).agrees
        printed = found.as_printed("trec_eval", qrels=qrels, run=run, documents=documents).printed
        assert {**(printed or {})} == {"RR": 0.5}
    for name, content in (("qrels.json", qrels), ("run.json", run)):
        (tmp_path / name).write_text(json.dumps(content))
    arguments = [str(tmp_path / "qrels.json"), str(tmp_path / "run.json"), "--documents", str(file)]
    assert exit_status("run", *arguments, "-m", "RR", "-q") == 0
    assert capsys.readouterr().out.split("\n")[0].endswith("0.5000")
    with pytest.raises(tp.InputError, match="The run has 'C0', of which documents does not tell the document"):
        tp.evaluate_run(qrels, run, documents={"A0": "A", "A1": "A", "B0": "B"})
    with pytest.raises(tp.InputError, match=r"documents must be .*, not int"):
        tp.evaluate_run(qrels, run, documents=7)
