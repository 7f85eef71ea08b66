"""Noise that means nothing, or for which no bounds are known."""

from pathlib import Path

import numpy as np

import tieproof as tp
from refusals.case import GOOD, LABELS, Case, evaluate

LISTS = [[3.0, 2.0]], [[1, 0]]
QRELS, RUN = {"q": {"a": 2, "b": 1}}, {"q": {"a": 1.0, "b": 0.5}}


def save_noisy(folder: Path) -> None:
    tp.evaluate(GOOD, LABELS, noise=0.1).save(folder / "noisy.tieproof")


def noise_in_shards(folder: Path) -> None:
    np.save(folder / "rows.npy", GOOD)
    tp.evaluate(tp.open(str(folder / "rows.npy")), LABELS, noise=0.1)


CASES: dict[str, Case] = {
    "a negative noise": Case(
        evaluate(noise=-0.5), r"noise must be a finite number of at least 0, .* each distance may be off, not -0\.5"
    ),
    "noise of scores that is not a number": Case(
        lambda: tp.evaluate_scores(*LISTS, noise="float16"),  # type: ignore[arg-type]
        r"noise must be a finite number of at least 0, the most by which the scores may be off, not 'float16'",
    ),
    "an infinite noise of a run": Case(
        lambda: tp.evaluate_run(QRELS, RUN, noise=np.inf), r"the scores of the run may be off, not inf"
    ),
    "noise of unjudged documents": Case(
        lambda: tp.evaluate_run(QRELS, RUN, measures=["Judged@1"], noise=0.1),
        r"'Judged@1' describes the documents of a list as it is, .* Leave out noise, or the measure",
    ),
    "an unknown format of noise": Case(
        evaluate(noise="float8"),
        r"Unknown noise 'float8'\. Known: float32, float16, bfloat16, int8, float32 products, tf32 products, "
        r"bfloat16 products; or pass a number, or",
    ),
    "noise of products for a distance without products": Case(
        evaluate(distance="cityblock", noise="float32 products"),
        r"noise must be a number for the cityblock, not 'float32 products': products are for the distances cosine, "
        r"euclidean, sqeuclidean, dot\.",
    ),
    "noise of products whose squares float32 cannot represent": Case(
        evaluate(1e-20 * GOOD, noise="tf32 products"),
        r"'tf32 products' needs norms between 9e-13 and 1e\+18, .* but row 0 has the norm .*\. Multiply all",
    ),
    "embeddings that a format of noise cannot represent": Case(
        evaluate(1e6 * GOOD, noise="float16"), r"contain 1\.1e\+07, which float16 cannot represent"
    ),
    "noise of another shape than the embeddings": Case(
        evaluate(noise=GOOD[:5]),
        r"noise has the shape \(5, 2\), but the embeddings have \(6, 2\)\. Pass the same items",
    ),
    "one array of noise for queries and a gallery": Case(
        evaluate(gallery=GOOD + 1, gallery_labels=LABELS, noise=GOOD),
        r"With a gallery, noise must be a number, a format, or a tuple \(queries, gallery\) .*, not ndarray",
    ),
    "a format of noise for bits": Case(
        evaluate(GOOD > 5, distance="hamming", noise="float16"),
        r"noise must be a number for the hamming.*, not 'float16': formats and other embeddings are for the "
        "distances cosine, euclidean, sqeuclidean, cityblock, dot",
    ),
    "noise and precision together": Case(
        evaluate(noise=0.1, precision="float16"), r"noise and precision cannot be combined"
    ),
    "noise and a checkpoint": Case(
        lambda folder: tp.evaluate(GOOD, LABELS, noise=0.1, checkpoint=folder / "done"),
        r"noise cannot be combined with cluster= or checkpoint=",
        in_folder=True,
    ),
    "noise for distances that float64 cannot represent": Case(
        evaluate(1e200 * GOOD, distance="sqeuclidean", noise=1.0),
        r"noise needs distances between 1e-250 and 1e\+250, but .* may be as large as inf\. Multiply",
    ),
    "noise for a measure that is not monotone": Case(
        lambda: tp.evaluate_scores(*LISTS, measures=["AP(norm=hits)@5"], noise=0.1),
        r"'AP\(norm=hits\)@5' can fall when a relevant item moves up",
    ),
    "noise for a list that was cut off": Case(
        lambda: tp.evaluate_scores(*LISTS, n_relevant=[2], noise=0.1),
        r"noise applies only to whole rankings, but these lists were cut off",
    ),
    "noise for a truncated run": Case(
        lambda: tp.evaluate_run(QRELS, RUN, truncated=True, noise=0.1), r"these lists were cut off"
    ),
    "noise for ERR with grades": Case(
        lambda: tp.evaluate_run(QRELS, RUN, measures=["ERR"], noise=0.1),
        r"'ERR' reads grades, and its bounds under noise are known only if all grades are 1",
    ),
    "noise for nDCG with many grades": Case(
        lambda: tp.evaluate_scores([np.arange(100.0)], [np.arange(1.0, 101)], measures=["nDCG"], noise=0.1),
        r"known for up to 64 different grades, but there are 100",
    ),
    "noise for shards": Case(
        noise_in_shards,
        r"must be an array in memory, not shards, whose rows are not in memory together, as noise needs them\. If",
        in_folder=True,
    ),
    "embeddings computed again for an Evaluator": Case(
        lambda: tp.Evaluator(noise=GOOD),  # type: ignore[arg-type]
        r"noise must be a number or a name for an Evaluator, not ndarray: .* Pass both arrays to evaluate",
    ),
    "a gallery that was computed once": Case(
        lambda: tp.noise(GOOD, GOOD, LABELS, gallery=GOOD + 1, gallery_labels=LABELS),
        r"A gallery is needed from both computations\. Pass gallery= and gallery_again=",
    ),
    "numbers in place of the result of other embeddings": Case(
        lambda: tp.noise(GOOD, GOOD, LABELS, against=GOOD),  # type: ignore[arg-type]
        r"against must be a result, as tp\.evaluate returns, not ndarray",
    ),
    "a record of a result with noise": Case(save_noisy, r"A record does not hold bounds under noise", in_folder=True),
}
