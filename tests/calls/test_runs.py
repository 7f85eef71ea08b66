"""Runs and judgments: files, dictionaries and frames, policies, errors, and the definition of every measure."""

import gzip
import os
import random
import unicodedata
import warnings
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import oracle
import tieproof as tp
from tieproof.evaluation.runs import evaluate_run
from tieproof.inputs.lists import HOW
from tieproof.inputs.readers import lines, trec

Judgments = dict[str, dict[str, float]]

MEASURES = ["AP", "AP@3", "AP(norm=hits)@3", "P@2", "R@3", "Rprec", "RR", "Success@1", "INP", "AUC", "RBP"]
GRADED = ["nDCG", "nDCG@2", "nDCG(gain=exp)", "nDCG(ideal=list)", "nDCG(gain=exp)@3"]


def example(graded: bool = True, seed: int = 5, count: int = 20) -> tuple[Judgments, Judgments]:
    """Judgments and a run with ties, missing, unjudged and negatively judged documents."""
    source = random.Random(seed)
    grades = [-2, 0, 0, 1, 2, 3] if graded else [-1, 0, 0, 1, 1]
    qrels: Judgments = {}
    run: Judgments = {}
    for query in range(count):
        documents = [f"d{number}" for number in range(9)]
        qrels[f"q{query}"] = {name: source.choice(grades) for name in source.sample(documents, 6)}
        qrels[f"q{query}"]["d9"] = 1
        run[f"q{query}"] = {
            name: source.choice((0.5, 1.25, -3.0)) for name in source.sample([*documents, "d9"], source.randint(2, 6))
        }
    return qrels, run


def ranking_of(judged: dict[str, float], scores: dict[str, float]) -> tuple[oracle.Ranking, oracle.Ordering]:
    """The ties of a query and the grades of the relevant documents that were not retrieved."""
    ranking: oracle.Ranking = [
        [Fraction(max(judged.get(name, 0), 0)) for name, score in scores.items() if score == level]
        for level in sorted(set(scores.values()), reverse=True)
    ]
    missing = tuple(Fraction(grade) for name, grade in judged.items() if grade > 0 and name not in scores)
    return ranking, missing


def lines_of_qrels(qrels: Judgments) -> list[str]:
    return [f"{query} 0 {name} {grade}" for query, inner in qrels.items() for name, grade in inner.items()]


def lines_of_run(run: Judgments, rank: str = "1") -> list[str]:
    return [
        f"{query} Q0 {name} {rank} {score!r} tag" for query, inner in run.items() for name, score in inner.items()
    ]


def write(path: Path, lines: list[str], pack: bool = False) -> Path:
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if pack else text)
    return path


def definition_of(measure: str) -> tuple[oracle.Definition, int | None]:
    name, _, cutoff = measure.partition("@")
    return oracle.DEFINITIONS[name], int(cutoff) if cutoff else None


