"""Ties in whole rankings, compared with sorting in fractions on hard data; and their pictures and reports."""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib.colors
import matplotlib.figure
import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from checks import assert_found, expected_ties
from collision_oracle import Found, ap_width
from fnmr_oracle import DISTANCES
from hard_sets import HARD_SETS
from peaks import peak_of
from shared_data import load_shared
from tieproof.analyses.collisions import pictures, widest_ties
from tieproof.cli.commands import program
from tieproof.cli.exits import status_of
from tieproof.distances import gauge
from tieproof.engine import FoundTies, plan
from tieproof.measures.families.relevant_ranks import tie_widths
from tieproof.show import style

Array = npt.NDArray[Any]


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_hard_sets(name: str, distance: str) -> None:
    for seed, shape in enumerate([(14, 3), (10, 1)]):
        random = np.random.default_rng(seed)
        data, labels = HARD_SETS[name](random, shape), random.integers(3, size=shape[0])
        assert_found(tp.collisions(data, labels, distance=distance), expected_ties(distance, data, labels, 0.0))


@pytest.mark.few(8)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_epsilon(name: str, distance: str) -> None:
    random = np.random.default_rng(5)
    data = HARD_SETS[name](random, (11, 3))
    for epsilon in (5e-324, 1e-16, 1e-10, 0.25, 1e30):
        expected = expected_ties(distance, data, None, epsilon)
        assert_found(tp.collisions(data, distance=distance, epsilon=epsilon), expected)


@pytest.mark.parametrize("distance", ["euclidean", "cityblock", "sqeuclidean"])
def test_a_gap_of_exactly_epsilon_is_no_collision(distance: str) -> None:
    # Gaps of 1, of slightly less and of slightly more, after a query at 0.
    data = np.cumsum([0.0, 8.0, 1.0, 1.0 - 2.0**-40, 1.0 + 2.0**-40])[:, None]
    if distance == "sqeuclidean":
        data = np.array([0.0, 5.0, 13.0, 85.0])[:, None]  # squares 25, 169, 7225
    for epsilon in (1.0, np.nextafter(1.0, 0), np.nextafter(1.0, 2), 144.0, np.nextafter(144.0, 145)):
        expected = expected_ties(distance, data, None, epsilon)
        assert_found(tp.collisions(data, distance=distance, epsilon=float(epsilon)), expected)


def test_a_gap_of_exactly_epsilon_between_cosines() -> None:
    # Cosines 1, 4/5, 3/5, 0, -3/5, -4/5 with the first row, with gaps such as 1/5 and 3/5.
    data = np.array([[1, 0], [2, 0], [4, 3], [3, 4], [0, 7], [-3, 4], [-4, 3], [-1, 0]])
    for epsilon in (0.5, 0.1999999, 0.2000001, 0.6000001):
        assert_found(tp.collisions(data, epsilon=epsilon), expected_ties("cosine", data, None, epsilon))


@pytest.mark.long
def test_gaps_between_integers_in_almost_one_direction() -> None:
    # Epsilon is each gap between the items' cosines with the query, or a slightly smaller or larger number.
    steps = np.arange(20, 36)
    data = np.concatenate([[[1, 1]], np.stack([steps, steps + 1], axis=1)])
    cosines = (data[1:] @ data[0]) / np.sqrt((data[1:] ** 2).sum(axis=1) * 2)
    for gap in np.abs(np.diff(cosines)).tolist():
        for epsilon in (gap, gap * (1 - 1e-12), gap * (1 + 1e-12)):
            assert_found(tp.collisions(data, epsilon=epsilon), expected_ties("cosine", data, None, epsilon))


def test_signed_integers_of_64_bits() -> None:
    query, items = [[-1, -2, 2, 2]], [[2, -2, 1, 2], [1, -1, 0, 1], [0, 0, 0, -1], [0, 0, 0, -1]]
    found = tp.collisions(query, gallery=items, distance="dot", epsilon=5.0)
    assert_found(found, expected_ties("dot", np.array(query), None, 5.0, np.array(items)))


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_query_and_gallery(distance: str, epsilon: float) -> None:
    random = np.random.default_rng(2)
    data = random.integers(-2, 3, size=(40, 4)) * np.float32(0.1)
    labels = random.integers(5, size=40)
    found = tp.collisions(
        data[:12], labels[:12], gallery=data[12:], gallery_labels=labels[12:], distance=distance, epsilon=epsilon
    )
    expected = expected_ties(distance, data[:12], labels[:12], epsilon, data[12:], labels[12:])
    assert_found(found, expected)
    unlabelled = tp.collisions(data[:12], gallery=data[12:], distance=distance, epsilon=epsilon)
    assert_found(unlabelled, expected_ties(distance, data[:12], None, epsilon, data[12:]))
    assert unlabelled.pairs >= found.pairs


