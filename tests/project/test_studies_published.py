"""The study of published numbers: its compact form loses nothing, and pages say what follows from its numbers."""

import re
import runpy
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from pages import ROOT, text_of
from studies import common
from studies.published import compact, findings, picture, rescored, study, write_compact, write_runs
from studies.published.rescored import Number

FOLDER = common.DATA / study.DATA
RECORDED = rescored.read(ROOT / "studies" / "published" / "numbers.csv")
RANDOM = np.random.default_rng(5)

QRELS = {"t1": {"a": 2, "b": 0, "c": 1, "d": -1, "e": 1}, "t2": {"a": 0, "b": 1, "c": 3}, "t3": {"a": 1}}
NEAR = 0.1 + 2.0**-30
"""A score that is 0.1 in single precision, and not in double precision."""

RUN = {
    "t1": {"a": 0.1, "b": NEAR, "c": 0.1, "d": 0.5, "x": 0.5, "e": -3.0},
    "t2": {"c": 7.0, "x": 7.0, "y": 7.0, "b": 2.0},
}
MEASURES = ["AP", "nDCG@3", "P@2", "RR", "Rprec"]


def number(published: str, lower: float, upper: float, system: str = "s", runs: str = "trec-covid-round1") -> Number:
    """A number of a leaderboard of four digits, whose tool breaks ties for the system."""
    return Number(runs, system, "nDCG@10", published, lower, lower, upper, upper, lower, upper, 1, 1)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The compact form of `QRELS` and `RUN`."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "input.system.txt"
    grades = [(topic, *entry) for topic, found in QRELS.items() for entry in found.items()]
    qrels.write_text("".join(f"{topic} 0 {name} {grade}\n" for topic, name, grade in grades), encoding="utf-8")
    scores = [(topic, *entry) for topic, found in RUN.items() for entry in found.items()]
    lines = (f"{topic} Q0 {name} 1 {score!r} tag\n" for topic, name, score in scores)
    run.write_text("".join(lines), encoding="utf-8")
    write_compact.main([str(qrels), str(run), "--out", str(tmp_path / "set")])
    return tmp_path / "set"


def test_compact_form(written: Path) -> None:
    """Grades in the order of scores, ties by reversed ids, and a second list where single precision merges scores."""
    assert (written / "judged.tsv").read_text(encoding="utf-8") == "t1\t2110-\nt2\t310\nt3\t1\n"
    lists = compact.read_lists(written)
    assert lists == {"system": compact.Lists({"t1": ".- 0 12 1", "t2": "..3 1"}, {"t1": ".- 102 1", "t2": "..3 1"})}


def test_compact_form_gives_the_measures_of_the_run(written: Path) -> None:
    (lists,) = compact.read_lists(written).values()
    found = tp.evaluate_run(compact.read_judged(written), compact.with_ties(lists.double), measures=MEASURES)
    expected = tp.evaluate_run(QRELS, RUN, measures=MEASURES)
    single = {topic: {name: float(np.float32(score)) for name, score in each.items()} for topic, each in RUN.items()}
    merged = tp.evaluate_run(compact.read_judged(written), compact.with_ties(lists.single), measures=MEASURES)
    for measure in MEASURES:
        assert found[measure] == expected[measure]
        assert merged[measure] == tp.evaluate_run(QRELS, single, measures=MEASURES)[measure]
    assert found["AP"] != merged["AP"]


@pytest.mark.heavy
def test_runs_that_are_written_out_give_the_measures_of_the_run(written: Path, tmp_path: Path) -> None:
    (written / "published.tsv").write_text("system\tAP\t0.5\n", encoding="utf-8")
    write_runs.main([str(written), "--out", str(tmp_path / "out")])
    found = tp.evaluate_run(tmp_path / "out/qrels.txt", tmp_path / "out/runs/system.txt", measures=MEASURES)
    expected = tp.evaluate_run(QRELS, RUN, measures=MEASURES)
    assert {name: found[name] for name in MEASURES} == {name: expected[name] for name in MEASURES}
    assert (tmp_path / "out/published.tsv").read_bytes() == (written / "published.tsv").read_bytes()