@pytest.mark.parametrize("graded", [False, True])
def test_values_are_those_of_the_definition(graded: bool) -> None:
    qrels, run = example(graded)
    measures = [*MEASURES, *GRADED]
    result = evaluate_run(qrels, run, measures=measures)
    assert result.query_ids.tolist() == sorted(qrels)
    for measure in measures:
        got = result.per_query(measure)
        for at, query in enumerate(result.query_ids):
            ranking, missing = ranking_of(qrels[query], run[query])
            definition, cutoff = definition_of(measure)
            one = oracle.enumerate_orderings(definition, ranking, missing, cutoff)
            expected = [float(one.lower), float(one.expected), float(one.upper)]
            assert [got.lower[at], got.expected[at], got.upper[at]] == pytest.approx(expected, rel=1e-12)
            assert got.std[at] == pytest.approx(one.std, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize("measure", ["nDCG", "nDCG@2", "nDCG(gain=exp)", "AP", "P@2", "RR", "AP(norm=hits)@3"])
def test_truncated_bounds_are_those_of_all_continuations(measure: str, others: int) -> None:
    qrels, run = example(count=12)
    definition, cutoff = definition_of(measure)
    for query in qrels:
        ranking, missing = ranking_of(qrels[query], run[query])
        n_items = sum(map(len, ranking)) + len(missing) + others
        result = evaluate_run(
            {query: qrels[query]}, {query: run[query]}, measures=[measure], truncated=True, n_items=n_items
        )
        found = []
        for chosen in range(2 ** len(missing)):
            joining = [grade for at, grade in enumerate(missing) if chosen >> at & 1]
            rest = tuple(grade for at, grade in enumerate(missing) if not chosen >> at & 1)
            for more in range(others + 1):
                last = [*ranking[-1], *joining, *[0] * more]
                if len(last) <= 6:
                    found.append(oracle.enumerate_orderings(definition, [*ranking[:-1], last], rest, cutoff))
        if len(ranking[-1]) + len(missing) + others <= 6:
            expected = (float(min(one.lower for one in found)), float(max(one.upper for one in found)))
            assert (result[measure].lower, result[measure].upper) == pytest.approx(expected, rel=1e-12)


def test_truncated_says_which_lists_may_go_on() -> None:
    qrels = {"q1": {"d1": 1, "d2": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}}
    run = {"q1": {"d1": 0.5}, "q2": {"d1": 2.0, "d7": 1.0}}
    whole = evaluate_run(qrels, run, measures=["AP", "AUC"])
    assert whole.ties.queries_with_open_last_tie == 0
    result = evaluate_run(qrels, run, measures=["AP", "AUC"], truncated=True)
    assert result.ties.queries_with_open_last_tie == 1
    assert result.per_query("AP").lower.tolist() == [0.0, 1.0, 0.0]
    assert result.per_query("AP").upper.tolist() == [1.0, 1.0, 0.0]
    assert result.per_query("AUC").upper.tolist() == [1.0, 1.0, 0.0]


def test_order_names_and_ranks_change_no_bit(tmp_path: Path) -> None:
    qrels, run = example()
    measures = [*MEASURES, *GRADED]
    expected = evaluate_run(
        write(tmp_path / "qrels", lines_of_qrels(qrels)),
        write(tmp_path / "run", lines_of_run(run)),
        measures=measures,
    ).to_json()
    for seed in range(3):
        source = random.Random(seed)
        names = [f"d{number}" for number in range(10)]
        renamed = dict(zip(names, source.sample([f"new/{name}" for name in names], len(names)), strict=True))
        both = [
            {query: {renamed[name]: value for name, value in inner.items()} for query, inner in side.items()}
            for side in (qrels, run)
        ]
        judged, ranked = lines_of_qrels(both[0]), lines_of_run(both[1], rank=str(seed))
        source.shuffle(judged)
        source.shuffle(ranked)
        got = evaluate_run(write(tmp_path / "qrels", judged), write(tmp_path / "run", ranked), measures=measures)
        assert got.to_json() == expected


def frame(values: Judgments, names: tuple[str, str, str]) -> pd.DataFrame:
    rows = [(query, name, value) for query, inner in values.items() for name, value in inner.items()]
    return pd.DataFrame(rows, columns=list(names))


FORMS: dict[str, tuple[tuple[str, str, str], tuple[str, str, str]]] = {
    "ir_measures": (("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")),
    "PyTerrier": (("qid", "docno", "label"), ("qid", "docno", "score")),
    "BEIR": (("query-id", "corpus-id", "score"), ("query-id", "corpus-id", "score")),
    "ranx": (("q_id", "doc_id", "score"), ("q_id", "doc_id", "score")),
}


def test_files_packed_files_dictionaries_and_frames_agree(tmp_path: Path) -> None:
    qrels, run = example()
    expected = evaluate_run(qrels, run)
    judged, ranked = lines_of_qrels(qrels), lines_of_run(run)
    beir = ["query-id\tcorpus-id\tscore", *("\t".join(line.split()[::2] + line.split()[3:]) for line in judged)]
    pairs: list[tuple[Any, Any]] = [
        (write(tmp_path / "beir.tsv", beir), run),
        (write(tmp_path / "beir.tsv.gz", ["\ufeff" + beir[0] + "\r", *beir[1:]], pack=True), run),
        (write(tmp_path / "a", judged), write(tmp_path / "b", ranked)),
        (str(write(tmp_path / "a.gz", judged, pack=True)), str(write(tmp_path / "b.gz", ranked, pack=True))),
        (qrels, str(tmp_path / "b")),
        *((frame(qrels, names), frame(run, others)) for names, others in FORMS.values()),
    ]
    for pair in pairs:
        got = evaluate_run(*pair)
        assert got.to_json() == expected.to_json()
        assert (got.query_ids == expected.query_ids).all()
        assert (got.per_query("AP").lower == expected.per_query("AP").lower).all()


def test_blanks_empty_lines_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"\xef\xbb\xbfq1\t0\td1\t1\r\n\r\n  q1 0 d2 0.5  \r\n")
    (tmp_path / "run").write_bytes(b"\n\nq1 Q0 d1 7 1e-3 x\n \t \nq1 Q0 d2 7 .5 x")
    result = evaluate_run(tmp_path / "qrels", tmp_path / "run", measures=["nDCG", "AP"])
    assert result.per_query("AP").lower.tolist() == [1.0]
    assert result.query_ids.tolist() == ["q1"]


def test_pieces_keep_lines_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = example()
    paths = write(tmp_path / "a", ["", *lines_of_qrels(qrels)]), write(tmp_path / "b", lines_of_run(run))
    expected = evaluate_run(*paths).to_json()
    for size in (1, 7, 64):
        monkeypatch.setattr(lines, "PIECE_BYTES", size)
        assert evaluate_run(*paths).to_json() == expected
        documents, *_ = trec.read(paths[0], trec.QRELS, trec.numbering())
        assert [lines.line_at(documents.text, documents.at[row]) for row in (0, 5)] == [2, 7]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("length", [10, 70])
def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, packed: bool
) -> None:
    """A file that is cut short, which would kill a process that maps it, and a file that grows."""
    run, read_bytes = tmp_path / "run", Path.read_bytes
    text = b"q1 Q0 d1 1 0.5 t\n" * 3
    run.write_bytes(gzip.compress(text) if packed else text)

    def reading(path: Path) -> bytes:
        content = read_bytes(path)
        os.truncate(run, length)
        os.utime(run, ns=(0, 0))
        return content

    monkeypatch.setattr(Path, "read_bytes", reading)
    with pytest.raises(tp.InputError, match=r"run changed while it was evaluated"):
        tp.evaluate_run({"q1": {"d1": 1}}, run)


def test_integer_ids_are_the_strings_they_print_as() -> None:
    assert evaluate_run({1: {7: 1}}, {"1": {"7": 0.5, "8": 0.25}}, measures=["AP"])["AP"].lower == 1.0
    qrels = pd.DataFrame({"qid": [1], "docno": [7], "label": [1]})
    assert evaluate_run(qrels, {1: {np.int64(7): 2, 8: 1}}, measures=["AP"]).query_ids.tolist() == ["1"]


