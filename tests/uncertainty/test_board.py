"""`tp.leaderboard` ranks runs, with the places that ties and the choice of queries leave open."""

import bz2
import io
import itertools
import lzma
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.errors import InputError
from tieproof.inputs.readers import entries_of
from tieproof.inputs.readers.location import split
from tieproof.inputs.system_names import named
from tieproof.measures.statistics.resampling import Strata
from tieproof.measures.statistics.tests import told_apart

QRELS = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 0, "b": 1, "c": 0}}


def runs(seed: int, systems: int = 4) -> dict[str, dict[str, dict[str, float]]]:
    """Runs with scores of a few values, so that many tie."""
    source = np.random.default_rng(seed)
    return {
        f"s{at}": {query: {doc: float(source.integers(0, 3)) for doc in "abc"} for query in QRELS}
        for at in range(systems)
    }


def average_precision(order: tuple[str, ...], grades: dict[str, int]) -> float:
    hits = [rank for rank, doc in enumerate(order, 1) if grades[doc]]
    return sum(found / rank for found, rank in enumerate(hits, 1)) / len(hits)


def possible_means(run: dict[str, dict[str, float]]) -> set[float]:
    """The mean AP of a run in every order of its tied documents."""
    of_query = []
    for query, scores in run.items():
        orders = [
            order
            for order in itertools.permutations(scores)
            if all(scores[one] >= scores[other] for one, other in itertools.pairwise(order))
        ]
        of_query.append({round(average_precision(order, QRELS[query]), 12) for order in orders})
    return {round(sum(values) / len(values), 9) for values in itertools.product(*of_query)}


@pytest.mark.parametrize("seed", range(12))
def test_possible_places_are_those_of_all_orders(seed: int) -> None:
    given = runs(seed)
    board = tp.leaderboard(QRELS, given, measure="AP")
    means = [sorted(possible_means(run)) for run in given.values()]
    outcomes = np.array(list(itertools.product(*means)))
    places = 1 + (outcomes[:, None, :] > outcomes[:, :, None]).sum(axis=2)
    for at, name in enumerate(given):
        found = board[name].by_ties
        assert (found.best, found.worst) == (places[:, at].min(), places[:, at].max())
    for one, following in itertools.pairwise(board.systems):
        first, second = (outcomes[:, [*given].index(each.name)] for each in (one, following))
        swaps = bool((first > second).any() and (second > first).any()) and one.place != following.place
        assert one.swaps_with_next == swaps


def test_places_by_expected_or_published_values() -> None:
    given = runs(3)
    board = tp.leaderboard(QRELS, given)
    expected = [tp.evaluate_run(QRELS, given[each.name], measures=["AP"])["AP"] for each in board.systems]
    assert [each.score for each in board.systems] == expected
    assert [each.place for each in board.systems] == [
        1 + sum(o.expected > e.expected for o in expected) for e in expected
    ]
    published = tp.leaderboard(QRELS, given, published={"s0": 0.1, "s1": 0.2, "s2": 0.3, "s3": 0.3, "other": 1.0})
    assert [(each.place, each.name) for each in published.systems] == [(1, "s2"), (1, "s3"), (3, "s1"), (4, "s0")]
    assert published["s0"].bias == 0.1 - published["s0"].score.expected
    assert "Published numbers without a run: other." in published.notes
    some = tp.leaderboard(QRELS, given, published={"s0": 0.1})
    assert (some.ordered_by, some["s1"].bias) == ("expected", None)


def test_results_are_ranked_as_runs_are() -> None:
    given = runs(5)
    results = {name: tp.evaluate_run(QRELS, run, measures=["RR", "AP"]) for name, run in given.items()}
    assert tp.leaderboard(None, results) == tp.leaderboard(QRELS, given)