@pytest.mark.parametrize("bits", [8, 64])
def test_hamming(bits: int) -> None:
    random = np.random.default_rng(bits)
    codes, labels = random.random(size=(40, bits)) < 0.5, random.integers(4, size=40)
    expected = expected_ties("hamming", codes, labels, 0.0)
    assert_found(tp.collisions(codes, labels, distance="hamming"), expected)
    packed = np.packbits(codes, axis=1)
    assert_found(tp.collisions(packed, labels, distance="hamming", bits=bits, epsilon=0.5), expected)
    expected = expected_ties("hamming", codes, labels, 1.5)
    assert_found(tp.collisions(codes, labels, distance="hamming", epsilon=1.5), expected)


def test_a_function() -> None:
    random = np.random.default_rng(1)
    data, labels = random.integers(0, 9, size=(40, 2)), random.integers(4, size=40)

    def function(queries: Array, items: Array) -> Array:
        return np.asarray(np.abs(queries[:, None] - items[None]).sum(axis=2))

    for epsilon in (0.0, 1.5):
        found = tp.collisions(data, labels, distance=function, epsilon=epsilon)
        assert_found(found, expected_ties("cityblock", data, labels, epsilon))
    assert found.setting.distance == "function function"


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", ["int8 few values", "duplicates", "multiples", "one ulp apart float32", "all zero"])
def test_widths_add_up_to_the_interval_of_ap(name: str, distance: str) -> None:
    random = np.random.default_rng(3)
    data, labels = HARD_SETS[name](random, (70, 4)), random.integers(6, size=70)
    found, result = tp.collisions(data, labels, distance=distance), tp.evaluate(data, labels, distance=distance)
    ap, per_query = result["AP"], result.per_query("AP")
    assert found.query_ids.tolist() == result.query_ids.tolist()
    assert np.abs(found.per_query["ap_width"] - (per_query.upper - per_query.lower)).max() <= 1e-12
    assert abs(found.ap_width - (ap.upper - ap.lower)) <= 1e-12
    assert abs(sum(each.ap_width for each in found.by_range) - found.ap_width) <= 1e-12
    assert found.ambiguous_ties == result.ties.ambiguous_ties
    widths = [tie.ap_width for tie in found.widest]
    assert widths == sorted(widths, reverse=True)
    assert len(widths) == min(found.ambiguous_ties, widest_ties.WIDEST)


def test_the_widest_ties() -> None:
    random = np.random.default_rng(4)
    data, labels = random.integers(-2, 3, size=(60, 3)), random.integers(5, size=60)
    found = tp.collisions(data, labels, distance="euclidean")
    everything = [
        (-ap_width(tie, count), *tie, count, query)
        for query, count, of_query in expected_ties("euclidean", data, labels, 0.0)
        for tie in of_query
        if 0 < tie.m < tie.l
    ]
    expected = sorted(everything)[: widest_ties.WIDEST]
    assert [(*tie[1:5], tie.query) for tie in found.widest] == [
        (*letters, query) for _, *letters, _, query in expected
    ]
    assert [tie.ap_width for tie in found.widest] == pytest.approx([float(-row[0]) for row in expected], rel=1e-15)


