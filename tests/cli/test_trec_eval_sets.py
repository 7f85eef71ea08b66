"""The sets of measures of trec_eval, and its lines; counts, which are added up; recall@k in runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from command_line import exit_status
from peer_tests import PEERS
from tieproof.analyses.compare.same_queries import common_measures
from tieproof.measures import parse
from tieproof.measures.trec_eval import SETS, members

QRELS = """\
q1 0 a 1
q1 0 b 0
q1 0 c 2
q1 0 d 1
q1 0 e 0
q1 0 f 1
q1 0 g 1
q1 0 i 1
q2 0 a 0
q2 0 b 1
q2 0 c 1
q2 0 x 1
"""

RUN = """\
q1 Q0 b 1 9.0 t
q1 Q0 a 2 8.0 t
q1 Q0 d 3 7.0 t
q1 Q0 z 4 6.0 t
q1 Q0 c 5 5.0 t
q1 Q0 f 6 4.0 t
q1 Q0 e 7 3.0 t
q1 Q0 g 8 2.0 t
q2 Q0 c 1 3.0 t
q2 Q0 a 2 2.0 t
q2 Q0 b 3 1.0 t
"""

OFFICIAL = """\
num_ret                 q1      8
num_rel                 q1      6
num_rel_ret             q1      5
map                     q1      0.5097
Rprec                   q1      0.6667
bpref                   q1      0.3333
recip_rank              q1      0.5000
iprec_at_recall_0.00    q1      0.6667
iprec_at_recall_0.10    q1      0.6667
iprec_at_recall_0.20    q1      0.6667
iprec_at_recall_0.30    q1      0.6667
iprec_at_recall_0.40    q1      0.6667
iprec_at_recall_0.50    q1      0.6667
iprec_at_recall_0.60    q1      0.6667
iprec_at_recall_0.70    q1      0.6667
iprec_at_recall_0.80    q1      0.6250
iprec_at_recall_0.90    q1      0.6250
iprec_at_recall_1.00    q1      0.0000
P_5                     q1      0.6000
P_10                    q1      0.5000
P_15                    q1      0.3333
P_20                    q1      0.2500
P_30                    q1      0.1667
P_100                   q1      0.0500
P_200                   q1      0.0250
P_500                   q1      0.0100
P_1000                  q1      0.0050
num_ret                 q2      3
num_rel                 q2      3
num_rel_ret             q2      2
map                     q2      0.5556
Rprec                   q2      0.6667
bpref                   q2      0.3333
recip_rank              q2      1.0000
iprec_at_recall_0.00    q2      1.0000
iprec_at_recall_0.10    q2      1.0000
iprec_at_recall_0.20    q2      1.0000
iprec_at_recall_0.30    q2      1.0000
iprec_at_recall_0.40    q2      1.0000
iprec_at_recall_0.50    q2      0.6667
iprec_at_recall_0.60    q2      0.6667
iprec_at_recall_0.70    q2      0.6667
iprec_at_recall_0.80    q2      0.6667
iprec_at_recall_0.90    q2      0.0000
iprec_at_recall_1.00    q2      0.0000
P_5                     q2      0.4000
P_10                    q2      0.2000
P_15                    q2      0.1333
P_20                    q2      0.1000
P_30                    q2      0.0667
P_100                   q2      0.0200
P_200                   q2      0.0100
P_500                   q2      0.0040
P_1000                  q2      0.0020
num_q                   all     2
num_ret                 all     11
num_rel                 all     9
num_rel_ret             all     7
map                     all     0.5326
Rprec                   all     0.6667
bpref                   all     0.3333
recip_rank              all     0.7500
iprec_at_recall_0.00    all     0.8333
iprec_at_recall_0.10    all     0.8333
iprec_at_recall_0.20    all     0.8333
iprec_at_recall_0.30    all     0.8333
iprec_at_recall_0.40    all     0.8333
iprec_at_recall_0.50    all     0.6667
iprec_at_recall_0.60    all     0.6667
iprec_at_recall_0.70    all     0.6667
iprec_at_recall_0.80    all     0.6458
iprec_at_recall_0.90    all     0.3125
iprec_at_recall_1.00    all     0.0000
P_5                     all     0.5000
P_10                    all     0.3500
P_15                    all     0.2333
P_20                    all     0.1750
P_30                    all     0.1167
P_100                   all     0.0350
P_200                   all     0.0175
P_500                   all     0.0070
P_1000                  all     0.0035
"""
"""What `trec_eval -q` of version 10.0 prints for these files, without runid and gm_map; q1 has 6 relevant documents.