@pytest.mark.heavy
def test_order_of_the_original_tool_is_that_of_trec_eval(written: Path) -> None:
    """trec_eval 9, which compares scores in single precision."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    (lists,) = compact.read_lists(written).values()
    names = {"AP": "map", "P@5": "P_5", "RR": "recip_rank", "nDCG@5": "ndcg_cut_5", "Rprec": "Rprec"}
    found = tp.evaluate_run(compact.read_judged(written), compact.in_order(lists.single), measures=[*names])
    expected = pytrec_eval.RelevanceEvaluator(QRELS, set(names.values())).evaluate(RUN)
    for measure, name in names.items():
        values = found.per_query(measure).expected.tolist()
        assert values == pytest.approx([expected[topic][name] for topic in ("t1", "t2")] + [0.0], rel=1e-12)


@pytest.mark.parametrize(
    ("published", "lower", "upper", "inside", "wide", "reproduced"),
    [
        ("0.5000", 0.5, 0.5, True, False, True),
        ("0.5000", 0.50004, 0.50004, True, False, True),
        ("0.5000", 0.50006, 0.7, False, True, False),
        ("0.5000", 0.4, 0.49994, False, True, False),
        ("0.50", 0.4999, 0.50005, True, True, True),
        ("0.5", 0.4, 0.6, True, True, False),
    ],
)
def test_a_number_beside_its_interval(
    published: str, lower: float, upper: float, inside: bool, wide: bool, reproduced: bool
) -> None:
    found = number(published, lower, upper)
    assert (found.inside, found.wide, found.reproduced) == (inside, wide, reproduced)


def test_places_are_those_of_some_order_of_ties() -> None:
    """Every place that a system takes if each system has one of its two extreme values, independently."""
    for _ in range(20):
        ends = np.sort(RANDOM.integers(0, 12, (4, 2)) + np.array([0.0, 0.5]) + np.arange(4)[:, None] / 8, axis=1)
        board = [number("0.5", low, high, str(place)) for place, (low, high) in enumerate(ends.tolist())]
        for place, system in enumerate(board):
            places = {1 + sum(other > values[place] for other in values) for values in product(*ends.tolist())}
            assert findings.possible_places(board, system) == (min(places), max(places))


def test_adjacent_places() -> None:
    """Systems with one published number share a place, and any of them can swap."""
    board = [
        number("0.9", 0.9, 0.9, "a"),
        number("0.8", 0.8, 0.8, "b"),
        number("0.8", 0.3, 0.8, "c"),
        number("0.4", 0.4, 0.4, "d"),
        number("0.1", 0.1, 0.4, "e"),
    ]
    (found,) = findings.boards(reversed(board)).values()
    assert found == board
    pairs = findings.adjacent(found)
    assert [[each.system for each in better + worse] for better, worse in pairs] == [
        ["a", "b", "c"],
        ["b", "c", "d"],
        ["d", "e"],
    ]
    assert [findings.could_swap(*pair) for pair in pairs] == [False, True, False]
    assert [findings.place_of(found, each) for each in found] == [1, 2, 2, 4, 5]
    assert findings.headline(board) == (5, 5, 2, 4, 0, 3, 1)


def test_numbers_that_are_read_are_those_that_were_written(tmp_path: Path) -> None:
    rescored.write(RECORDED, tmp_path / "numbers.csv")
    assert rescored.read(tmp_path / "numbers.csv") == RECORDED


def numbers_of(prefix: str = "") -> list[Number]:
    """The recorded numbers of sets whose names begin in one way."""
    return [each for each in findings.main_numbers(RECORDED) if each.runs.startswith(prefix)]


def of_a_run(prefix: str) -> tuple[str, ...]:
    """What is said of the widest interval of some sets: the published number, its ends, and the best of its board."""
    (run,) = findings.widest(numbers_of(prefix), 1)
    best = max(numbers_of(run.runs), key=lambda each: each.value)
    return run.published, f"{run.lower:.4f}", f"{run.upper:.4f}", best.published


def said() -> dict[str, list[str]]:
    """What pages say of published numbers."""
    every, deep, semeval = (findings.headline(numbers_of(prefix)) for prefix in ("", "trec-dl", "semeval"))
    published, lower, upper, best = of_a_run("trec-")
    last, lowest, highest, winner = of_a_run("semeval")
    single = sum(each.inside_in_single and not each.inside for each in numbers_of("trec-dl"))
    (clef,) = {each[3:] for each in numbers_of("clef") if each.answered < each.queries}
    (mean, *_, answered, queries) = clef
    headline = [
        f"Of {every.numbers} published numbers, {every.wide} have an interval wider than the last printed digit, ",
        f"{every.swaps} of {every.places} adjacent places could swap on ties alone",
        f"published at {published}, can be anything from {lower} to {upper}",
        f"the best run of its track has {best}",
    ]
    return {
        "README.md": headline,
        "docs/guides/leaderboards.md": [
            *headline,
            f"{single} of the {deep.numbers} nDCG@10 of TREC Deep Learning come only from single precision",
            f"published at {mean} answer {answered} of {queries} topics",
        ],
        "studies/published/report.md": [
            *headline,
            f"order of ties gives {every.reproduced} of the numbers, and {every.outside} lie outside their interval.",
        ],
        "release/letters/trec_eval.md": [
            f"Of {deep.numbers} nDCG@10 in the summaries",
            f"{deep.wide} have an interval wider than the last printed digit",
            f"{deep.swaps} of {deep.places} adjacent places could swap on ties alone",
            *headline[2:],
            f"{single} of the {deep.numbers} come only from single precision",
            f"All {deep.reproduced} can be reproduced to the last digit",
        ],
        "release/letters/semeval_scorer.md": [
            f"all {semeval.reproduced} published MAP can be reproduced to the last digit",
            f"{semeval.wide} of the {semeval.numbers} published numbers have an interval wider than the last",
            f"{semeval.swaps} of {semeval.places} adjacent places could swap on ties alone",
            f"published at {last}, in the last place, and its ties can make it anything from {lowest} to {highest}",
            f"above the best published number of the subtask, {winner}",
        ],
    }


@pytest.mark.parametrize("page", said())
def test_pages_say_what_was_computed(page: str) -> None:
    text = " ".join(text_of(page).replace("**", "").split())
    assert [sentence for sentence in said()[page] if sentence.strip() not in text] == []


def test_guide_says_how_many_neighbors_differ() -> None:
    (row,) = re.findall(
        r"^\| better whatever the ties \| (\d+) \|$", text_of("studies/published/report.md"), re.MULTILINE
    )
    places = findings.headline(RECORDED).places
    guide = " ".join(text_of("docs/guides/leaderboards.md").split())
    assert f"Of the {places} pairs of neighbors in the study, {row} are better whatever the ties" in guide


def test_picture_shows_the_widest_intervals(tmp_path: Path) -> None:
    """The names in the picture that was committed are those in a picture of the recorded numbers, in its order."""
    pytest.importorskip("matplotlib")
    mains = findings.main_numbers(RECORDED)
    shown = findings.widest(mains, study.SHOWN)
    picture.draw(shown, findings.boards(mains), tmp_path / "widest.svg")
    for file in (tmp_path / "widest.svg", ROOT / "studies" / "published" / "widest.svg"):
        texts = re.findall(r"<text[^>]*>([^<]+)</text>|<tspan[^>]*>([^<]+)</tspan>", file.read_text(encoding="utf-8"))
        names = [text for text in map("".join, texts) if text in {each.system for each in mains}]
        assert names == [each.system for each in shown]


def test_data_folder_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIEPROOF_DATA", str(tmp_path))
    assert runpy.run_path(str(common.__file__))["DATA"] == tmp_path


@pytest.mark.heavy
def test_numbers_are_those_of_the_data() -> None:
    """The numbers that were committed, computed again."""
    if not FOLDER.is_dir():
        pytest.skip(f"the published runs are not in {FOLDER}; studies/README.md says where they come from")
    again = [each for runs in rescored.RUNS.values() for each in rescored.rescore(FOLDER, runs)]
    assert findings.main_numbers(again) == RECORDED
