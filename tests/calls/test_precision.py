"""Distances rounded to a number format, compared with the definition in fractions on hard data."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tieproof as tp
from checks import assert_scores
from exact_oracle import fractions
from fnmr_oracle import DISTANCES
from forced import FORCED, small_tiles
from hard_sets import HARD_SETS
from peaks import peak_of
from rounding_oracle import distance as real_distance
from rounding_oracle import known, number_of_bits, rounded
from shard_files import write
from shared_data import load_shared
from tieproof.cli.commands import program
from tieproof.cli.exits import status_of
from tieproof.distances import DISTANCES as REGISTERED
from tieproof.distances import make_space
from tieproof.distances.gauge import LINEAR, SpaceGauge, curve, resources_of_gauge
from tieproof.engine import plan
from tieproof.engine.problem import Budget, Problem
from tieproof.engine.ranked import room_for_guides
from tieproof.engine.rounded import RoundedSpace, Unrounded, nearness_of, round_pairs, target_of
from tieproof.engine.rounded import numbers_of as engine_numbers_of
from tieproof.engine.structures import Thresholds
from tieproof.inputs.options import FORMATS
from tieproof.inputs.relevance import Labels

pytestmark = pytest.mark.filterwarnings("ignore:.* of which every bit is set about half of the time")
"""Some data is random bytes, which look like packed codes."""

PRECISIONS = tuple(FORMATS)

Array = npt.NDArray[np.generic]


def found_distances(data: Array, name: str, precision: str, gallery: Array | None = None) -> npt.NDArray[np.float64]:
    """Rounded distances of all rows to all others, as the evaluation ranks them."""
    items = data if gallery is None else gallery
    labels = [np.zeros(len(side), dtype=np.int64) for side in (data, items)]
    relevance = Labels.of(labels[0], None if gallery is None else labels[1])
    problem = Problem(data, gallery, REGISTERED[name], name, data.shape[1], relevance, Budget(2**28, 1))
    gauge = problem.gauge()
    assert isinstance(gauge, SpaceGauge)
    space = RoundedSpace(gauge, FORMATS[precision], 7)
    rows, columns = slice(0, len(space.queries)), slice(0, len(space.items))
    tile = space.tile(rows, columns)
    row, column = (places.ravel() for places in np.indices(tile.shape))
    keys, errors = space.keys(row, column)
    assert (keys == tile.ravel()).all()
    assert not errors.any()
    return numbers_of(tile, precision)[gauge.identity[0][:, None], gauge.identity[1]]


def numbers_of(nearness: npt.NDArray[np.floating], precision: str) -> npt.NDArray[np.float64]:
    """The negated distances at these positions of the format."""
    bits = np.abs(nearness).astype(np.uint32)
    if precision == "float16":
        numbers = bits.astype(np.uint16).view(np.float16).astype(np.float64)
    else:
        numbers = (bits << 16 if precision == "bfloat16" else bits).view(np.float32).astype(np.float64)
    magnitudes = np.where(np.isinf(numbers), FORMATS[precision].infinity, numbers)
    return np.where(nearness > 0, -magnitudes, magnitudes)


def expected_distances(data: Array, name: str, precision: str) -> list[list[Fraction]]:
    """Rounded distances; all are symmetric, so each is computed once."""
    rows = fractions(data)
    size = range(len(rows))
    half = [[rounded(precision, real_distance(name, rows[x], rows[y])) for y in range(x + 1)] for x in size]
    return [[half[max(x, y)][min(x, y)] for y in size] for x in size]


def assert_rounded(data: Array, name: str, precision: str) -> None:
    found, expected = found_distances(data, name, precision), expected_distances(data, name, precision)
    assert [[Fraction(value) for value in row] for row in found.tolist()] == expected


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_hard_sets(name: str, distance: str, precision: str) -> None:
    for seed, shape in enumerate([(7, 3), (6, 1)]):
        assert_rounded(HARD_SETS[name](np.random.default_rng(seed), shape), distance, precision)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("scale", [2.0**-24, 2.0**-14, 2.0**-75, 2.0**-63, 2.0**8, 2.0**64, 2.0**127, 1 / 3])
def test_subnormal_numbers_midpoints_and_overflow(scale: float, distance: str, precision: str) -> None:
    # Integers times a power of two: distances at midpoints, below the smallest number, and beyond the largest.
    random = np.random.default_rng(3)
    steps = np.array([1, 2, 3, 5, 2**8 + 1, 2**9 + 1, 2**11 + 1, 2**12 + 1, 2**24 + 1, 2**25 + 1, 2**25 + 3])
    data = np.concatenate([np.zeros((1, 2)), np.stack([steps, random.permutation(steps)], axis=1)]) * scale
    assert_rounded(data, distance, precision)
    assert_rounded(data * np.array([1.0, 0.0]), distance, precision)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("distance", DISTANCES)
def test_half_way(distance: str, precision: str) -> None:
    # Items exactly at a midpoint, and slightly nearer or farther: only exact arithmetic distinguishes them.
    half = 2.0 ** -FORMATS[precision].precision
    midpoints = np.array([1 + half, 1 + 3 * half, 1.5 + half, 2 - half])
    places = np.concatenate([midpoints, np.nextafter(midpoints, 0), np.nextafter(midpoints, 9)])
    data = np.zeros((len(places) + 1, 3))
    data[1:, 0] = np.sqrt(places) if distance == "sqeuclidean" else places
    data[0, 2] = data[1:, 1] = 0.0 if distance != "dot" else 1.0
    assert_rounded(data, distance, precision)


@pytest.mark.parametrize("distance", ["sqeuclidean", "dot"])
@pytest.mark.parametrize("largest", [1.2711610061536464e308, 1.7976931348623157e308])
def test_squares_of_the_largest_floats(largest: float, distance: str) -> None:
    """Their divisors are powers of two whose square is beyond that of the largest float64."""
    data = np.array([[0.0, 1.0], [largest, 0.0], [0.0, 2.0], [-largest, largest]])
    for precision in FORMATS:
        assert_rounded(data, distance, precision)
        tp.evaluate(data, [0, 1, 0, 1], distance=distance, precision=precision)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_floats(data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(2, 4), st.integers(1, 3)))
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    small = st.integers(-9, 9).map(float)
    entries = data.draw(
        st.lists(st.one_of(numbers, small), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    )
    distance, precision = data.draw(st.sampled_from(DISTANCES)), data.draw(st.sampled_from(PRECISIONS))
    assert_rounded(np.array(entries).reshape(shape), distance, precision)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_codes_at_midpoints(precision: str) -> None:
    # 1 - x.y / 512 is a multiple of 1/256; every second one beyond a right angle is half way between two bfloat16.
    random = np.random.default_rng(0)
    codes = random.choice([-1.0, 1.0], size=(15, 512)).astype(np.float32)
    codes[1:12] = codes[0] * np.where(np.arange(512) < np.arange(40, 51)[:, None] * 10, -1, 1)
    for data in (codes, codes / np.float32(np.sqrt(512)), codes * np.float32(0.1)):
        assert_rounded(data, "cosine", precision)


@pytest.mark.parametrize(
    "pair", [([59, 9], [72, 11]), ([65, 16], [69, 17]), ([54, 29], [67, 36]), ([51, 37], [67, 48])], ids=str
)
def test_integers_in_almost_one_direction(pair: tuple[list[int], list[int]]) -> None:
    # Squared cosines, ratios of small integers, are so close to 1 that float64 keeps few digits of the distance, and
    # these are so close to the midpoint of two float32 that they are rounded wrongly without an error bound.
    query, item = np.array(pair[:1]), np.array(pair[1:])
    expected = rounded("float32", real_distance("cosine", *fractions(np.concatenate([query, item]))))
    assert found_distances(query, "cosine", "float32", item).tolist() == [[float(expected)]]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("bits", [7, 3000])
def test_hamming(bits: int, precision: str) -> None:
    random = np.random.default_rng(bits)
    codes, labels = random.random(size=(30, bits)) < 0.5, random.integers(3, size=30)
    codes[0], codes[1:8] = False, np.arange(bits) < np.array([[255], [256], [257], [2048], [2049], [2050], [2051]])
    distances = (codes[:, None] != codes[None]).sum(axis=2)
    expected = [[rounded(precision, known(number)) for number in row] for row in distances.tolist()]
    result = tp.evaluate(codes, labels, distance="hamming", precision=precision, measures=["AP"], empty="zero")
    assert_scores(result, expected, labels)
    packed = tp.evaluate(
        np.packbits(codes, axis=1),
        labels,
        distance="hamming",
        bits=bits,
        precision=precision,
        measures=["AP"],
        empty="zero",
    )
    assert packed.to_json() == result.to_json()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", ["gaussian float32", "int8", "one ulp apart float32", "duplicates", "1e37", "1e-40"])
def test_scores(name: str, distance: str, precision: str) -> None:
    random = np.random.default_rng(4)
    data, labels = HARD_SETS[name](random, (17, 5)), random.integers(3, size=17)
    result = tp.evaluate(data, labels, distance=distance, precision=precision, measures=["AP"], empty="zero")
    assert_scores(result, expected_distances(data, distance, precision), labels)


@pytest.mark.parametrize("distance", DISTANCES)
def test_query_and_gallery(distance: str) -> None:
    random = np.random.default_rng(9)
    data = random.normal(size=(20, 4))
    found = found_distances(data[:8], distance, "float16", data[8:])
    assert (found == found_distances(data, distance, "float16")[:8, 8:]).all()


def nearest(numbers: npt.NDArray[np.float64], precision: str) -> npt.NDArray[np.float64]:
    return numbers_of(nearness_of(numbers[None], target_of(FORMATS[precision]))[0], precision)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_function(precision: str) -> None:
    random = np.random.default_rng(1)
    data, labels = random.normal(size=(40, 3)), random.integers(4, size=40)

    def function(queries: Array, items: Array) -> npt.NDArray[np.float64]:
        return np.asarray(np.abs(queries[:, None].astype(float) - items[None].astype(float)).sum(axis=2))

    distances = function(data, data)
    kept = numbers_of(nearness_of(distances, target_of(FORMATS[precision])), precision)
    relevance = np.where(np.eye(40, dtype=bool), -1, labels[:, None] == labels)
    expected = tp.evaluate_distances(kept, relevance).to_dict()["measures"]
    assert tp.evaluate(data, labels, distance=function, precision=precision).to_dict()["measures"] == expected


def numbers_to_round(precision: str) -> list[float]:
    """Numbers of a format, midpoints, and their neighbors, of either sign."""
    count = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000}[precision]
    random = np.random.default_rng(2)
    bits = np.concatenate([np.arange(40), count - 1 - np.arange(40), random.integers(count - 1, size=400)])
    found = []
    for each in bits.tolist():
        number, following = (float(number_of_bits(precision, each + step)) for step in (0, 1))
        middle = (number + following) / 2
        found += [number, middle, np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf)]
    return [*found, *(-number for number in found), 1e300, -1e300, 5e-324]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_rounding_of_floats_and_fractions(precision: str) -> None:
    numbers = numbers_to_round(precision)
    expected = [rounded(precision, known(number)) for number in numbers]
    assert [Fraction(number) for number in nearest(np.array(numbers), precision).tolist()] == expected
    assert [Fraction(FORMATS[precision].rounded(Fraction(number))) for number in numbers] == expected


def test_rounding_as_numpy_does() -> None:
    random = np.random.default_rng(5)
    numbers = random.normal(size=3000) * 10.0 ** random.integers(-9, 6, size=3000)
    for name, dtype in (("float16", np.float16), ("float32", np.float32)):
        with np.errstate(over="ignore"):
            expected = numbers.astype(dtype).astype(np.float64)
        expected = np.clip(expected, -FORMATS[name].infinity, FORMATS[name].infinity)
        assert nearest(numbers, name).tolist() == expected.tolist()


def test_an_error_that_spans_a_midpoint_leaves_a_value_open() -> None:
    values, out = np.array([1.0, 1 + 2.0**-11, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, np.inf]), np.empty(5)
    errors = np.array([2.0**-13, 0.0, 2.0**-52, 2.0**-50, np.inf])
    round_pairs(values, errors, curve(LINEAR), target_of(FORMATS["float16"]), out)
    one = -np.float16(1.0).view(np.int16)
    assert out.tolist()[:2] == [one, one]
    assert np.isnan(out).tolist() == [False, False, True, False, True]
    assert out[3] == one - 1


def evaluated(data: Array, labels: npt.NDArray[np.int64], **options: object) -> str:
    return tp.evaluate(data, labels, **options).to_json()  # type: ignore[arg-type]


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(
    "name", ["gaussian float32", "int8", "one ulp apart float32", "duplicates", "0.1, 0.2, 0.3 float64"]
)
def test_same_bits(name: str, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(11)
    data, labels = HARD_SETS[name](random, (90, 5)), random.integers(5, size=90)
    expected = evaluated(data, labels, distance=distance, precision="float16", threads=1)
    for threads, memory in ((1, "1KiB"), (2, "32MiB"), (3, "4GiB")):
        items, dimensions = random.permutation(90), random.permutation(5)
        found = evaluated(
            data[items][:, dimensions],
            labels[items],
            distance=distance,
            precision="float16",
            threads=threads,
            memory=memory,
        )
        assert found == expected
    monkeypatch.setattr(plan, "LARGEST_SIDE", 7)
    monkeypatch.setattr(plan, "SMALLEST_SIDE", 7)
    assert evaluated(data, labels, distance=distance, precision="float16", threads=2) == expected


TILES = [name for name in FORCED if "tiles" in name and name != "no_tiles"]
BEFORE_ROUNDING = {
    name: FORCED[name] for name in (*TILES, "codes_sifted", "codes_written", "codes_by_loop", "codes_out_of_memory")
}
"""The methods of counting that count distances before rounding."""

BEFORE = ("cosine", "dot", "euclidean", "sqeuclidean")
"""The distances whose real numbers can be counted in place of rounded ones."""

NAMES = ["gaussian float32", "one ulp apart float32", "near one row", "duplicates", "1e37", "1e-40", "some rows zero"]


@pytest.mark.few(3)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("forced", BEFORE_ROUNDING)
def test_distances_before_rounding(
    forced: str, distance: str, precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles of real distances count every item where its rounded distance is."""
    random = np.random.default_rng([len(forced), len(distance)])
    taken: list[Unrounded] = []

    def keep_rows(space: Unrounded) -> None:
        taken.append(space)
        space.space.keep_rows()

    for name in NAMES:
        data, labels = HARD_SETS[name](random, (60, 5)), random.integers(9, size=60)
        calls: list[dict[str, Any]] = [
            {"embeddings": data, "labels": labels},
            {"embeddings": data, "labels": labels, "groups": np.arange(60) % 7},
            {"embeddings": data[:20], "labels": labels[:20], "gallery": data[20:], "gallery_labels": labels[20:]},
        ]
        options: dict[str, Any] = {"distance": distance, "precision": precision, "empty": "zero"}
        expected = [tp.evaluate(**call, **options).to_json() for call in calls]
        folder = write(tmp_path / name, ".npy", data, labels, [25, 60])
        with monkeypatch.context() as patch:
            BEFORE_ROUNDING[forced](patch)
            patch.setattr(plan, "FEW_PAIRS", 0)
            taken.clear()
            patch.setattr(Unrounded, "keep_rows", keep_rows)
            assert [tp.evaluate(**call, **options).to_json() for call in calls] == expected
            assert not name.startswith("gaussian") or bool(taken) == (distance in BEFORE)
            small_tiles(patch, 7)
            assert [tp.evaluate(**call, **options, memory="1B").to_json() for call in calls] == expected
            assert tp.evaluate(tp.open(folder), **options, memory=1000).to_json() == expected[0]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("distance", BEFORE)