At a recall of 0.9 trec_eval counts 5 of them, not 6, so that its precision is 5/8, and not 0.
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "qrels.txt", tmp_path / "run.txt"]
    for path, text in zip(paths, (QRELS, RUN), strict=True):
        path.write_text(text, encoding="utf-8")
    return list(map(str, paths))


def test_official_prints_what_trec_eval_prints(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status("run", *files, "-m", "official", "-q") == 0
    printed = capsys.readouterr()
    assert printed.out.expandtabs() == OFFICIAL
    assert printed.err.splitlines() == [
        "Warning: The set official of trec_eval also has runid, gm_map, which tieproof does not have."
    ]


def test_a_level_changes_no_name_of_a_set(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status("run", *files, "-m", "official", "-q", "-l", "2") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines] == [line.split()[0] for line in OFFICIAL.splitlines()]
    assert ["num_rel", "all", "1"] in lines


@pytest.mark.parametrize("name", SETS)
def test_the_members_of_a_set_are_whole(name: str) -> None:
    """Every name that trec_eval prints is a measure here, or is named as one that is not there."""
    found = members(name)
    with pytest.warns(tp.InputWarning) as warned:
        result = tp.evaluate_scores([[3, 2, 1]], [[1, 0, 1]], measures=name)
    assert result.measures == tuple(str(parse(ours)) for ours in found.measures.values())
    (said,) = warned
    assert str(said.message) == (
        f"The set {name} of trec_eval also has {', '.join(found.others)}, which tieproof does not have."
    )
    for theirs in found.others:
        with pytest.raises(tp.InputError, match="is not offered"):
            parse(theirs)


def test_what_trec_eval_prints_of_its_own_test_data(capsys: pytest.CaptureFixture[str]) -> None:
    """TIEPROOF_PEERS contains a clone of https://github.com/usnistgov/trec_eval, of version 10."""
    folder = PEERS / "trec_eval" / "test"
    if not (folder / "out.test.aq").is_file():
        pytest.skip("a clone of trec_eval is in no folder that TIEPROOF_PEERS names")
    files = [str(folder / name) for name in ("qrels.test", "results.test")]
    assert exit_status("run", *files, "-m", "all_trec", "-q") == 0
    ours = capsys.readouterr().out.splitlines()
    theirs = (folder / "out.test.aq").read_text(encoding="utf-8").splitlines()
    others = members("all_trec").others
    # Its order of measures differs between versions; values at the last digit are those of one order of a tie.
    expected = [line for line in theirs if not line.split()[0].startswith(tuple(others))]
    assert sorted(ours) == sorted(expected)


def test_a_set_leaves_out_bpref_where_nothing_is_judged_not_relevant() -> None:
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 0.5}}
    with (
        pytest.warns(tp.InputWarning, match="gm_map"),
        pytest.warns(tp.InputWarning, match="bpref is left out of the set, because the qrels have no document"),
    ):
        names = [str(measure) for measure in tp.evaluate_run(qrels, run, measures="official").measures]
    assert len(names) == len(members("official").measures) - 1
    assert not {"bpref"} & set(names)
    with pytest.raises(tp.InputError, match="bpref"):
        tp.evaluate_run(qrels, run, measures=["bpref"])