@pytest.mark.parametrize("swapped", [False, True])
def test_equally_wide_ties_are_in_an_order_that_rounding_has_no_part_in(swapped: bool) -> None:
    """All widths are 11/30; as floats they differ in the last bit, which must not affect the order."""
    one = [0, 0, 0, 0, 0, 0, 1, 2, 3, 4], [1, 1, 0, 0, 0, 0, 1, 1, 0, 0]
    other = [0, 1, 1, 1, 1, 1, 2, 3, 4, 5], [2, 2, 2, 0, 0, 0, 0, 0, 0, 0]
    order = [1, 0] if swapped else [0, 1]
    places = np.array([one[0], other[0]], dtype=float)
    gallery = np.repeat(np.arange(2), 10) * 10 + np.tile(np.arange(10), 2)

    def distance(queries: Array, items: Array) -> Array:
        """Items of the other query are far away, each at a different distance."""
        query, item = queries.astype(int), items[:, 0].astype(int)
        own = item // 10 == query
        return np.where(own, places[query, item % 10], 100.0 + item)

    found = tp.collisions(
        np.array([[0.0], [1.0]])[order],
        np.array([1, 2])[order],
        gallery=gallery[:, None].astype(float),
        gallery_labels=one[1] + other[1],
        distance=distance,
    )
    assert [tie[1:5] for tie in found.widest] == [(0, 0, 6, 2), (1, 1, 5, 2)]
    assert [tie.query for tie in found.widest] == order
    assert {tie.ap_width for tie in found.widest} == {11 / 30}


def test_nearly_equal_widths_are_in_the_order_of_their_fractions() -> None:
    """For all ties of few items, compared with the definition: in any order, and in batches of any size."""
    kinds = [
        widest_ties.TieKind(before, hits_before, items, relevant, hits_before + relevant + later)
        for before in range(6)
        for hits_before in range(min(before, 3) + 1)
        for items in range(2, 7)
        for relevant in range(1, items)
        for later in (0, 2)
    ]
    random = np.random.default_rng(5)
    for widest in (Fraction(1, 12), Fraction(1, 10), Fraction(1, 20), Fraction(1)):
        widths_of = {kind: ap_width(Found(*kind[:4]), kind.n_relevant) for kind in kinds}
        chosen = [kind for kind in kinds if widths_of[kind] <= widest]
        expected = sorted((-widths_of[kind], kind) for kind in chosen)[: widest_ties.WIDEST]
        collected = widest_ties.WidestTies()
        for part in np.array_split(random.permutation(len(chosen)), 7):
            *letters, n_relevant = np.array([chosen[place] for place in part]).T
            found = FoundTies(part, n_relevant, np.arange(len(part)), *letters)
            collected.add(part, found, tie_widths(*letters) / n_relevant)
        assert [kind for kind, _, _ in collected.kept] == [kind for _, kind in expected]
        widths = [tie.ap_width for tie in collected.ties()]
        assert widths == pytest.approx([float(-width) for width, _ in expected], rel=1e-15)
        assert widths == sorted(widths, reverse=True)
        assert len(set(widths)) == len({width for width, _ in expected})


def test_groups_and_excluded_pairs_leave_gaps() -> None:
    # Items at 1, 2, 3, 4 from the query: without those at 2 and 3, nothing is within 1.5 of anything.
    data, labels = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), [1, 1, 2, 2, 1]
    options: dict[str, Any] = {"distance": "euclidean", "epsilon": 1.5}
    assert tp.collisions(data, labels, **options).per_query["pairs"][0] == 3
    without = tp.collisions(data, labels, exclude=[(0, 2), (0, 3)], **options)
    assert (without.per_query["pairs"][0], without.query_ids[0]) == (0, 0)
    grouped = tp.collisions(data, [1, 1, 1, 1, 1], groups=[1, 2, 1, 1, 2], **options)
    assert grouped.per_query["pairs"].tolist()[0] == 0


def report(data: Array, labels: Array, **options: Any) -> dict[str, Any]:
    found = tp.collisions(data, labels, **options)
    whole = found.to_dict()
    return {
        **whole,
        "widest": [tie["ap_width"] for tie in whole["widest"]],
        "ranks": found.by_rank["others"].tolist(),
    }