@pytest.mark.parametrize("seed", range(3))
def test_systems_told_apart_as_by_the_definition(seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 9, (12, 5)) / 8 + np.linspace(0, 1, 5)
    found = told_apart(values, Strata(np.array([12])), 0.9)
    draws = np.random.default_rng(seed + 99).integers(0, 12, (20_000, 12))
    moved = values[draws].mean(axis=1) - values.mean(axis=0)
    pairs = list(itertools.permutations(range(5), 2))
    error = {(a, b): np.std(values[:, a] - values[:, b]) for a, b in pairs}
    largest = np.max([np.abs(moved[:, a] - moved[:, b]) / error[a, b] for a, b in pairs], axis=0)
    for a, b in pairs:
        distance = (values[:, a].mean() - values[:, b].mean()) / error[a, b]
        share = np.mean(largest < distance)
        if abs(share - 0.9) > 0.02:  # independent draws decide nothing nearer to the edge
            assert found[a, b] == (share > 0.9)


def test_told_apart_whatever_the_order_of_queries() -> None:
    values = np.random.default_rng(1).random((9, 4)) + np.array([0.0, 0.2, 0.4, 0.8])
    strata = Strata(np.array([9]))
    assert np.array_equal(told_apart(values, strata, 0.95), told_apart(values[::-1], strata, 0.95))
    assert not told_apart(values[:1], Strata(np.array([1])), 0.95).any()


def test_queries_that_all_systems_answered() -> None:
    qrels = {f"q{at}": {"a": 1, "b": 0} for at in range(6)}
    first = {f"q{at}": {"a": 1.0, "b": float(at % 2)} for at in range(5)}
    second = {f"q{at}": {"a": 1.0, "b": 2.0 * (at % 3)} for at in range(1, 6)}
    shared = {query: grades for query, grades in qrels.items() if query in first and query in second}
    on_shared = [tp.evaluate_run(shared, run, measures=["RR"])["RR"] for run in (first, second)]
    board = tp.leaderboard(qrels, {"first": first, "second": second}, measure="RR", missing="skip")
    assert [board["first"].score, board["second"].score] == on_shared
    assert (board.queries, "4 queries that every system answered" in board.notes[0]) == (4, True)
    runs_ = {"first": first, "second": second}
    results = {name: tp.evaluate_run(qrels, run, measures=["RR"], missing="skip") for name, run in runs_.items()}
    comparison = tp.compare(results)
    assert comparison["first", "second", "RR"].expected == on_shared[0].expected - on_shared[1].expected
    assert "2 queries that some lack are left out" in " ".join(comparison.to_text().split())
    whole = tp.evaluate_run(qrels, first, measures=["RR"], missing="zero")
    with pytest.raises(InputError, match="missing="):
        tp.compare({"first": whole, "second": results["second"]})


def test_many_systems_are_compared_with_their_neighbors() -> None:
    comparison = tp.compare({name: tp.evaluate_run(QRELS, run, measures=["AP"]) for name, run in runs(1, 12).items()})
    assert len(comparison.pairs) == 66
    for shown in (comparison.to_text(width=200), comparison.to_markdown()):
        assert sum(" - s" in line and " won " in line for line in shown.splitlines()) == 11
    assert "11 pairs of neighbors" in " ".join(comparison.to_text().split())


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_precision_of_runs_and_lists(precision: Any) -> None:
    scores = [20.12345678912, 20.12345678911, 3.0]
    rounded = [float(np.dtype(precision).type(score)) for score in scores]
    qrels = {"q": {"a": 1, "b": 0, "c": 1}}

    def evaluated(numbers: list[float], **options: Any) -> list[Any]:
        run = {"q": dict(zip("abc", numbers, strict=True))}
        of_run = tp.evaluate_run(qrels, run, measures=["AP"], **options)
        of_scores = tp.evaluate_scores([numbers], [[1, 0, 1]], measures=["AP"], **options)
        of_distances = tp.evaluate_distances([numbers], [[1, 0, 1]], measures=["AP"], **options)
        return [each["AP"] for each in (of_run, of_scores, of_distances)]

    assert evaluated(scores, precision=precision) == evaluated(rounded) != evaluated(scores)