TOO_MANY = (
    r"IPrec is left out of the set. 'IPrec\(hits=nearest\)' would take minutes: ties of up to 3,000 items have too"
)


def of_one_tie(call: str, measures: Any) -> Any:
    """A call with one query and a tie of 3,000 items, of which 1,000 are relevant."""
    relevant = [int(item < 1000) for item in range(3000)]
    if call == "run":
        qrels = {str(document): grade for document, grade in enumerate(relevant)}
        return tp.evaluate_run({"q": qrels}, {"q": dict.fromkeys(qrels, 0.0)}, measures=measures)
    if call == "scores":
        return tp.evaluate_scores([[0.0] * 3000], [relevant], measures=measures)
    if call == "neighbors":
        ids, zeros = [list(range(3000))], [[0.0] * 3000]
        return tp.evaluate_neighbors(ids, zeros, labels=[1], gallery_labels=relevant, measures=measures)
    evaluate: Callable[..., Any] = tp.evaluate if call == "embeddings" else tp.evaluate_answers
    sides: dict[str, Any] = {
        "embeddings": [[0.0]],
        "labels": [1],
        "gallery": [[0.0]] * 3000,
        "gallery_labels": relevant,
    }
    return evaluate(**sides, distance="euclidean", measures=measures)


@pytest.mark.parametrize("call", ["run", "scores", "neighbors", "embeddings", "answers"])
def test_a_set_leaves_out_interpolated_precision_where_it_would_take_minutes(call: str) -> None:
    with pytest.warns(tp.InputWarning, match="gm_map"), pytest.warns(tp.InputWarning, match=TOO_MANY):
        result = of_one_tie(call, ["official", "AP"])
    left = [ours for theirs, ours in members("official").measures.items() if not theirs.startswith("iprec")]
    assert result.measures == tuple(str(parse(ours)) for ours in left)
    assert result["NumRelRet"].lower == 1000
    assert result["P@1000"].expected == pytest.approx(1 / 3, rel=1e-12)


@pytest.mark.filterwarnings("ignore:The set official|IPrec is left out")
def test_a_set_compares_what_all_systems_have() -> None:
    qrels, scores = {"q": {"0": 1, "1": 0}}, {"q": {"0": 2.0, "1": 1.0}}
    results = {"tied": of_one_tie("run", "official"), "whole": tp.evaluate_run(qrels, scores, measures="official")}
    with pytest.warns(tp.InputWarning, match=r"Not all results have these .* left out: IPrec\(hits=nearest\), IPrec"):
        assert common_measures(results, ["official"]) == [*results["tied"].measures[4:]]
    with pytest.raises(tp.InputError, match=r"This result has no measure 'IPrec\(hits=nearest\)'"):
        common_measures(results, ["IPrec(hits=nearest)"])