@pytest.mark.parametrize("epsilon", [0.0, 1e-3])
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", ["gaussian float32", "int8 few values", "one ulp apart float32", "duplicates"])
def test_same_bits(name: str, distance: str, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(11)
    data, labels = HARD_SETS[name](random, (60, 5)), random.integers(5, size=60)
    expected = report(data, labels, distance=distance, epsilon=epsilon, threads=1)
    for threads, memory in ((1, "1KiB"), (2, "32MiB"), (3, "4GiB")):
        items, dimensions = random.permutation(60), random.permutation(5)
        permuted = data[items][:, dimensions]
        assert expected == report(
            permuted, labels[items], distance=distance, epsilon=epsilon, threads=threads, memory=memory
        )
    monkeypatch.setattr(plan, "LARGEST_STRIPE", 7)
    monkeypatch.setattr(gauge, "COLUMNS", 9)
    assert report(data, labels, distance=distance, epsilon=epsilon, threads=2) == expected


def test_cells_of_a_large_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    data, labels = random.integers(-2, 3, size=(60, 3)), random.integers(5, size=60)
    fine = tp.collisions(data, labels).cells
    monkeypatch.setattr(pictures, "MOST_ROWS", 7)
    monkeypatch.setattr(pictures, "MOST_COLUMNS", 11)
    coarse = tp.collisions(data, labels).cells
    assert fine.relevant.shape == (60, 59)
    assert fine.relevant.max() == fine.others.max() == 1
    assert np.diff(coarse.ranks).tolist() == [1, 2, 4, 8, 16, 28]
    assert (fine.ambiguous_others <= fine.others).all()
    assert 0 < fine.ambiguous_relevant.sum() < fine.relevant.sum()
    for kind in ("relevant", "others", "ambiguous_relevant", "ambiguous_others"):
        rows = np.add.reduceat(getattr(fine, kind), coarse.queries[:-1], axis=0)
        assert (np.add.reduceat(rows, coarse.ranks[:-1], axis=1) == getattr(coarse, kind)).all()


def test_the_first_figure_of_the_paper() -> None:
    # Figure 1: ranks 1-2 and 5-7 tied, one relevant item in each, of 100: AP from 0.392857 to 0.7.
    distances = np.arange(1.0, 101.0)
    distances[1], distances[5:7] = 1.0, 5.0
    labels = np.zeros(100, dtype=int)
    labels[[0, 5]] = 1
    found = tp.collisions([[0.0]], [1], gallery=distances[:, None], gallery_labels=labels, distance="euclidean")
    assert (found.pairs, found.ties, found.ambiguous_ties) == (3, 2, 2)
    assert found.ap_width == pytest.approx(0.7 - 0.392857142857142857, abs=1e-12)
    assert [(tie.k, tie.n, tie.l, tie.m) for tie in found.widest] == [(0, 0, 2, 1), (4, 1, 3, 1)]


def test_pictures_and_reports(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    data, labels = random.integers(-2, 3, size=(50, 3)), random.integers(5, size=50)
    found = tp.collisions(data, labels)
    drawn = matplotlib.figure.Figure()
    first, second = drawn.subplots(1, 2)
    assert found.plot(first) is first
    assert found.plot_ranks(second) is second
    assert first.get_xlabel() == "rank"
    assert "queries" in first.get_ylabel()
    assert second.get_xlabel() == "rank"
    names = [text.get_text() for text in first.get_legend().get_texts()]
    assert names == [
        f"{item}, in {tie} tie" for tie in ("an ambiguous", "a harmless") for item in ("relevant", "other")
    ]
    assert f"{found.ambiguous_ties} ambiguous ties leave AP open by" in first.get_title("left")
    (line,) = (step for step in second.patches if not step.get_fill())
    assert (line.get_data().values * len(found.query_ids)).round().astype(int).tolist() == list(
        found.ambiguous_by_rank
    )
    drawn.savefig(tmp_path / "both.png")
    assert f"{found.ties:,}" in str(found)
    frame = found.to_frame()
    assert frame["query"].tolist() == found.query_ids.tolist()
    assert frame["ap_width"].tolist() == found.per_query["ap_width"].tolist()
    assert json.loads(found.to_json())["ambiguous_ties"] == found.ambiguous_ties
    unlabelled = tp.collisions(data)
    unlabelled.plot(first)
    unlabelled.plot_ranks(second)
    assert "ambiguous" not in str(unlabelled)
    assert unlabelled.to_dict()["ap_width"] is None
    assert "There are no such neighbors" in str(tp.collisions(random.normal(size=(9, 4)))).replace("\n", " ")


def test_colors_of_cells() -> None:
    # Items 1 and 2 of query 0 are tied, and one of them is relevant. Items 2 and 3 of query 1 are tied, and none is.
    found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")
    cells = found.plot(matplotlib.figure.Figure().subplots()).collections[0].get_array()
    colors = [matplotlib.colors.to_rgb(name) for name in (style.ORANGE, style.VERMILION, style.GRAY)]
    assert np.allclose([cells[0, 0, :3], cells[0, 1, :3], cells[1, 1, :3]], colors)
    assert cells[0, :, 3].tolist() == [1, 1, 0]
    assert 0 < cells[1, 1, 3] == cells[1, 2, 3] < 1
    assert not cells[2:, :, 3].any()


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(7)
    data, labels = random.integers(-2, 3, size=(40, 3)).astype(np.float32), random.integers(4, size=40)
    np.savez("data.npz", embeddings=data, labels=labels)
    np.save("embeddings.npy", data)
    np.save("labels.npy", labels)

    def run(*args: str) -> tuple[int, str, str]:
        status = status_of(program, ["collisions", *args])
        return (status, *capsys.readouterr())

    expected = f"{tp.collisions(data, labels)}\n"
    assert run("data.npz") == (0, expected, "")
    assert run("embeddings.npy", "labels.npy") == (0, expected, "")
    assert run("embeddings.npy") == (0, f"{tp.collisions(data)}\n", "")
    close = tp.collisions(data[:9], labels[:9], gallery=data[9:], gallery_labels=labels[9:], epsilon=0.01)
    np.savez("queries.npz", embeddings=data[:9], labels=labels[:9])
    np.savez("gallery.npz", embeddings=data[9:], labels=labels[9:])
    assert run("queries.npz", "--gallery", "gallery.npz", "--epsilon", "0.01") == (0, f"{close}\n", "")
    files = ("--plot", "picture.svg", "--plot-ranks", "ranks.png", "--per-query", "queries.csv", "--json", "all.json")
    assert run("data.npz", *files)[0] == 0
    assert json.loads(Path("all.json").read_text()) == tp.collisions(data, labels).to_dict()
    assert "<svg" in Path("picture.svg").read_text()
    assert Path("ranks.png").read_bytes().startswith(b"\x89PNG")
    assert Path("queries.csv").read_text().startswith("query,pairs,ties,ambiguous_ties,")
    assert run("data.npz", "--json", "-")[1] == tp.collisions(data, labels).to_json() + "\n"
    for wrong in (("--epsilon", "-1"), ("--epsilon", "x"), ("--epsilon", "nan"), ("--plot", "picture.gif")):
        status, out, err = run("data.npz", *wrong)
        assert (status, out, err.count("\n")) == (2, "", 1)
    assert run("absent.npy")[0] == 2


@pytest.mark.parametrize("epsilon", [-1.0, float("nan"), float("inf"), "1e-10", True, None])
def test_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(tp.InputError, match="Epsilon must be a finite number of at least 0"):
        tp.collisions([[1.0], [2.0]], epsilon=epsilon)


def test_what_is_refused() -> None:
    with pytest.raises(tp.InputError, match="row 1"):
        tp.collisions([[1.0], [np.nan]])
    with pytest.raises(tp.InputError, match="No query has a relevant item"):
        tp.collisions([[1.0], [2.0]], [1, 2])
    with pytest.raises(tp.InputError, match="without labels"):
        tp.collisions([[1.0], [2.0]], groups=[1, 2])


@pytest.mark.long
@pytest.mark.parametrize(("classes", "budget"), [(3, 32), (1500, 128)])
def test_peak_stays_within_the_budget(classes: int, budget: int) -> None:
    random = np.random.default_rng(0)
    data, labels = random.integers(-1, 2, size=(3000, 8)).astype(np.float32), random.integers(classes, size=3000)
    tp.collisions(data[:100], labels[:100] % 3)  # loads libraries
    peak = peak_of(lambda: tp.collisions(data, labels, memory=f"{budget}MiB", threads=2))
    assert peak <= budget * 2**20


def test_the_page_of_collisions_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "collisions.md"
    if not page.exists():
        pytest.skip("no docs beside the tests")
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(code, names)
    assert f"{names['found'].ambiguous_ties:,}" in capsys.readouterr().out


def test_phocnet() -> None:
    data = load_shared("phocnet.npz")
    features, labels = data["phocnet_features"], data["phocnet_labels"].ravel().astype(np.int64)
    exact = tp.collisions(features, labels)
    assert len(exact.query_ids) == 899
    assert exact.ambiguous_ties == 0
    loose = tp.collisions(features, labels, epsilon=1e-5)
    rows = features.astype(np.float64)
    rows /= np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    for place in range(0, 899, 100):
        query = loose.query_ids[place]
        distances = np.sort(np.delete(1 - rows @ rows[query], query))
        assert loose.per_query["pairs"][place] == np.count_nonzero(np.diff(distances) < 1e-5)