def test_large_integers_keep_their_order() -> None:
    run = {"q": {"a": 2**53 + 1, "b": 2**53}}
    assert evaluate_run({"q": {"a": 1}}, run, measures=["P@1"])["P@1"].lower == 1.0
    for option in ({"noise": 0.5}, {"precision": "float32"}):  # the distances of ranks are not those of scores
        with pytest.raises(tp.InputError, match=r"integers beyond 2\*\*53 as scores, .* Subtract the same integer"):
            tp.evaluate_run({"q": {"a": 1}}, run, measures=["RR"], **option)
    small = {"q": {"a": 1, "b": 0}}  # the same, less 2**53
    assert tp.evaluate_run({"q": {"a": 1}}, small, measures=["RR"], noise=0.5)["RR"].noise == tp.Bounds(0.5, 1.0)


def test_negative_grades_are_not_relevant_and_stay_in_the_ranking() -> None:
    run = {"q": {"a": 3.0, "b": 2.0}}
    assert evaluate_run({"q": {"a": -1, "b": 1}}, run, measures=["RR"])["RR"].lower == 0.5
    assert evaluate_run({"q": {"a": 0, "b": 1}}, run, measures=["RR"])["RR"].lower == 0.5
    assert evaluate_run({"q": {"b": 1}}, run, measures=["RR"])["RR"].lower == 0.5


QRELS = {"q1": {"d1": 1}, "q2": {"d1": 1, "d2": 2}, "q3": {"d1": 0}}
RUN_OF_ONE = {"q1": {"d1": 1.0}, "q9": {"d1": 1.0}}


def test_missing_queries_count_zero_everywhere() -> None:
    measures = [*MEASURES, *GRADED]
    result = evaluate_run(QRELS, RUN_OF_ONE, measures=measures)
    assert result.query_ids.tolist() == ["q1", "q2"]
    for measure in measures:
        got = result.per_query(measure)
        assert [got.lower[1], got.expected[1], got.upper[1], got.std[1]] == [0, 0, 0, 0]
    assert result["AP"].lower == 0.5
    assert {reason: ids.tolist() for reason, ids in result.skipped.items()} == {
        "no judgment in the qrels": ["q9"],
        "no relevant item": ["q3"],
    }
    assert str(result).count("1 query with") == 2
    assert "Evaluated 2 of 4 queries" in result.to_text(explain=True)


def test_missing_queries_are_skipped() -> None:
    result = evaluate_run(QRELS, RUN_OF_ONE, measures=["AP"], missing="skip", empty="zero")
    assert result.query_ids.tolist() == ["q1", "q3"]
    assert result["AP"].lower == 0.5
    assert {reason: ids.tolist() for reason, ids in result.skipped.items()} == {
        "no document in the run": ["q2"],
        "no judgment in the qrels": ["q9"],
    }
    assert result.empty_ids.tolist() == ["q3"]


GOOD_QRELS, GOOD_RUN = "q1 0 d1 1\n", "q1 Q0 d1 1 0.5 tag\n"
RUN_COLUMNS = "A line of a TREC run has the 6 columns query, Q0, document, rank, score, tag."
RUN_COLUMNS += " A run of MS MARCO has the 3 columns query, document, rank."
THREE_COLUMNS = "A line of a run of three columns has the 3 columns query, document, rank or score."
QRELS_COLUMNS = "A line of TREC qrels has the 4 columns query, iteration, document, grade. "
QRELS_COLUMNS += "Qrels of BEIR begin with their header: query-id, corpus-id, score."
BEIR_HEADER, BEIR_COLUMNS = (
    "query-id\tcorpus-id\tscore\n",
    "A line of BEIR qrels has the 3 columns query, document, grade.",
)