@pytest.mark.filterwarnings("ignore:The set official")
@pytest.mark.parametrize("measures", ["IPrec@0.5", ["official", "IPrec@0.5"], "IPrec@0.5,official"])
def test_a_measure_that_is_named_beside_a_set_is_not_left_out(measures: Any) -> None:
    for call in ("run", "scores"):
        with pytest.raises(tp.InputError, match=r"'IPrec\(recall=0.5\)' would take minutes"):
            of_one_tie(call, measures)
    with pytest.raises(tp.InputError, match="bpref"):
        tp.evaluate_run({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, measures=["official", "bpref"])


def left_out(call: Callable[[], Any]) -> tuple[set[str], set[str]]:
    """The measures of a result, by their names, and the first words of the warnings."""
    with pytest.warns(tp.InputWarning) as warned:
        result = call()
    return {parse(measure).name for measure in result.measures}, {str(one.message).split()[0] for one in warned}


def test_a_set_leaves_out_what_unseen_items_and_noise_leave_open(files: list[str]) -> None:
    every = {parse(ours).name for ours in members("all_trec").measures.values()}
    names, said = left_out(lambda: tp.evaluate_scores([[3, 2, 1]], [[2, 0, 1]], n_relevant=[4], measures="all_trec"))
    assert (names, said) == (every - {"bpref", "nDCG", "RBP"}, {"The", "bpref", "nDCG", "RBP"})
    of_unjudged = {"Unjudged", "RBPResidual", "NumNonRelJudgedRet"}
    names, said = left_out(lambda: tp.evaluate_run(*files, truncated=True, measures="all_trec"))
    assert (names, said) == (every - of_unjudged, {"The", "NumNonRelJudgedRet,"})
    names, said = left_out(lambda: tp.evaluate_run(*files, noise=0.25, measures="all_trec"))
    assert (names, said) == (every - {"Unjudged", "RBPResidual", "RBP"}, {"The", "RBPResidual(p=0.9),", "RBP"})


def test_counts_are_totals(files: list[str]) -> None:
    counts = ["NumQ", "NumRet", "NumRel", "NumRelRet"]
    categories = {"q1": "a", "q2": "b"}
    result = tp.evaluate_run(*files, measures=[*counts, "AP"], categories=categories, average="macro", noise=0.25)
    assert [result[name].lower for name in counts] == [2, 11, 9, 7]
    assert [result[name].noise for name in counts] == [tp.Bounds(float(n), float(n)) for n in (2, 11, 9, 7)]
    assert [result.category_means(name)["b"].upper for name in counts] == [1, 3, 3, 2]
    assert result.per_query("NumRet").lower.tolist() == [8, 3]
    assert ["NumRet", "b", "3", "3", "3"] in [line.split() for line in str(result).splitlines()]


def test_counts_have_no_interval_and_are_not_compared(files: list[str]) -> None:
    result = tp.evaluate_run(*files, measures=["NumRet", "AP"])
    assert set(result.intervals()) == {"AP"}
    with pytest.raises(tp.InputError, match="'NumRet' is a count, and has no mean over queries"):
        result.interval("NumRet")
    assert tp.compare({"one": result, "other": result}).measures == ("AP",)
    with pytest.raises(tp.InputError, match="'NumRet' is a count, which is no score"):
        tp.compare({"one": result, "other": result}, measures=["NumRet"])


def test_counts_of_queries_with_nothing_relevant() -> None:
    """They count as in trec_eval where the query counts, whatever its score is."""
    qrels, run = {"q": {"a": 1}, "nothing": {"b": 0}}, {"q": {"a": 1.0}, "nothing": {"b": 1.0, "c": 0.5}}
    expected = {"skip": (1, 1), "zero": (2, 3), "one": (2, 3), "nan": (1, 1)}
    for empty, counts in expected.items():
        result = tp.evaluate_run(qrels, run, measures=["NumQ", "NumRet", "NumRel"], empty=empty)  # type: ignore[arg-type]
        assert (result["NumQ"].lower, result["NumRet"].lower, result["NumRel"].lower) == (*counts, 1)


def test_counts_of_a_list_that_was_cut_off_are_those_of_the_list(files: list[str]) -> None:
    counts = ["NumRet", "NumRelRet"]
    for options in ({}, {"truncated": True}, {"truncated": True, "n_items": 100}):
        result = tp.evaluate_run(*files, measures=counts, **options)
        assert [(result[name].lower, result[name].upper) for name in counts] == [(11, 11), (7, 7)]


@pytest.mark.parametrize("name", ["recall@3", "Recall@3", "AP,recall@3,RR"])
def test_recall_in_runs_is_said_to_be_r(name: str, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    said = "recall@3 is R@3: the share of all relevant documents .* write Success@3"
    with pytest.warns(tp.InputWarning, match=said):
        result = tp.evaluate_run(*files, measures=[name])
    assert result["R@3"].lower == pytest.approx((2 / 6 + 2 / 3) / 2)
    assert exit_status("run", *files, "-m", name) == 0
    shown = capsys.readouterr()
    assert "R@3 " in shown.out
    assert shown.err.count("recall@3 is R@3") == 1
    with pytest.raises(tp.InputError, match="has several meanings"):
        tp.evaluate_scores([[2, 1]], [[1, 0]], measures=[name])


def test_interpolated_precision_of_both_versions() -> None:
    """6 relevant items: a recall of 0.2 is 1.2 of them, 2 for trec_eval 9, and 1 for trec_eval 10."""
    scores, relevance = np.arange(9.0, 0, -1)[None], np.array([[1, 0, 0, 0, 1, 1, 1, 1, 1]])
    names = ["IPrec@0.2", "IPrec(recall=0.2,hits=nearest)"]
    result = tp.evaluate_scores(scores, relevance, measures=names)
    assert [result[name].lower for name in names] == [6 / 9, 1]


PRINTED = {
    "map": "map",
    "ndcg_cut.10": "ndcg_cut_10",
    "P.5,10": "P_5 P_10",
    "recip_rank": "recip_rank",
    "recall.10": "recall_10",
    "iprec_at_recall.0.1,0.25": "iprec_at_recall_0.10 iprec_at_recall_0.25",
    "iprec_at_recall.1.0": "iprec_at_recall_1.00",
    "set_P,AP@5": "set_P AP@5",
    "nDCG@10": "nDCG@10",
    "P": "P_5 P_10 P_15 P_20 P_30 P_100 P_200 P_500 P_1000",
    "success": "success_1 success_5 success_10",
    "rbp": "rbp",
}
"""What is asked for, and the names of the lines: for names of trec_eval those that it prints, with its cutoffs."""


@pytest.mark.parametrize("asked", PRINTED)
def test_lines_have_the_names_that_were_asked_for(
    asked: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status("run", *files, "-q", "-m", asked) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [name for name, query, _ in lines if query == "all"] == PRINTED[asked].split()
    known = dict(line.split()[::2] for line in OFFICIAL.splitlines() if line.split()[1] == "all")
    assert all(value == known.get(name, value) for name, query, value in lines if query == "all")


def test_the_complete_set_of_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With -c, trec_eval also divides by queries with nothing relevant and by those that the run lacks."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q1 0 a 1\nq2 0 a 0\nq3 0 a 1\nq4 0 a 0\n", encoding="utf-8")
    run.write_text("q1 Q0 a 1 1.0 t\nq2 Q0 a 1 1.0 t\n", encoding="utf-8")
    assert exit_status("run", str(qrels), str(run), "-q", "-c", "-m", "map") == 0
    assert capsys.readouterr().out.split()[-3:] == ["map", "all", "0.2500"]
    for more in (["--missing", "skip"], ["--empty", "one"]):
        assert exit_status("run", str(qrels), str(run), "-c", *more) == 2
        assert "-c is --missing zero --empty zero" in capsys.readouterr().err


def test_what_trec_eval_has_and_tieproof_refuses(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    refused = {
        ("-M", "10"): "map of trec_eval -M 10 is AP@10",
        (
            "-m",
            "utility.1,-1,0,0",
        ): "'utility.1' is not offered: in trec_eval it is a sum of hits and other documents",
        ("-m", "set_F.0.5"): "'set_F.0.5' is set_F of trec_eval with a parameter. Write those of SetF itself.",
        ("-m", "Rprec_mult.0.2"): "'Rprec_mult.0.2' is not offered: in trec_eval it is precision at multiples of R.",
    }
    for options, message in refused.items():
        assert exit_status("run", *files, *options) == 2
        assert message in capsys.readouterr().err


def test_no_placeholder_of_a_cutoff_is_shown() -> None:
    for unknown in ("rbp8", "IPrecc", "mapcut"):
        with pytest.raises(tp.InputError) as refused:
            parse(unknown)
        assert "{" not in str(refused.value)