def test_intervals_contain_all_distances_that_round_to_a_threshold(distance: str, precision: str) -> None:
    """Real distances at the ends of what rounds to a number, and the nearness that belongs to them."""
    data = np.random.default_rng(3).normal(size=(5, 4))
    order = (np.arange(5), np.arange(5))
    gauge = REGISTERED[distance].gauge(make_space(REGISTERED[distance], data, None, order, resources_of_gauge(2**20)))
    assert isinstance(gauge, SpaceGauge)
    space, target = RoundedSpace(gauge, FORMATS[precision], 7).unrounded, target_of(FORMATS[precision])
    assert isinstance(space, Unrounded)
    rows = np.arange(5)
    places = np.array([0.0, 1.0, 7.0, 200.0, 900.0])
    numbers = engine_numbers_of(places, target)
    assert nearness_of(numbers[None], target)[0].tolist() == (-places).tolist()
    start = np.arange(6)
    guide, scale = room_for_guides(5, 5)
    given = Thresholds(start[:-1], start[1:], -places, np.zeros(5), np.zeros(5), guide, scale)
    plan.to_intervals(space, rows, given)
    for row, number, place in zip(rows.tolist(), numbers.tolist(), places.tolist(), strict=True):
        near, far = (Fraction(float(engine_numbers_of(np.array([place + step]), target)[0])) for step in (-1, 1))
        square = sum(Fraction(entry) ** 2 for entry in data[row].tolist())
        for end in ((Fraction(number) + near) / 2, (Fraction(number) + far) / 2):
            exact = {
                "cosine": 1 - end,
                "dot": -end / gauge.scale,
                "euclidean": (square - end**2) / gauge.scale,
                "sqeuclidean": (square - end) / gauge.scale,
            }[distance]
            assert abs(Fraction(float(given.key[row])) - exact) <= Fraction(float(given.reach[row]))


