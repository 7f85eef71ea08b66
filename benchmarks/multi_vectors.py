"""Items of several vectors: `tp.evaluate` by MaxSim beside the float32 product of all vectors, and other libraries.

    python benchmarks/multi_vectors.py
    python benchmarks/multi_vectors.py --only topical

Seconds of wall time, medians of calls that take turns, from arrays to the result, and in units of the product of all
vectors of queries with all vectors of items in float32, by NumPy. The scores of *topical* items spread widely, since
relevant items have the topics of their query; those of *random* items are nearly equal. sentence-transformers'
`MultiVectorInformationRetrievalEvaluator` is given a model that returns the same arrays. NumKong's MaxSim is that of
packed vectors; the second table has the largest difference of its scores and of float32 scores from the exact ones,
beside their standard deviation. Figures are written to multi_vectors.json unless sizes or cases are chosen.
"""

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import tieproof as tp
from measuring import Array, Call, Measured, at_most, missed, parse, report, table, take_turns, where

SIZES = {"queries": 100, "gallery": 5_000}
OF_QUERY, OF_ITEM, DIMENSIONS, RELEVANT = 32, 100, 128, 20
CASES = ("topical", "random")
MEASURES = ["AP", "nDCG@10", "P@10"]
TARGETS = {"topical": 0.5, "random": 1.5}
"""With VNNI; 0.15 and 0.35 with AMX."""


