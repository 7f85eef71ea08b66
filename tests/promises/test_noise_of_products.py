"""Bounds under the rounding of matrix products contain the scores of such products in any order of summation."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp

Array = npt.NDArray[np.float32]

ITEMS, DIMENSIONS = 24, 96
LABELS = np.arange(ITEMS) % 3
NAMES = ("float32 products", "tf32 products", "bfloat16 products")
BITS = {"float32 products": 24, "tf32 products": 11, "bfloat16 products": 8}
"""The significant bits of the entries that are multiplied."""

MEASURES = ["AP", "P@1", "P@5", "R@10"]


def rounded(values: npt.ArrayLike, bits: int, cut: bool = False) -> Array:
    """Numbers of so many significant bits: the nearest ones, or cut off."""
    significand, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    scaled = significand * 2.0**bits
    return np.asarray(np.ldexp(np.trunc(scaled) if cut else np.rint(scaled), exponent - bits), dtype=np.float32)


def in_blocks(terms: Array, size: int) -> Array:
    """Sums over the last axis by sums of blocks of so many terms, each in order."""
    parts = [sequential(terms[..., at : at + size]) for at in range(0, terms.shape[-1], size)]
    return sequential(np.stack(parts, axis=-1))


def sequential(terms: Array) -> Array:
    return np.asarray(np.add.accumulate(terms, axis=-1, dtype=np.float32)[..., -1])


def pairwise(terms: Array) -> Array:
    while terms.shape[-1] > 1:
        if terms.shape[-1] % 2:
            terms = np.concatenate([terms, np.zeros_like(terms[..., :1])], axis=-1)
        terms = terms[..., ::2] + terms[..., 1::2]
    return terms[..., 0]


def cut_off(terms: Array) -> Array:
    """Sums of tensor cores: each partial sum is cut off after 24 bits."""
    total = np.zeros(terms.shape[:-1], dtype=np.float32)
    for at in range(terms.shape[-1]):
        total = rounded(total.astype(np.float64) + terms[..., at], 24, cut=True)
    return total


SUMS: dict[str, Callable[[Array], Array]] = {
    "sequential": sequential,
    "backwards": lambda terms: sequential(terms[..., ::-1]),
    "pairwise": pairwise,
    "blocks of 8": lambda terms: in_blocks(terms, 8),
    "the large ones first": lambda terms: sequential(-np.sort(-terms, axis=-1)),
}


def distances(rows: Array, name: str, distance: str, add: Callable[[Array], Array]) -> Array:
    """All distances as a program in float32 computes them, which multiplies entries of fewer bits."""
    own = rows.astype(np.float32)
    if distance == "cosine":
        own = (own / np.sqrt(add(own * own))[:, None]).astype(np.float32)
    cut = rounded(own, BITS[name])
    products = add(cut[:, None, :] * cut[None, :, :])
    if distance == "cosine":
        return np.float32(1) - products
    if distance == "dot":
        return -products
    squares = add(own * own)
    found = np.maximum(squares[:, None] + squares - np.float32(2) * products, np.float32(0))
    return np.sqrt(found) if distance == "euclidean" else found


def near(seed: int, size: float) -> Array:
    """Rows that differ little, so that rounding decides many orders."""
    random = np.random.default_rng(seed)
    return (random.random(DIMENSIONS) + size * random.normal(size=(ITEMS, DIMENSIONS))).astype(np.float32)


def relevance() -> npt.NDArray[np.int64]:
    return np.asarray((LABELS[:, None] == LABELS) - 2 * np.eye(ITEMS, dtype=np.int64))


def inside(found: tp.Result, computed: tp.Result) -> int:
    """How many measures differ; all of them must be inside the bounds."""
    for measure in MEASURES:
        bounds, value = found[measure].noise, computed[measure]
        assert bounds is not None
        assert bounds.lower <= value.lower * (1 + 1e-12)
        assert value.upper <= bounds.upper * (1 + 1e-12)
    return sum(computed[measure] != found[measure] for measure in MEASURES)


@pytest.mark.parametrize("distance", ["cosine", "dot", "euclidean", "sqeuclidean"])
@pytest.mark.parametrize("name", NAMES)
def test_products_in_any_order_are_inside_the_bounds(name: str, distance: str) -> None:
    rows = near(3, 1e-3)
    found = tp.evaluate(rows, LABELS, distance=distance, measures=MEASURES, noise=name)
    sums = SUMS if name == "float32 products" else {**SUMS, "cut off": cut_off}
    changed = [
        inside(found, tp.evaluate_distances(distances(rows, name, distance, add), relevance(), measures=MEASURES))
        for add in sums.values()
    ]
    assert any(changed)  # rounding matters here


def test_rows_of_both_sides_and_of_other_types() -> None:
    queries, gallery = near(1, 1e-3).astype(np.float64) * 1.1, near(2, 1e-3).astype(np.float64) * 0.7
    found = tp.evaluate(
        queries, LABELS, gallery=gallery, gallery_labels=LABELS, measures=MEASURES, noise="float32 products"
    )
    both = np.concatenate([queries, gallery]).astype(np.float32)
    computed = distances(both, "float32 products", "cosine", sequential)[:ITEMS, ITEMS:]
    relevant = (LABELS[:, None] == LABELS).astype(np.int64)
    assert inside(found, tp.evaluate_distances(computed, relevant, measures=MEASURES))


def test_sums_that_lose_each_term() -> None:
    """From 1, sequential sums lose every term of less than half a unit: the error is nearly that of the bound."""
    d, small = 512, 2.0**-12
    query = np.full((1, d), small, dtype=np.float32)
    gallery = np.full((4, d), 0.99 * small, dtype=np.float32)
    gallery[2:] = -0.49 * small
    query[:, 0] = gallery[:, 0] = 1
    products = sequential(query[:, None, :] * gallery)
    assert (products == 1).all()  # two of them are truly larger, and two are smaller
    labels = np.array([0, 0, 1, 1])
    computed = tp.evaluate_scores(products, [[1, 1, 0, 0]], measures=["AP"])["AP"]
    found = tp.evaluate(
        query, [0], gallery=gallery, gallery_labels=labels, distance="dot", measures=["AP"], noise="float32 products"
    )["AP"]
    assert (found.lower, found.upper) == (1.0, 1.0)
    assert found.noise is not None
    assert found.noise.lower <= computed.lower == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_rows_too_wide_for_a_bound() -> None:
    with pytest.raises(
        tp.InputError, match=r"Sums of 2,097,152 products in tf32 have no error bound\. Pass a number"
    ):
        tp.evaluate(np.eye(2, 2**21, dtype=np.int8), [0, 0], noise="tf32 products")


def test_zero_rows_and_equal_rows_do_not_move_apart() -> None:
    """A row of zeros has the product 0 with all others, in any arithmetic; its norm is not outside the range."""
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = tp.evaluate(rows, [0, 1, 1, 0], distance="dot", measures=["AP"], noise="float32 products")["AP"]
    assert found.noise is not None
    assert (found.noise.lower, found.noise.upper) == (found.lower, found.upper)


def test_bounds_are_the_same_bits_in_any_order() -> None:
    rows, order = near(4, 1e-3), np.random.default_rng(0).permutation(ITEMS)
    for distance in ("cosine", "dot", "euclidean"):
        one = tp.evaluate(rows, LABELS, distance=distance, measures=MEASURES, noise="float32 products")
        other = tp.evaluate(
            rows[order][:, ::-1], LABELS[order], distance=distance, measures=MEASURES, noise="float32 products"
        )
        assert one.to_flat_dict() == other.to_flat_dict()