def test_rounding_leaves_exact_integers_as_they_are() -> None:
    random = np.random.default_rng(6)
    data, labels = random.integers(-4, 5, size=(60, 6)).astype(np.int8), random.integers(4, size=60)
    for distance in ("sqeuclidean", "cityblock", "dot"):
        rounded_to_float16 = tp.evaluate(data, labels, distance=distance, precision="float16").to_dict()
        exact = tp.evaluate(data, labels, distance=distance).to_dict()
        assert rounded_to_float16["measures"] == exact["measures"]
        assert (rounded_to_float16["setting"]["precision"], exact["setting"]["precision"]) == ("float16", None)


@pytest.mark.parametrize("distance", ["cosine", "hamming"])
def test_zero_vectors_are_those_of_exact_distances(distance: str) -> None:
    data, labels = np.arange(24).reshape(12, 2) > 6, [1, 2] * 6
    exact, kept = (
        tp.evaluate(data, labels, distance=distance, precision=name).ties.zero_vectors for name in (None, "float16")
    )
    assert kept == exact == (3 if distance == "cosine" else 0)


def test_distances_beyond_the_format_are_tied() -> None:
    # 40,000 and 70,000 are different numbers, and in float16 the second one is infinite, as is 90,000.
    data = np.array([[0.0], [40_000.0], [70_000.0], [90_000.0]])
    relevance = [(0, 2)]
    exact, kept = (
        tp.evaluate(data, relevance=relevance, distance="euclidean", precision=precision, measures=["RR"])["RR"]
        for precision in (None, "float16")
    )
    assert (exact.lower, exact.upper) == (0.5, 0.5)
    assert (kept.lower, kept.upper) == (1 / 3, 0.5)