def data_of(case: str, queries: int, items: int) -> tuple[tp.MultiVectors, Array, tp.MultiVectors, Array]:
    """Queries, their labels, items and their labels; vectors have norm 1."""
    random = np.random.default_rng(0)
    classes = max(2, items // RELEVANT)
    labels, of_items = random.integers(classes, size=queries), random.integers(classes, size=items)
    x = random.standard_normal((queries, OF_QUERY, DIMENSIONS), dtype=np.float32)
    y = random.standard_normal((items, OF_ITEM, DIMENSIONS), dtype=np.float32)
    if case == "topical":
        topics = random.standard_normal((classes, OF_QUERY, DIMENSIONS), dtype=np.float32)
        x += topics[labels]
        y += topics[of_items][:, random.integers(OF_QUERY, size=OF_ITEM)]
    sides = []
    for rows in (x, y):
        rows /= np.linalg.norm(rows, axis=2, keepdims=True)
        sides.append(tp.MultiVectors(rows.reshape(-1, DIMENSIONS), np.arange(len(rows) + 1) * rows.shape[1]))
    return sides[0], labels, sides[1], of_items


def product(queries: Array, items: Array) -> None:
    """The float32 product of all vectors, in blocks."""
    for start in range(0, len(items), 4096):
        queries @ items[start : start + 4096].T


def numkong(queries: tp.MultiVectors, items: tp.MultiVectors) -> Call | None:
    """NumKong's scores of all pairs, from packed vectors; None if it is not installed."""
    try:
        from numkong import maxsim_pack, maxsim_packed
    except ImportError:
        return None

    def scores() -> Array:
        own, others = (list(map(maxsim_pack, arrays_of(side))) for side in (queries, items))
        # What it returns is the sum of 1 - cosine.
        return np.array([[OF_QUERY - maxsim_packed(query, item) for item in others] for query in own])

    return scores


def maxsim_cpu(queries: tp.MultiVectors, items: tp.MultiVectors) -> Call | None:
    """The float32 scores of maxsim-cpu of all pairs; None if it is not installed."""
    try:
        from maxsim_cpu import maxsim_scores
    except ImportError:
        return None
    own, others = arrays_of(queries), items.vectors.reshape(len(items), OF_ITEM, DIMENSIONS)
    return lambda: [maxsim_scores(query, others) for query in own]


def pylate(queries: tp.MultiVectors, items: tp.MultiVectors) -> Call | None:
    """PyLate's scores, one query at a time as by its `rank.rerank`; None if it is not installed."""
    try:
        import torch
        from pylate.scores import colbert_scores
    except ImportError:
        return None
    own, others = (torch.from_numpy(side.vectors.reshape(len(side), -1, DIMENSIONS)) for side in (queries, items))
    return lambda: [colbert_scores(query[None], others) for query in own]


def arrays_of(items: tp.MultiVectors) -> list[Array]:
    """The vectors of each item."""
    return np.split(items.vectors, items.offsets[1:-1])


def peer(queries: tp.MultiVectors, labels: Array, items: tp.MultiVectors, of_items: Array) -> Call | None:
    """The evaluator of sentence-transformers with a model that returns the arrays; None if it is not installed."""
    try:
        import torch
        from sentence_transformers.multi_vector_encoder import evaluation
    except ImportError:
        return None
    sides = [list(map(torch.from_numpy, arrays_of(side))) for side in (queries, items)]

    def encode(texts: Any, side: int, **options: Any) -> Any:
        return [sides[side][int(text)] for text in texts]

    model: Any = SimpleNamespace(
        similarity_fn_name="maxsim",
        prompts={},
        encode_query=partial(encode, side=0),
        encode_document=partial(encode, side=1),
        model_card_data=None,
    )
    relevant = {str(at): set(map(str, np.flatnonzero(of_items == label))) for at, label in enumerate(labels.tolist())}
    texts = [{str(at): str(at) for at in range(len(side))} for side in sides]
    evaluator = evaluation.MultiVectorInformationRetrievalEvaluator(*texts, relevant)
    evaluator.store_metrics_in_model_card_data = lambda *arguments, **options: None
    return partial(evaluator, model)


def float32_scores(queries: tp.MultiVectors, items: tp.MultiVectors) -> Array:
    """The scores as a program computes them in float32."""
    return np.array(
        [
            (query @ items.vectors.T).reshape(OF_QUERY, -1, OF_ITEM).max(axis=2).sum(axis=0, dtype=np.float32)
            for query in arrays_of(queries)
        ]
    )


def exact_scores(queries: tp.MultiVectors, items: tp.MultiVectors) -> Array:
    """The scores, each rounded once."""
    found = tp.nearest(queries, items, k=len(items), distance="maxsim")
    scores = np.empty((len(queries), len(items)))
    np.put_along_axis(scores, found.ids, -found.distances, axis=1)
    return scores


def timed(case: str, queries: int, items: int) -> Measured:
    """Medians of the evaluation, of the product, and of the evaluator of sentence-transformers and NumKong."""
    x, labels, y, of_items = data_of(case, queries, items)
    options: dict[str, Any] = {"gallery_labels": of_items, "distance": "maxsim", "measures": MEASURES}
    tp.evaluate(x, labels, gallery=y[: min(items, 200)], **options | {"gallery_labels": of_items[:200]})
    calls: dict[str, Call | None] = {
        "product": partial(product, x.vectors, y.vectors),
        "evaluate": lambda: tp.evaluate(x, labels, gallery=y, **options),
        "sentence-transformers": peer(x, labels, y, of_items),
        "numkong": numkong(x, y),
        "maxsim-cpu": maxsim_cpu(x, y),
        "PyLate": pylate(x, y),
    }
    times = take_turns({name: call for name, call in calls.items() if call is not None})
    found = {name: float(np.median(each)) for name, each in times.items()}
    return {"case": case, "at_most": TARGETS[case], "ratio": found["evaluate"] / found["product"], **found}


def compared(case: str, queries: int, items: int) -> Measured:
    """The largest differences of float32 scores, and of NumKong's, from the exact ones."""
    x, _, y, _ = data_of(case, queries, items)
    exact, packed = exact_scores(x, y), numkong(x, y)
    row: Measured = {"case": case, "spread": float(exact.std(axis=1).mean())}
    row["float32"] = float(np.abs(float32_scores(x, y) - exact).max())
    if packed is not None:
        row["numkong"] = float(np.abs(np.asarray(packed()) - exact).max())
    return row


PEERS = ("sentence-transformers", "numkong", "maxsim-cpu", "PyLate")  # those that are installed


def render(measured: Measured) -> str:
    """Both tables."""

    def shown(row: Measured, name: str, form: str, of: float = 1.0) -> str:
        return format(row[name] / of, form) if name in row else ""

    rows = [
        (
            row["case"],
            *(shown(row, call, ".2f") for call in ("product", "evaluate")),
            shown(row, "ratio", ".2f"),
            at_most(row["ratio"], row["at_most"]),
            *(shown(row, call, ".2f", row["product"]) for call in PEERS),
        )
        for row in measured["cases"]
    ]
    title = (
        f"{measured['queries']:,} queries of {OF_QUERY} vectors, {measured['gallery']:,} items of {OF_ITEM}, "
        f"D = {DIMENSIONS}, seconds; from the fourth column on in products"
    )
    headings = ("case", "product", "evaluate", "to product", "at most", *PEERS)
    differences = [
        (row["case"], shown(row, "spread", ".2f"), shown(row, "float32", ".1e"), shown(row, "numkong", ".2f"))
        for row in measured["compared"]
    ]
    below = "largest differences from exact scores, which have this standard deviation"
    columns = ("case", "standard deviation", "float32", "numkong")
    targets = missed((row["case"], row["ratio"], row["at_most"]) for row in measured["cases"])
    return table(title, headings, rows) + targets + "\n" + table(below, columns, differences) + where(measured)


def main() -> None:
    """Time the cases, and compare."""
    options, whole = parse(__doc__, SIZES, CASES)
    sizes = options.queries, options.gallery
    measured = {
        "queries": options.queries,
        "gallery": options.gallery,
        "cases": [timed(case, *sizes) for case in options.only],
        "compared": [compared(case, min(20, sizes[0]), min(1000, sizes[1])) for case in options.only],
    }
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