def test_precision_is_recorded_and_verified(tmp_path: Path) -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 20.12345678912, "b": 20.12345678911}}
    result = tp.evaluate_run(qrels, run, measures=["RR"], precision="float32")
    result.save(tmp_path / "run.tieproof")
    assert tp.verify(tmp_path / "run.tieproof", qrels, run).agrees
    printed = result.as_printed("trec_eval", qrels=qrels, run=run).printed
    assert printed is not None
    assert printed["RR"] == 0.5
    assert "by the given scores rounded to float32" in " ".join(result.to_text(explain=True).split())
    with pytest.raises(InputError, match="cannot be combined"):
        tp.evaluate_run(qrels, run, precision="float32", noise=0.1)
    with pytest.raises(InputError, match="beyond the range of float32"):
        tp.evaluate_run(qrels, {"q": {"a": 1e39}}, precision="float32")
    with pytest.raises(InputError, match="Unknown precision='float8'"):
        tp.evaluate_run(qrels, run, precision="float8")  # type: ignore[arg-type]


RUN = b"q1 Q0 a 1 0.9 s\nq1 Q0 b 2 0.5 s\nBZh91 Q0 a 1 0.5 s\n"


def in_tar(*contents: bytes, mode: Any) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for at, content in enumerate(contents):
            info = tarfile.TarInfo(f"run{at}.trec")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run", RUN),
        ("run.xz", lzma.compress(RUN)),
        ("run.bz2", bz2.compress(RUN)),
        ("run.tar", in_tar(RUN, mode="w:")),
        *((f"run.tar.{kind}", in_tar(RUN, mode=f"w:{kind}")) for kind in ("gz", "xz", "bz2")),
    ],
)
def test_packed_runs(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert tp.evaluate_run({"q1": {"a": 0, "b": 1}}, tmp_path / name, measures=["RR"])["RR"].lower == 0.5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lzma.compress(RUN)[:-9], "the xz file is damaged or cut short"),
        (bz2.compress(RUN)[:-9], "the bzip2 file is damaged or cut short"),
        (in_tar(RUN, RUN, mode="w:gz"), r"a .tar archive of 2 files, such as run0.trec, run1.trec, where one is"),
        (b"\x28\xb5\x2f\xfd\x00", "zstd"),
    ],
)
def test_packed_runs_that_cannot_be_read(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "run").write_bytes(content)
    with pytest.raises(InputError, match=said):
        tp.evaluate_run(QRELS, tmp_path / "run")


def test_matlab_file_is_named_with_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "codes.mat").write_bytes(b"MATLAB 5.0 MAT-file, Platform: GLNXA64")
    with pytest.raises(InputError, match=r"a MATLAB file.*scipy\.io\.loadmat"):
        entries_of(split(tmp_path / "codes.mat"))


def test_names_of_systems_keep_tags() -> None:
    files = ["r/input.uogTr.v1.gz", "r/input.p_bm25", "ours.run.xz", "theirs.tar.gz", ".txt"]
    assert [*named(files, {})] == ["input.uogTr.v1", "input.p_bm25", "ours", "theirs", ".txt"]


WRONG_NUMBERS: list[Any] = [{"s0": float("nan")}, {"s0": "0.5"}, {"s0": None}, {0: 0.5}, [0.5], "published.tsv"]


def test_runs_that_are_refused() -> None:
    given = runs(0)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"measure": "NumRet"}, "a count"),
        ({"measures": ["AP"]}, "pass measure= in place of measures="),
        *(({"published": wrong}, "must be {name: number} with finite numbers") for wrong in WRONG_NUMBERS),
    ]
    for options, said in cases:
        with pytest.raises(InputError, match=said):
            tp.leaderboard(QRELS, given, **options)
    with pytest.raises(InputError, match="no Result"):
        tp.leaderboard(None, given)
    for wrong in ("run.txt", {1: given["s0"], "a": given["s1"]}, [tp.evaluate_run(QRELS, given["s0"])] * 2):
        with pytest.raises(InputError, match="with strings as names, or a list of paths"):
            tp.leaderboard(QRELS, wrong)
    numbers = {"x": 0.5, "input.x": 0.25, "output.x": 0.75}
    assert (
        tp.leaderboard(QRELS, dict(given) | {"input.x": given["s0"]}, published=numbers)["input.x"].published == 0.25
    )