def test_settings_report_and_evaluator() -> None:
    random = np.random.default_rng(7)
    data, labels = random.normal(size=(30, 4)), random.integers(3, size=30)
    expected = tp.evaluate(data, labels, precision="bfloat16")
    assert expected.setting.precision == "bfloat16"
    assert "under cosine distance rounded to bfloat16." in " ".join(expected.to_text(explain=True).split())
    evaluator = tp.Evaluator(precision="bfloat16")
    evaluator.update(data, labels)
    assert evaluator.compute().to_json() == expected.to_json()
    zeros = tp.evaluate(np.zeros((4, 2)), [1, 1, 2, 2], precision="float32")
    assert zeros.ties.zero_vectors == 4


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(7)
    data, labels = random.normal(size=(30, 4)), random.integers(3, size=30)
    np.savez(tmp_path / "data.npz", embeddings=data, labels=labels)
    assert status_of(program, ["evaluate", str(tmp_path / "data.npz"), "--precision", "float16"]) == 0
    assert capsys.readouterr().out == f"{tp.evaluate(data, labels, precision='float16')}\n"
    assert status_of(program, ["evaluate", str(tmp_path / "data.npz"), "--precision", "float8"]) == 2
    assert "'float8' is not one of float32, float16, bfloat16" in capsys.readouterr().err


