"""The cost of exact evaluation in units of the float32 matrix product, which every evaluator computes.

    python benchmarks/product.py

Measured from arrays to the result, with all default measures, after one call beforehand. Each case takes turns with
the product of as many random vectors; data with duplicates take turns with an evaluation of as many distinct
vectors, and bounds under noise with an evaluation without noise. Ratios are ratios of medians. Unless sizes or cases
are chosen, figures are written to a file for the family and model of the processor; with -haswell in its name if

    OPENBLAS_CORETYPE=Haswell python benchmarks/product.py

limits OpenBLAS to vectors of 256 bits, as if the processor had no others. tieproof's own kernels are not limited.
"""

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tieproof as tp
from measuring import (
    Array,
    Call,
    Case,
    Measured,
    clustered,
    compare,
    evaluation,
    parse,
    processor,
    product,
    render_ratios,
    report,
    where,
    white,
)

SIZES = {"count": 20_000, "dimensions": 512}

Make = Callable[[int, int], tuple[Array, Array]]
"""Embeddings and labels for a count and a number of dimensions."""


def relevant(wanted: int) -> Make:
    """Data in clusters of about this many items."""
    return lambda count, dimensions: clustered(count, dimensions, max(2, count // wanted))


def classes(wanted: int) -> Make:
    return lambda count, dimensions: clustered(count, dimensions, wanted)


def random(change: Callable[[Array], Array] = np.asarray) -> Make:
    """Vectors without structure, changed by a function, with a hundred items for each label."""
    return lambda count, dimensions: (change(white(count, dimensions)), np.arange(count) // 100)


def int8(x: Array) -> Array:
    rounded: Array = np.clip(x * 40, -127, 127).astype(np.int8)
    return rounded


def signs(x: Array) -> Array:
    signs: Array = np.sign(x)
    return signs


def bits(x: Array) -> Array:
    return (x > 0).astype(np.float32)


def normalized_signs(x: Array) -> Array:
    return signs(x) / np.float32(np.sqrt(x.shape[1]))


def normalized_bits(x: Array) -> Array:
    """Rows of different lengths."""
    lengths: Array = np.linalg.norm(bits(x), axis=1, keepdims=True)
    return bits(x) / lengths


def four_times(x: Array) -> Array:
    return np.repeat(x[: -(-len(x) // 4)], 4, axis=0)[: len(x)]


def constant(x: Array) -> Array:
    return np.full_like(x, 0.1)


LEAVE_ONE_OUT: dict[str, tuple[Make, float]] = {
    "about 5 relevant": (relevant(5), 0.3),
    "about 100 relevant": (relevant(100), 0.5),
    "10 classes": (classes(10), 1.2),
    "random, 100 relevant": (random(), 1.0),
    "int8": (random(int8), 0.3),
    "±1": (random(signs), 0.15),
    "0/1": (random(bits), 0.2),
    "±1, normalized": (random(normalized_signs), 0.15),
    "0/1, normalized": (random(normalized_bits), 0.2),
}
"""The data of each case, and its largest ratio to the time of the product."""

QUERY_GALLERY = "query/gallery in halves, about 5 relevant"
MOST_QUERY_GALLERY = 0.5

OTHER_CALLS: dict[str, tuple[Callable[..., object], float]] = {
    "about 5 relevant, precision float16": (partial(tp.evaluate, precision="float16"), 2.0),
    "about 5 relevant, all collisions": (tp.collisions, 2.0),
}

DUPLICATES: dict[str, Make] = {
    "every row four times": random(four_times),
    "constant vectors": random(constant),
    "zeros": random(np.zeros_like),
}
MOST_DUPLICATES = 1.0

NOISY: dict[str, tuple[Make, float | str]] = {
    "about 5 relevant, noise=1e-3": (relevant(5), 1e-3),
    "about 100 relevant, noise=1e-3": (relevant(100), 1e-3),
    "about 5 relevant, noise='float16'": (relevant(5), "float16"),
}
MOST_NOISY = 1.3


def beside_product(make: Make, count: int, dimensions: int) -> tuple[Call, Call]:
    """The product, and leave-one-out."""
    embeddings, labels = make(count, dimensions)
    vectors = white(count, dimensions)
    return lambda: product(vectors, vectors), evaluation(embeddings=embeddings, labels=labels)


def query_gallery(count: int, dimensions: int) -> tuple[Call, Call]:
    """The product, and an evaluation with the first half of the items as queries and the others as gallery."""
    half = count // 2
    embeddings, labels = clustered(count, dimensions, max(2, count // 10))
    vectors = white(count, dimensions)
    halves: dict[str, Any] = {"embeddings": embeddings[:half], "labels": labels[:half]}
    halves |= {"gallery": embeddings[half:], "gallery_labels": labels[half:]}
    return lambda: product(vectors[:half], vectors[half:]), evaluation(**halves)


def other_call(call: Callable[..., object], count: int, dimensions: int) -> tuple[Call, Call]:
    """The product, and leave-one-out by another function or with other options."""
    embeddings, labels = relevant(5)(count, dimensions)
    vectors = white(count, dimensions)
    call(embeddings[:1500], np.arange(len(embeddings[:1500])) // 5)
    return lambda: product(vectors, vectors), lambda: call(embeddings, labels)


def beside_distinct(make: Make, count: int, dimensions: int) -> tuple[Call, Call]:
    """The evaluations of distinct vectors and of vectors with duplicates."""
    embeddings, labels = make(count, dimensions)
    return evaluation(embeddings=white(count, dimensions), labels=labels), evaluation(
        embeddings=embeddings, labels=labels
    )


def with_noise(make: Make, noise: float | str, count: int, dimensions: int) -> tuple[Call, Call]:
    """The evaluations without noise and with it."""
    embeddings, labels = make(count, dimensions)
    given: dict[str, Any] = {"embeddings": embeddings, "labels": labels}
    return evaluation(**given), evaluation(**given, noise=noise)


def cases(count: int, dimensions: int) -> list[Case]:
    """All cases, in the order of the table."""
    made = [
        Case(name, "product", most, partial(beside_product, make, count, dimensions))
        for name, (make, most) in LEAVE_ONE_OUT.items()
    ]
    made += [
        Case(name, "product", most, partial(other_call, call, count, dimensions))
        for name, (call, most) in OTHER_CALLS.items()
    ]
    made.insert(3, Case(QUERY_GALLERY, "product", MOST_QUERY_GALLERY, partial(query_gallery, count, dimensions)))
    made += [
        Case(name, "no duplicates", MOST_DUPLICATES, partial(beside_distinct, make, count, dimensions))
        for name, make in DUPLICATES.items()
    ]
    made += [
        Case(name, "no noise", MOST_NOISY, partial(with_noise, make, noise, count, dimensions))
        for name, (make, noise) in NOISY.items()
    ]
    return made


def render(measured: Measured) -> str:
    """The table that docs/costs.md shows."""
    title = f"leave-one-out, N = {measured['count']:,}, D = {measured['dimensions']}, all default measures"
    return render_ratios(title, measured["cases"]) + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, [case.name for case in cases(0, 0)])
    chosen = [case for case in cases(options.count, options.dimensions) if case.name in options.only]
    measured = {"count": options.count, "dimensions": options.dimensions, "cases": compare(chosen)}
    script, family = Path(__file__), re.findall(r"(?:family|model) \d+", processor())
    limited = os.environ.get("OPENBLAS_CORETYPE", "").lower()
    named = "-".join(filter(None, [script.stem, *family, limited])).replace(" ", "-")
    report(str(script.with_stem(named)), render, measured, whole)


if __name__ == "__main__":
    main()
