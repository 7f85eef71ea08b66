"""Section 3.1: PHOCNet on George Washington, in three precisions, and by the published code."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.common import claims, table
from studies.nicolaou2018 import products
from studies.nicolaou2018.published import listed, published_claims, variant_table, variants
from studies.nicolaou2018.straightforward import CONSTANT, FloatArray, distance_matrix, mean_average_precision
from tieproof.inputs.readers import read_embeddings

DISTANCES = ("cosine", "euclidean", "cityblock")
PRECISIONS = (None, "float32", "float16")

ORDERS = 12
"""The number of orders of the dimensions in which the published method is tried."""


class Data(NamedTuple):
    """Embeddings (n, 504) and labels (n,)."""

    embeddings: npt.NDArray[Any]
    labels: npt.NDArray[np.int64]


def load(path: Path) -> Data:
    """Load the file that the authors published.

    Raises InputError for any other file.
    """
    embeddings, labels = (read_embeddings(f"{path}:phocnet_{name}") for name in ("features", "labels"))
    if labels.size != len(embeddings):
        raise tp.InputError(f"{path} has {labels.size} labels of {len(embeddings)} embeddings. Give the whole file.")
    return Data(embeddings, labels.ravel().astype(np.int64))


def in_precision(data: Data, distance: str, precision: str | None) -> tp.Result:
    """The result by distances rounded to a number format; None: exact distances."""
    return tp.evaluate(data.embeddings, data.labels, distance=distance, measures=["AP"], precision=precision)


class Orders(NamedTuple):
    """The distinct values that come out for several orders of the dimensions."""

    published: list[float]
    exact: list[tp.Estimate[float]]


def dimension_orders(data: Data, count: int) -> Orders:
    """The scores for several orders of the dimensions, by the published code ("unspecified") and by tieproof."""
    random = np.random.default_rng(0)
    published, exact = set(), []
    for turn in range(count):
        dimensions = random.permutation(data.embeddings.shape[1]) if turn else np.arange(data.embeddings.shape[1])
        distances = distance_matrix(data.embeddings, "cosine", dimensions.tolist())
        published.add(mean_average_precision(distances, data.labels, constant=CONSTANT).mean)
        found = tp.evaluate(data.embeddings[:, dimensions], data.labels, measures=["AP"])["AP"]
        if found not in exact:
            exact.append(found)
    return Orders(sorted(published), exact)


def precision_table(data: Data) -> tuple[str, dict[tuple[str, str | None], tp.Result]]:
    """The mAP of each distance in each precision, as a table, and the results."""
    results = {
        (distance, precision): in_precision(data, distance, precision)
        for distance in DISTANCES
        for precision in PRECISIONS
    }
    rows = [
        (
            distance,
            precision or "exact",
            *(f"{value:.6f}" for value in (result["AP"].lower, result["AP"].expected, result["AP"].upper)),
            f"{result['AP'].upper - result['AP'].lower:.1e}",
            str(result.ties.ambiguous_ties),
            str(result.ties.queries_with_ambiguous_ties),
        )
        for (distance, precision), result in results.items()
    ]
    headings = (
        "distance",
        "precision",
        "mAP lower",
        "expected",
        "upper",
        "width",
        "ambiguous ties",
        "queries with one",
    )
    return table(headings, rows, words=2), results


def section(data: Data, distances: FloatArray, orders: int = ORDERS) -> str:
    """The section of the report; `distances` are the cosine distances in double precision."""
    values, results = precision_table(data)
    multiplied = products.measure(data.embeddings, data.labels, distances, orders)
    found = variants(distances, data.labels)
    rows = [
        *protocol_claims(data, results["cosine", None]),
        *published_claims(found, distances, data.labels),
        order_claim(dimension_orders(data, orders), orders),
        products.claim(multiplied, results["cosine", None]["AP"]),
    ]
    return (
        "## Section 3.1: PHOCNet on George Washington\n\n"
        + claims(rows, "the paper")
        + "\nIn the following table every distance is computed as a real number, rounded once to the precision, "
        "and then ranked. The query is left out by its index:\n\n"
        + values
        + "\nThe next table shows the published method by cosine distance in double precision, and its scores "
        "without its two peculiarities. The number of queries that are averaged is in brackets:\n\n"
        + variant_table(found)
        + "\n"
        + products.section(multiplied)
    )


def protocol_claims(data: Data, exact: tp.Result) -> list[tuple[str, str, str]]:
    """The claims on the data and its mAP."""
    sizes = np.unique(data.labels, return_counts=True)[1]
    score = exact["AP"]
    ties = exact.ties.ambiguous_ties
    return [
        (
            "1164 word images of 431 classes, 899 queries (slides: of 166 classes)",
            f"{len(data.labels)} of {len(sizes)} classes, {exact.ties.queries} queries of {(sizes > 1).sum()} "
            "classes",
            f"{(sizes == 1).sum()} words occur once: they are not queries, but they are in the database",
        ),
        (
            "mAP 95.34% to 95.36%",
            f"{score.lower:.4%} to {score.upper:.4%}",
            f"cosine distances compared as real numbers: {ties or 'no'} ambiguous ties. The paper's values are "
            "those of its code; the next rows explain them",
        ),
    ]


def order_claim(turned: Orders, count: int) -> tuple[str, str, str]:
    """The claim on the order of the dimensions."""
    return (
        "values differ for data in another order (section 1.1)",
        f'{count} orders of the dimensions: "unspecified" {listed(f"{value:.4%}" for value in turned.published)}; '
        f"tieproof {listed(f'{value.lower:.4%}' for value in turned.exact)}",
        "sums in another order round differently, so the ties above come and go; tieproof gives the same bits",
    )