FILES: dict[str, tuple[str, str, str]] = {
    "columns": (
        GOOD_QRELS,
        f"{GOOD_RUN}\nq1 Q0 d2 1 0.5\n",
        "RUN has 5 columns on line 3: 'q1 Q0 d2 1 0.5'. " + RUN_COLUMNS,
    ),
    "one column": ("q1\n", GOOD_RUN, "QRELS has 1 column on line 1: 'q1'. " + QRELS_COLUMNS),
    "columns that add up": (
        GOOD_QRELS,
        "q1 Q0 d1 1 0.5\nq1 Q0 d2 1 0.5 tag more\n",
        "RUN has 5 columns on line 1: 'q1 Q0 d1 1 0.5'. " + RUN_COLUMNS,
    ),
    "BEIR without its header": (
        "q1\td1\t1\n",
        GOOD_RUN,
        "QRELS has 3 columns on line 1: 'q1\td1\t1'. " + QRELS_COLUMNS,
    ),
    "BEIR with another line": (
        BEIR_HEADER + "q1 d1 1\nq1 0 d2 1\n",
        GOOD_RUN,
        "QRELS has 4 columns on line 3: 'q1 0 d2 1'. " + BEIR_COLUMNS,
    ),
    "BEIR with a word": (
        BEIR_HEADER + "\nq1 d1 yes\n",
        GOOD_RUN,
        "QRELS has 'yes' as the grade on line 3, where a number is expected. " + BEIR_COLUMNS,
    ),
    "BEIR with a document twice": (
        BEIR_HEADER + "q1 d1 1\nq1 d1 2\n",
        GOOD_RUN,
        "QRELS: document 'd1' occurs twice for query 'q1', on lines 2 and 3. Keep one of them.",
    ),
    "only a header of BEIR": (BEIR_HEADER, GOOD_RUN, "QRELS has only empty lines or comments. " + BEIR_COLUMNS),
    "a run with the header of BEIR": (
        GOOD_QRELS,
        BEIR_HEADER + "q1 d1 1\n",
        "RUN has 'score' as the rank or score on line 1, where a number is expected. " + THREE_COLUMNS,
    ),
    "a table with commas": (
        GOOD_QRELS,
        "query_id,doc_id,score\nq1,d1,0.5\n",
        "RUN has 1 column on line 1: 'query_id,doc_id,score'. "
        + RUN_COLUMNS
        + " For a table with commas, pass the data "
        "frame of pandas.read_csv to tp.evaluate_run.",
    ),
    "a file of another kind": (
        GOOD_QRELS,
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "RUN cannot be read as a TREC run: it begins like a Git LFS pointer (run `git lfs pull`); give the right "
        "file or extension.",
    ),
    "more columns in qrels": (
        "# query 0 document grade\nq1 0 d1 1 more\n",
        GOOD_RUN,
        "QRELS has 5 columns on line 2: 'q1 0 d1 1 more'. " + QRELS_COLUMNS,
    ),
    "swapped": (
        GOOD_RUN,
        GOOD_QRELS,
        "QRELS contains a TREC run, not TREC qrels. Pass the qrels first, then the run.",
    ),
    "no number": (
        GOOD_QRELS,
        f"{GOOD_RUN}q1 Q0 d2 1 high tag\n",
        "RUN has 'high' as the score on line 2, where a number is expected. " + RUN_COLUMNS,
    ),
    "underscore": (
        GOOD_QRELS,
        "q1 Q0 d1 1 1_0 tag\n",
        "RUN has '1_0' as the score on line 1, where a number is expected. " + RUN_COLUMNS,
    ),
    "nan": (
        GOOD_QRELS,
        f"{GOOD_RUN}\nq1 Q0 d2 1 nan tag\n",
        "RUN: the score of document 'd2' for query 'q1' is nan, on line 3. Every score must be a finite number; "
        "leave out documents without a score.",
    ),
    "infinite grade": (
        "q1 0 d1 inf\n",
        GOOD_RUN,
        "QRELS: the grade of document 'd1' for query 'q1' is inf, on line 1. Every grade must be a finite number; "
        "leave out documents without a grade.",
    ),
    "twice in the run": (
        GOOD_QRELS,
        "q1 Q0 d1 1 1 t\n\nq2 Q0 d1 1 1 t\nq1 Q0 d2 1 1 t\nq1 Q0 d1 9 0 t\nq1 Q0 d2 1 1 t\n",
        f"RUN: document 'd1' occurs twice for query 'q1', on lines 1 and 5. {HOW}",
    ),
    "twice in the qrels": (
        "q1 0 d1 1\nq1 1 d1 1\n",
        GOOD_RUN,
        "QRELS: document 'd1' occurs twice for query 'q1', on lines 1 and 2. Keep one of them.",
    ),
    "blank": (GOOD_QRELS, "\n \n", "RUN has only empty lines or comments. " + RUN_COLUMNS),
    "empty": ("", GOOD_RUN, "QRELS is empty (0 bytes), perhaps because writing it failed; write it again."),
    "binary": (
        GOOD_QRELS,
        "q1\0\n",
        "RUN cannot be read as a TREC run: it has NUL characters, as damaged, packed or UTF-16 files do; write it "
        "again, unpack it, or save it as UTF-8.",
    ),
    "strangers": (
        GOOD_QRELS,
        "q8 Q0 d1 1 1 t\nq7 Q0 d1 1 1 t\n",
        "The run has no query of the qrels: the qrels have queries such as 'q1', the run such as 'q7'. "
        "Check that the qrels and the run belong together.",
    ),
    "nothing relevant": (
        "q1 0 d1 0\n",
        GOOD_RUN,
        "No query has both a relevant document in the qrels (a grade above 0) and a document in the run. Check the "
        "grades, and that the qrels and the run belong together.",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_are_refused(name: str, tmp_path: Path) -> None:
    judged, ranked, message = FILES[name]
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text(judged)
    run.write_text(ranked)
    with pytest.raises(tp.InputError) as error:
        evaluate_run(qrels, run)
    assert str(error.value) == message.replace("QRELS", str(qrels)).replace("RUN", str(run))


def test_comments_and_text_behind_the_tag_are_not_read(tmp_path: Path) -> None:
    """As trec_eval 10 reads them."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("# q1 0 d2 1\nq1 0 d1 1\n  #\n\n#q1 d3 1\nq1 0 d4 0\n")
    run.write_text("#\nq1 Q0 d1 1 0.5 tag of a system # 7\nq1 Q0 d2 2 0.5 tag\n# q1 Q0 d5 1 9 tag\n")
    found = evaluate_run(qrels, run, measures=["AP"])
    assert (
        found["AP"] == evaluate_run({"q1": {"d1": 1, "d4": 0}}, {"q1": {"d1": 0.5, "d2": 0.5}}, measures=["AP"])["AP"]
    )
    beir = tmp_path / "beir.tsv"
    beir.write_text("# of BEIR\n" + BEIR_HEADER + "q1 d1 1\nq1 d4 0\n")
    assert evaluate_run(beir, run, measures=["AP"])["AP"] == found["AP"]


def test_comments_that_may_be_rows_are_counted(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("#sale 0 d1 1\nq2 0 d3 1\n  #sale 0 d#2 0\n# q2 0 d4\n")
    run.write_text("q2 Q0 d3#1 1 0.7 # 5\n# query Q0 document rank score tag\n#\tQ0\td\t1\t2\tt\nq2 Q0 d3 2 0.5 t\n")
    with pytest.warns(tp.InputWarning) as warned:
        result = evaluate_run(qrels, run, measures=["RR"])
    assert [str(each.message) for each in warned] == [
        f"{qrels}: 2 of the lines that begin with # have all columns, but are left out as comments; the first is "
        "'#sale 0 d1 1'. If '#sale' is a query, rename it in the qrels and in the run, or pass both as dictionaries."
    ]
    assert result.query_ids.tolist() == ["q2"]


def test_lines_may_end_as_on_old_macs(tmp_path: Path) -> None:
    qrels, run = example()
    expected = evaluate_run(qrels, run).to_json()
    for ends in ("\r", "\r\n", "\r\r\n"):
        paths = tmp_path / "qrels", tmp_path / "run.gz"
        paths[0].write_bytes("".join(line + ends for line in lines_of_qrels(qrels)).encode())
        paths[1].write_bytes(gzip.compress(ends.join(lines_of_run(run)).encode()))
        assert evaluate_run(*paths).to_json() == expected
    paths[0].write_bytes(b"q1 0 d1 1\rq1 0 d2\r")
    with pytest.raises(tp.InputError, match="has 3 columns on line 2: 'q1 0 d2'"):
        evaluate_run(*paths)


def test_ids_between_tabs_may_contain_blanks(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    judged, ranked = (
        {"a query": {"New York": 1, "Rome": 0}},
        {"a query": {"Rome": 0.5, "New York": 0.25, "York": 0.1}},
    )
    expected = evaluate_run(judged, ranked).to_json()
    by_subtopic = tp.evaluate_diversity({"a query": {"b c": judged["a query"]}}, ranked).to_json()
    for column in ("0", "b c"):
        qrels.write_text("".join(f"a query\t{column}\t{name}\t{n}\n" for name, n in judged["a query"].items()))
        run.write_text("".join(f"a query\tQ0\t{name}\t1\t {n}\tmy tag\n" for name, n in ranked["a query"].items()))
        assert evaluate_run(qrels, run).to_json() == expected
    assert tp.evaluate_diversity(qrels, run).to_json() == by_subtopic
    run.write_text("".join(f"a query\t{name}\t{n}\n" for name, n in ranked["a query"].items()))
    assert evaluate_run(qrels, run).to_json() == expected
    run.write_text("q1 Q0\td1 1 0.5 tag\n")  # blanks and tabs
    assert evaluate_run({"q1": {"d1": 1}}, run, measures=["RR"])["RR"].lower == 1


def test_names_in_different_forms_of_unicode_are_refused(tmp_path: Path) -> None:
    one, other = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
    with pytest.raises(tp.InputError, match="different encodings: for query 'q', a document"):
        evaluate_run({"q": {one: 1, "b": 1}}, {"q": {other: 2.0, "b": 1.0}})
    run = tmp_path / "run"
    run.write_text(f"{other} Q0 a 1 2 t\nq Q0 b 1 1 t\n")
    for ranked in (run, {other: {"a": 2.0}, "q": {"b": 1.0}}):
        with pytest.raises(tp.InputError, match="different encodings: a query"):
            evaluate_run({one: {"a": 1}, "q": {"b": 1}}, ranked)
        assert evaluate_run({other: {"a": 1}, "q": {"b": 1}, "fée": {"a": 1}}, ranked, measures=["RR"])


def test_names_without_their_foreign_letters_are_other_names() -> None:
    qrels, run = {"q": {"京1": 1, "x": 1}, "京": {"x": 1}}, {"q": {"1": 2.0, "x": 1.0}, "": {"x": 1.0}}
    for ranked in (
        run,
        {query: {name: int(score) for name, score in scores.items()} for query, scores in run.items()},
    ):
        assert evaluate_run(qrels, ranked, measures=["R@2"], missing="skip")["R@2"].lower == 0.5


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "NFD"])
def test_documents_in_different_encodings_are_refused(encoding: str, tmp_path: Path) -> None:
    def encoded(text: str, form: str) -> bytes:
        return unicodedata.normalize("NFD", text).encode() if form == "NFD" else text.encode(form)

    qrels, run = tmp_path / "qrels", tmp_path / "run"
    for forms in (("utf-8", encoding), (encoding, "utf-8")):
        qrels.write_bytes(encoded("q 0 café 1\nq 0 x 1\n", forms[0]))
        run.write_bytes(encoded("q Q0 x 1 2 t\nq Q0 café 2 1 t\n", forms[1]))
        with pytest.raises(tp.InputError, match="qrels and the run are in different encodings: for query 'q'"):
            evaluate_run(qrels, run)
    run.write_bytes(encoded("q Q0 x 1 2 t\nq Q0 é 2 1 t\n", forms[1]))  # another document
    assert evaluate_run(qrels, run, measures=["R@9"])["R@9"].lower == 0.5
    qrels.write_bytes("q 0 café 1\nq 0 x 1\n".encode("latin-1"))
    with pytest.raises(tp.InputError, match="different encodings"):
        evaluate_run(qrels, {"q": {"x": 2.0, "café": 1.0}})


@pytest.mark.parametrize("first", [0, 1])
def test_three_columns_of_ranks_rank_by_them(first: int, tmp_path: Path) -> None:
    run = tmp_path / "run.tsv"
    run.write_text(f"1\t30\t{first + 2}\n1\t20\t{first + 1}\n2\t10\t{first}\n1\t10\t{first}\n")
    found = evaluate_run({"1": {"30": 1}, "2": {"10": 1}}, run, measures=["RR"]).per_query("RR")
    assert found.lower.tolist() == found.upper.tolist() == [1 / 3, 1]


@pytest.mark.parametrize(
    ("numbers", "may_be_ranks"),
    [("1 3 1 2", True), ("2 5 3 4", True), ("3 2 5 1", False), ("1 1 2 1", False), ("-1 0 1 0", False)],
)
def test_three_columns_of_other_whole_numbers_are_scores_with_a_warning_if_they_may_be_ranks(
    numbers: str, may_be_ranks: bool, tmp_path: Path
) -> None:
    run, scores = tmp_path / "run.tsv", [*map(float, numbers.split())]
    run.write_text("".join(f"q{n // 2} d{n} {score:g}\n" for n, score in enumerate(scores)))
    said = r"run\.tsv: the third column is read as scores, where larger is nearer"
    with pytest.warns(tp.InputWarning, match=said) if may_be_ranks else nullcontext():
        found = evaluate_run({"q0": {"d0": 1}, "q1": {"d2": 1}}, run, measures=["RR"])
    as_dictionary = {"q0": {"d0": scores[0], "d1": scores[1]}, "q1": {"d2": scores[2], "d3": scores[3]}}
    assert found["RR"] == evaluate_run({"q0": {"d0": 1}, "q1": {"d2": 1}}, as_dictionary, measures=["RR"])["RR"]


def test_three_columns_of_fractions_are_scores(tmp_path: Path) -> None:
    run = tmp_path / "run.tsv"
    run.write_text("q1 d1 2\nq1 d2 2.5\n")
    assert evaluate_run({"q1": {"d2": 1}}, run, measures=["RR"])["RR"].lower == 1


def by_distance(queries: int, reverse: int) -> list[tuple[str, str, int, float]]:
    """The query, document, rank and score of each line of a run, in which some lists have distances as scores."""
    return [
        (f"q{q}", f"d{q}{r}", r, 0.1 * (r if q < reverse else 9 - r)) for q in range(queries) for r in range(1, 6)
    ]


@pytest.mark.parametrize("form", ["file", "frame"])
def test_ranks_that_contradict_the_scores_of_most_lists(form: str, tmp_path: Path) -> None:
    qrels = {f"q{q}": {f"d{q}1": 1} for q in range(4)}
    for reverse, said in ((0, False), (2, False), (3, True), (4, True)):
        rows = by_distance(4, reverse)
        run: Any = pd.DataFrame(rows, columns=["qid", "docno", "rank", "score"])
        if form == "file":
            run = write(tmp_path / "run", [f"{q} Q0 {d} {r} {score} t" for q, d, r, score in rows])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mean = evaluate_run(qrels, run, measures=["RR"])["RR"].lower
        by_scores = (reverse / 5 + 4 - reverse) / 4
        assert mean == pytest.approx(by_scores)
        messages = [str(each.message) for each in caught]
        assert len(messages) == said
        for message in messages:
            assert (
                f"the ranks contradict the scores in {reverse} of 4 lists; the first is that of query 'q0'" in message
            )
            assert f"RR is {by_scores:.4f} ≤" in message
            assert "by the ranks it is 1.0000 ≤" in message


def test_equal_scores_and_equal_ranks_contradict_nothing(tmp_path: Path) -> None:
    run = write(tmp_path / "run", [f"q Q0 d{n} {rank} 0.5 t" for n, rank in enumerate((3, 1, 2))])
    evaluate_run({"q": {"d1": 1}}, run)
    evaluate_run({"q": {"d1": 1}}, write(tmp_path / "run", [f"q Q0 d{n} 1 {n} t" for n in range(3)]))
    evaluate_run({"q": {"d1": 1}}, write(tmp_path / "run", [f"q Q0 d{n} - {n} t" for n in range(3)]))


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tp.InputError, match=r"nowhere does not exist; check the path and its spelling\."):
        evaluate_run(QRELS, tmp_path / "nowhere")
    whole = write(tmp_path / "run.gz", lines_of_run(example()[1]), pack=True)
    whole.write_bytes(whole.read_bytes()[:-20])
    with pytest.raises(tp.InputError, match=r"run.gz cannot be unpacked: the gzip file is damaged or cut short"):
        evaluate_run(QRELS, whole)
    (tmp_path / "latin").write_bytes("qä 0 d1 1\n".encode("latin-1"))
    with pytest.raises(
        tp.InputError, match=r"The query 'q\ufffd' is not encoded in UTF-8\. Convert the file to UTF-8\."
    ):
        evaluate_run(tmp_path / "latin", {"q1": {"d1": 1}})


FRAME = pd.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d1"], "score": [0.5, 0.25]})

VALUES: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "a list": (
        [1, 2],
        RUN_OF_ONE,
        {},
        "The qrels must have the documents of each query, but has 1 in place of those of query 0. Pass {query: "
        "{document: grade}}, or a list of documents for each query.",
    ),
    "flat": (
        QRELS,
        {"q1": "d1"},
        {},
        "The run must be {query: {document: score}}, but the value of query 'q1' is str. Pass a dictionary for each "
        "query, or a list of ids in the order of the ranking.",
    ),
    "empty run": (QRELS, {"q1": {}}, {}, "The run is empty. Pass at least one score."),
    "empty qrels": ({}, RUN_OF_ONE, {}, "The qrels are empty. Pass at least one grade."),
    "float ids": (
        {1.5: {"d1": 1}},
        RUN_OF_ONE,
        {},
        "The qrels must name every query by a string or an integer, but one name is 1.5. Leave out rows "
        "without a name, and convert the names with .astype(str).",
    ),
    "whole floats as ids": (
        {"q1": {1.0: 1}},
        RUN_OF_ONE,
        {},
        "The qrels must name every document by a string or an integer, but one name is 1.0. Leave out rows without a "
        "name, and convert the names with .astype(int), as pandas makes floats of integers beside missing ones.",
    ),
    "words": (
        QRELS,
        {"q1": {"d1": "high"}},
        {},
        "The run: the score of document 'd1' for query 'q1' is 'high'. Every score must be a finite number; convert "
        "texts to numbers, and leave out documents without a score.",
    ),
    "words as grades": (
        {"q0": {"d1": 1}, "q1": {"d2": 2, "d1": "2"}},
        RUN_OF_ONE,
        {},
        "The qrels: the grade of document 'd1' for query 'q1' is '2'. Every grade must be a finite number; convert "
        "texts to numbers, and leave out documents without a grade.",
    ),
    "None": (
        QRELS,
        {"q1": {"d1": 0.5, "d2": None}},
        {},
        "The run: the score of document 'd2' for query 'q1' is None. Every score must be a finite number; convert "
        "texts to numbers, and leave out documents without a score.",
    ),
    "nan": (
        QRELS,
        {"q1": {"d1": float("nan")}},
        {},
        "The run: the score of document 'd1' for query 'q1' is nan. Every score must be a finite number; leave out "
        "documents without a score.",
    ),
    "same integer": (
        {"q1": {7: 1, "7": 1}},
        RUN_OF_ONE,
        {},
        "The qrels: document '7' occurs twice for query 'q1'. Keep one of them.",
    ),
    "frame twice": (QRELS, FRAME, {}, f"The run: document 'd1' occurs twice for query 'q1', in rows 0 and 1. {HOW}"),
    "frame columns": (
        QRELS,
        FRAME.rename(columns={"docno": "text"}),
        {},
        "The run must have a column for the document, called doc_id or docno or docid or corpus-id. The columns are "
        "qid, text, score; rename one.",
    ),
    "policy": (QRELS, RUN_OF_ONE, {"missing": "drop"}, "Unknown missing='drop'. Known: zero, skip, error."),
    "missing": (
        QRELS,
        RUN_OF_ONE,
        {"missing": "error"},
        "The run has no document for 1 of 3 queries of the qrels; the first is 'q2'. Complete the run, or set "
        "missing to zero or skip.",
    ),
    "nothing relevant": (
        QRELS,
        RUN_OF_ONE,
        {"empty": "error"},
        "The qrels have no relevant document for 1 of 3 queries; the first is 'q3'. Leave them out, or set empty to "
        "skip, zero or one.",
    ),
    "items alone": (
        QRELS,
        RUN_OF_ONE,
        {"n_items": 9},
        "n_items applies only to lists that were cut off. Pass truncated=True, too, or leave n_items out.",
    ),
    "items": (
        QRELS,
        RUN_OF_ONE,
        {"n_items": 0.5, "truncated": True},
        "n_items must be the number of documents in the collection, not 0.5.",
    ),
    "items too few": (
        {"q1": {"d1": 1, "d2": 1}},
        RUN_OF_ONE,
        {"n_items": 1, "truncated": True},
        "n_items is 1 for query q1, but its list contains 1, and 1 more are relevant. Count all items that are not "
        "excluded, in the list or not.",
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_refused(name: str) -> None:
    qrels, run, arguments, message = VALUES[name]
    with pytest.raises(tp.InputError) as error:
        evaluate_run(qrels, run, **arguments)
    assert str(error.value) == message


TREC_NAMES = {
    "AP": "map",
    "AP@5": "map_cut_5",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "P@5": "P_5",
    "R@5": "recall_5",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Success@1": "success_1",
}


@pytest.mark.heavy
def test_without_ties_the_numbers_are_those_of_trec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    source = random.Random(1)
    qrels: dict[str, dict[str, int]] = {}
    run: Judgments = {}
    for query in range(50):
        documents = [f"d{number}" for number in range(60)]
        qrels[f"q{query}"] = {name: source.choice((-1, 0, 1, 2, 3)) for name in source.sample(documents, 30)} | {
            "e": 1
        }
        ranked = source.sample(documents, 40)
        run[f"q{query}"] = {name: float(rank) for rank, name in enumerate(ranked)}
    # The library accepts map_cut and similar names without cutoffs, and then uses the cutoffs of trec_eval.
    names = {name.rpartition("_")[0] if name[-1].isdigit() else name for name in TREC_NAMES.values()}
    expected = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
    result = evaluate_run(qrels, run, measures=list(TREC_NAMES))
    for ours, theirs in TREC_NAMES.items():
        got = result.per_query(ours)
        values = [expected[query][theirs] for query in result.query_ids]
        assert got.lower.tolist() == got.upper.tolist()
        assert got.lower.tolist() == pytest.approx(values, rel=1e-12)


@pytest.mark.parametrize("form", ["dictionaries", "files", "frames"])
def test_ids_of_documents_that_never_match_are_shown_side_by_side(form: str, tmp_path: Path) -> None:
    qrels: Judgments = {"q1": {"D007": 2}, "q2": {"D008": 1, "D009": 0}}
    run: Judgments = {"q2": {"D08": 1.0}, "q1": {"x": 3.0, "D07": 2.0, "zz": 1.0}, "q3": {"D007": 1.0}}
    given: list[Any] = [qrels, run]
    name = "The run"
    if form == "files":
        given = [tmp_path / "qrels.txt", tmp_path / "base.run"]
        for path, lines in zip(given, (lines_of_qrels(qrels), lines_of_run(run)), strict=True):
            path.write_text("\n".join(lines) + "\n")
        name = "base.run"
    elif form == "frames":
        given = [
            pd.DataFrame(
                [(query, document, value) for query, inner in each.items() for document, value in inner.items()],
                columns=["query_id", "doc_id", column],
            )
            for each, column in zip((qrels, run), ("relevance", "score"), strict=True)
        ]
    says = rf"{name}: no document is judged.*For query 'q1' the qrels have 'D007', and the run has 'D07'\. If"
    with pytest.warns(tp.InputWarning, match=says):
        result = evaluate_run(*given, measures=["AP"])
    assert result["AP"].upper == 0


def test_a_run_that_only_finds_documents_judged_not_relevant_has_the_right_ids() -> None:
    assert evaluate_run({"q1": {"a": 1, "b": 0}}, {"q1": {"b": 1.0}}, measures=["AP"])["AP"].upper == 0


def cut_lists(length: int, count: int = 6) -> tuple[Judgments, Judgments]:
    """Judgments of a collection of 40 documents, and lists of one length that end in ties."""
    source = random.Random(length)
    documents = [f"d{number}" for number in range(40)]
    run: Judgments = {
        f"q{query}": {name: float(max(rank, 2)) for rank, name in enumerate(source.sample(documents, length))}
        for query in range(count)
    }
    return {query: dict.fromkeys(source.sample(documents, 8), 1.0) for query in run}, run


def test_lists_that_were_probably_cut_off_are_pointed_out_with_a_measure_that_reads_their_end() -> None:
    qrels, run = cut_lists(12)
    cut = evaluate_run(qrels, run, measures=["P@2", "AP"], truncated=True)
    says = r"12 documents, and 6 of 6 end in a tie.*a last tie, which AP reads, may continue\. Set"
    with pytest.warns(tp.InputWarning, match=says):
        given = evaluate_run(qrels, run, measures=["P@2", "AP"])
    assert (given["AP"].lower, given["AP"].upper) != (cut["AP"].lower, cut["AP"].upper)


@pytest.mark.parametrize("kind", ["short", "one list", "no tie", "another length", "all documents", "measure"])
def test_lists_that_may_be_whole_are_not_pointed_out(kind: str) -> None:
    """No warning is raised, which would be an error here."""
    qrels, run = cut_lists({"short": 9, "all documents": 40}.get(kind, 12), 1 if kind == "one list" else 6)
    if kind == "no tie":
        run = {query: dict(zip(inner, range(12), strict=True)) for query, inner in run.items()}
    if kind == "another length":
        run["q1"]["d"] = 0.0
    evaluate_run(qrels, run, measures=["P@1"] if kind == "measure" else ["AP"])


def test_one_long_name_of_a_query_among_many() -> None:
    names = ["q" * 300_000, *map(str, range(1000))]
    qrels, run = ({name: {"d": 1.0} for name in names} for _ in range(2))
    with pytest.raises(
        tp.InputError, match=r"names of the queries contain a string of 300,000 characters at \[0\] among 1,001"
    ):
        tp.evaluate_run(qrels, run)


@pytest.mark.parametrize(("others", "warned"), [(0, 1), (2400, 0)])
def test_a_tie_at_the_end_is_told_unless_rounding_hides_it(others: int, warned: int) -> None:
    """One list of ten documents ends in a tie that may hide the relevant one: P@9 is at most 1 / (9 (others + 2))."""
    lists = {f"q{at}": {f"d{place}": float(9 - place) for place in range(10)} for at in range(others + 2)}
    lists["q0"]["d8"] = 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate_run({query: {"absent": 1} for query in lists}, lists, measures=["P@9"])
    assert sum("were probably cut off" in str(each.message) for each in caught) == warned


SWAPPED = "probably swapped. Pass the qrels first"


@pytest.mark.parametrize("queries", [1, 5])
@pytest.mark.parametrize("kind", ["normal", "BM25", "cosine"])
def test_swapped_judgments_are_noticed_by_rounded_scores(kind: str, queries: int) -> None:
    draw = np.random.default_rng(7)
    scores = {"normal": draw.normal(size=50), "BM25": 30 * draw.random(50), "cosine": draw.random(50)}[kind]
    run = {f"q{at}": {f"d{i}": float(scores[10 * at + i].round(1)) for i in range(10)} for at in range(queries)}
    qrels = {query: {f"d{i}": int(i % 3 == 0) * (1 + i % 2) for i in range(10)} for query in run}
    with pytest.warns(tp.InputWarning, match=SWAPPED):
        tp.evaluate_run(run, qrels, measures=["AP"])


@pytest.mark.parametrize("assessors", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("digits", [2, 9])
def test_means_of_assessors_are_grades(assessors: int, digits: int) -> None:
    """Also if a model ranks by whole numbers, as a language model that is asked for grades does."""
    draw = np.random.default_rng(7)
    means = draw.integers(0, 4, size=(50, assessors)).mean(axis=1).round(digits).tolist()
    qrels = {"q": {f"d{i}": mean for i, mean in enumerate(means)}}
    run = {"q": {f"d{i}": float(draw.integers(0, 5)) for i in range(50)}}
    tp.evaluate_run(qrels, run, measures=["AP"])  # pytest turns a warning into an error