@pytest.mark.parametrize("precision", ["float64", "half", 16, ""])
def test_unknown_precision(precision: object) -> None:
    with pytest.raises(tp.InputError, match=r"Unknown precision=.*Known: float32, float16, bfloat16"):
        tp.evaluate([[1.0], [2.0]], [1, 1], precision=precision)  # type: ignore[arg-type]
    with pytest.raises(tp.InputError, match="Unknown precision"):
        tp.Evaluator(precision=precision)  # type: ignore[arg-type]


def test_what_is_refused_without_a_precision_is_refused_with_one() -> None:
    with pytest.raises(tp.InputError, match="row 1"):
        tp.evaluate([[1.0], [np.nan]], [1, 1], precision="float16")


@pytest.mark.long
@pytest.mark.parametrize(("count", "classes", "budget"), [(2200, 3, 32), (3000, 1500, 128)])
def test_peak_stays_within_the_budget(count: int, classes: int, budget: int) -> None:
    random = np.random.default_rng(0)
    data, labels = random.normal(size=(count, 8)).astype(np.float32), random.integers(classes, size=count)
    tp.evaluate(data[:100], labels[:100] % 3, precision="float16")  # loads libraries
    peak = peak_of(lambda: tp.evaluate(data, labels, memory=f"{budget}MiB", threads=2, precision="float16"))
    assert peak <= budget * 2**20


def test_phocnet() -> None:
    data = load_shared("phocnet.npz")
    features = data["phocnet_features"][:300]
    for distance in ("cosine", "euclidean", "cityblock"):
        found = found_distances(features, distance, "float32")
        rows = fractions(features[:8])
        expected = [[rounded("float32", real_distance(distance, x, y)) for y in rows] for x in rows]
        assert [[Fraction(value) for value in row[:8]] for row in found[:8].tolist()] == expected


def test_codes_of_zeros_are_codes_like_any_other() -> None:
    codes = np.zeros((4, 3), dtype=np.bool_)
    for precision, distance, zeros in (("float16", "hamming", 0), (None, "hamming", 0), ("float16", "cosine", 4)):
        result = tp.evaluate(codes, [0, 0, 1, 1], distance=distance, precision=precision)
        assert result.ties.zero_vectors == zeros
