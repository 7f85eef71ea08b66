"""Embeddings, distances and options that cannot be evaluated."""

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tieproof as tp
from refusals.case import GOOD, LABELS, Case, evaluate, with_value

CODES = np.arange(60, 72, dtype=np.uint8).reshape(6, 2)
SEVERAL = tp.MultiVectors(np.arange(24.0).reshape(12, 2), np.arange(0, 13, 2))


class Sparse:
    """An array with the method that sparse matrices of scipy have, and NumPy arrays lack."""

    def toarray(self) -> Any:
        return GOOD


class LazyFrame:
    """Named like the lazy frames of polars, which have no numbers before they are collected."""


def mapped(folder: Path) -> Any:
    np.save(folder / "x.npy", GOOD)
    os.utime(folder / "x.npy", (1, 1))
    return np.load(folder / "x.npy", mmap_mode="r")


def vectors_cut_short(folder: Path) -> object:
    items = tp.MultiVectors(mapped(folder), np.arange(7))
    os.truncate(folder / "x.npy", 150)
    return tp.evaluate(items, LABELS, distance="maxsim")


def cut_short(folder: Path) -> object:
    embeddings = mapped(folder)
    os.truncate(folder / "x.npy", 150)
    return tp.evaluate(embeddings, LABELS)


def changing(folder: Path) -> object:
    def distance(x: Any, y: Any) -> Any:
        (folder / "x.npy").touch()
        return np.zeros((len(x), len(y)))

    return tp.evaluate(mapped(folder), LABELS, distance=distance)


def only_queries(more: Any = None) -> object:
    evaluator = tp.Evaluator()
    evaluator.update(GOOD, LABELS, side="queries")
    if more is not None:
        evaluator.update(more, LABELS)
    return evaluator.compute()


def nan_in_a_batch() -> None:
    evaluator = tp.Evaluator()
    evaluator.update(GOOD, LABELS)
    evaluator.update(with_value(np.nan), LABELS)


def of_another(folder: Path) -> object:
    tp.evaluate(GOOD, LABELS, checkpoint=folder / "done")
    return tp.evaluate(GOOD, LABELS, distance="euclidean", checkpoint=folder / "done")


def no_checkpoint(folder: Path) -> object:
    (folder / "mine").mkdir()
    (folder / "mine" / "notes.txt").touch()
    return tp.evaluate(GOOD, LABELS, checkpoint=folder / "mine")


def file_for_a_checkpoint(folder: Path) -> object:
    (folder / "done").touch()
    return tp.evaluate(GOOD, LABELS, checkpoint=folder / "done")


CASES: dict[str, Case] = {
    "a checkpoint of another evaluation": Case(
        of_another, r"belongs to another evaluation: it differs in the distance", True
    ),
    "a checkpoint folder that contains only other files": Case(no_checkpoint, r"contains other files, such as", True),
    "a file as checkpoint=": Case(file_for_a_checkpoint, r"done is a file, but must be a folder", True),
    "a number as checkpoint=": Case(evaluate(checkpoint=3), r"checkpoint must be the path of a folder, not 3\."),
    "a distance function with checkpoint=": Case(
        evaluate(distance=lambda x, y: x @ y.T, checkpoint="done"), r"cannot be counted part by part"
    ),
    "NaN in the embeddings": Case(
        evaluate(with_value(np.nan)), r"embeddings must contain only finite numbers, but row 3 contains nan"
    ),
    "infinity in the embeddings": Case(evaluate(with_value(np.inf)), r"row 3 contains inf"),
    "minus infinity in float16 embeddings": Case(
        evaluate(with_value(-np.inf).astype(np.float16)), r"row 3 contains -inf"
    ),
    "NaN in the gallery": Case(
        evaluate(GOOD + 1, gallery=with_value(np.nan), gallery_labels=LABELS),
        r"gallery must contain only finite numbers, but row 3 contains nan",
    ),
    "NaN in the embeddings, with a distance function": Case(
        evaluate(with_value(np.nan), distance=lambda x, y: ((x[:, None] - y) ** 2).sum(2)),
        r"embeddings must contain only finite numbers, but row 3 contains nan",
    ),
    "a distance function that returns NaN": Case(
        evaluate(distance=lambda x, y: np.full((len(x), len(y)), np.nan)),
        r"distance function returned nan for query 0 and gallery item 0",
    ),
    "a distance function that returns integers beyond 2^53": Case(
        evaluate(distance=lambda x, y: np.full((len(x), len(y)), 2**60)), r"integers beyond 2\^53 \(int64\)"
    ),
    "an item without vectors": Case(lambda: tp.MultiVectors(GOOD, [0, 2, 2, 6]), r"Item 1 has no vectors"),
    "offsets that do not end with the number of vectors": Case(
        lambda: tp.MultiVectors(GOOD, [0, 2, 7]), r"go up from 0 to the number of vectors, 6, .* from 0 to 7"
    ),
    "offsets that are not integers": Case(
        lambda: tp.MultiVectors(GOOD, [0.0, 6.0]), r"offsets must be integers .* not float64"
    ),
    "NaN in a vector of an item": Case(
        lambda: tp.MultiVectors(with_value(np.nan), [0, 2, 6]),
        r"vectors must contain only finite numbers, but row 3 contains nan",
    ),
    "mapped vectors of items whose file was cut short": Case(
        vectors_cut_short, r"was cut short after it was mapped", True
    ),
    "a mask of another shape": Case(
        lambda: tp.MultiVectors.padded(np.zeros((2, 3, 4)), np.ones((2, 4))), r"shapes are \(2, 3, 4\) and \(2, 4\)"
    ),
    "items of several vectors by cosine distance": Case(
        evaluate(SEVERAL), r"distance cosine ranks items of one vector each.*divide each vector by its norm"
    ),
    "one vector for each item by MaxSim": Case(
        evaluate(distance="maxsim"), r"must be items of several vectors .* not an array of the shape \(6, 2\)"
    ),
    "a gallery of one vector for each item by MaxSim": Case(
        evaluate(SEVERAL, gallery=GOOD, gallery_labels=LABELS, distance="maxsim"), r"gallery must be items of"
    ),
    "items whose vectors differ in type": Case(
        evaluate([GOOD, GOOD.astype(np.float32)] * 3, distance="maxsim"), r"float32 of 2 dimensions and float64 of 2"
    ),
    "items of several vectors as lists": Case(
        evaluate([[[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]], distance="maxsim"),
        r"with an array \(vectors, dimensions\)",
    ),
    "a padded array as one vector for each item": Case(
        evaluate(np.zeros((3, 2, 2))), r"with \.reshape\(len\(x\), -1\); for items of .*\.padded\(x, mask\)"
    ),
    "precision= with MaxSim": Case(evaluate(SEVERAL, distance="maxsim", precision="float16"), r"precision cannot be"),
    "noise= with MaxSim": Case(evaluate(SEVERAL, distance="maxsim", noise=0.1), r"noise cannot be combined"),
    "checkpoint= with MaxSim": Case(
        evaluate(SEVERAL, distance="maxsim", checkpoint="done"), r"cannot be counted part by part"
    ),
    "collisions by MaxSim": Case(
        lambda: tp.collisions(SEVERAL, distance="maxsim"), r"only tp.evaluate, tp.nearest, tp.knn_accuracy"
    ),
    "a truth of items of several vectors": Case(
        lambda: tp.truth(SEVERAL, SEVERAL, 2, distance="maxsim", out="truth"), r"must have one vector for each item"
    ),
    "a truth of lists of arrays": Case(
        lambda: tp.truth([GOOD, GOOD[:2]], GOOD, 2, out="truth"), r"queries must have one vector.*a list of arrays"
    ),
    "masked embeddings": Case(evaluate(np.ma.masked_equal(GOOD, 3.0)), r"embeddings must not have masked entries"),
    "lists of integers that NumPy turns into floats": Case(
        evaluate([[2**63 + 1, -1]] * 6), r"integers that float64 cannot represent"
    ),
    "measures=None": Case(evaluate(measures=None), r"must be a list of names"),
    "a list as empty=": Case(evaluate(empty=[]), r"Unknown empty=\[\]"),
    "one object as embeddings": Case(evaluate(np.array(None)), r"real numbers, not objects \(NoneType\)"),
    "embeddings of one dimension": Case(evaluate(np.arange(6.0)), r"not the shape \(6,\) of 1 dimension\."),
    "embeddings of three dimensions": Case(
        evaluate(np.zeros((6, 2, 2))), r"not the shape \(6, 2, 2\) of 3 dimensions"
    ),
    "a single number as embeddings": Case(evaluate(3.0), r"of 0 dimensions"),
    "embeddings without rows": Case(
        evaluate(np.zeros((0, 2)), []), r"one row and one column, not the shape \(0, 2\)"
    ),
    "embeddings without columns": Case(evaluate(np.zeros((6, 0))), r"one row and one column, not the shape \(6, 0\)"),
    "complex numbers as embeddings": Case(evaluate(GOOD + 1j), r"real numbers, not complex128.*side by side"),
    "an array of objects with None as embeddings": Case(
        evaluate(np.array([[1, None]] * 6)), r"real numbers, not object"
    ),
    "an array of strings as embeddings": Case(evaluate(np.full((6, 2), "1")), r"real numbers, not str"),
    "dates as embeddings": Case(evaluate(np.zeros((6, 2), dtype="M8[s]")), r"real numbers, not datetime64"),
    "long doubles as embeddings": Case(evaluate(GOOD.astype(np.longdouble)), r"at most 64 bits"),
    "embeddings with rows of different lengths": Case(evaluate([[1.0], [1.0, 2.0]], [0, 0]), r"rows of equal length"),
    "a gallery with another number of dimensions": Case(
        evaluate(gallery=np.zeros((4, 3)), gallery_labels=[0, 1, 2, 3]),
        r"dimensions is 2 for the queries, but 3 for the gallery",
    ),
    "a gallery without labels": Case(evaluate(gallery=GOOD), r"without gallery_labels"),
    "an unknown value of empty=": Case(evaluate(empty="ignore"), r"Unknown empty='ignore'. Known: skip, zero"),
    "an unknown distance": Case(evaluate(distance="jaccard"), r"Unknown distance 'jaccard'. Known.*cityblock"),
    "a number as distance=": Case(evaluate(distance=3), r"name or a function, not int"),
    "an unknown measure": Case(evaluate(measures=["Precison@3"]), r"Unknown measure 'Precison@3'"),
    "a measure name with several meanings": Case(
        evaluate(measures=["hits@3"]), r"'hits@3' has several meanings: 'Success@3' in knowledge graphs; in ranx"
    ),
    "a measure of other libraries that is not offered": Case(
        evaluate(measures=["infAP"]), r"'infAP' is not offered: in trec_eval, ir_measures it is an estimate"
    ),
    "a cutoff of zero": Case(evaluate(measures=["P@0"]), r"cutoff of 'P@0' must be a whole number of at least 1"),
    "an empty list of measures": Case(evaluate(measures=[]), r"No measure was given"),
    "a memory size in an unknown unit": Case(evaluate(memory="12 parsecs"), r"not '12 parsecs'"),
    "a memory size of 0": Case(evaluate(memory=0), r"not 0"),
    "a duration as threads=": Case(
        evaluate(threads=np.timedelta64(2, "s")), r"a whole number of at least 1, or None"
    ),
    "threads=0": Case(evaluate(threads=0), r"at least 1, or None, not 0"),
    "Hamming distance for float embeddings": Case(evaluate(distance="hamming"), r"takes bool arrays.*float64.*x > 0"),
    "Hamming distance for uint8 codes without bits=": Case(
        evaluate(CODES, distance="hamming"), r"is uint8\. If they are packed codes, pass bits=16, or fewer"
    ),
    "Hamming distance for uint64 codes without bits=": Case(
        evaluate(CODES.astype(np.uint64), distance="hamming"), r"is uint64\. If they are packed codes, pass bits=128;"
    ),
    "Hamming distance for packed codes read as floats": Case(
        evaluate(CODES.astype(np.float32), distance="hamming", bits=16), r"float32 with bits=16.*to integers and pass"
    ),
    "Hamming distance for 0 and 1 as integers": Case(
        evaluate(CODES % 2, distance="hamming"), r"Convert them to bools first, for example with x > 0"
    ),
    "bits= that do not fill integers of several bytes": Case(
        evaluate(CODES.astype(np.uint64), distance="hamming", bits=48), r"has 128 bits, but bits=48\. Pass the number"
    ),
    "bits= for 0 and 1 as integers": Case(
        evaluate(CODES % 2, distance="hamming", bits=2), r"has 9 to 16 bits, but bits=2\. Convert them to bools"
    ),
    "bits= as a string": Case(
        evaluate(CODES, distance="hamming", bits="16"), r"bits must be a whole number of at least 1, not '16'"
    ),
    "int8 codes as queries and uint8 codes as gallery": Case(
        evaluate((CODES - 128).view(np.int8), distance="hamming", bits=16, gallery=CODES, gallery_labels=LABELS),
        r"queries are int8, but the gallery is uint8: codes of int8 may be packed bytes minus 128",
    ),
    "bits= larger than the number of bits in a row": Case(
        evaluate(CODES, distance="hamming", bits=17), r"9 to 16 bits, but bits=17"
    ),
    "packed codes with bits set beyond bits=": Case(
        evaluate(np.full((6, 2), 255, np.uint8), distance="hamming", bits=15), r"bits set beyond bits=15"
    ),
    "bits= with a distance other than Hamming": Case(evaluate(bits=8), r"applies only to packed codes"),
    "a distance function that returns the wrong shape": Case(
        evaluate(distance=lambda x, y: np.zeros(3)), r"returned the shape \(3,\) for 6 queries and 6 gallery items"
    ),
    "uint64 queries and an int64 gallery with integers beyond 2^53": Case(
        evaluate(
            np.full((6, 2), 2**63, np.uint64), gallery=np.full((6, 2), -1), gallery_labels=LABELS, distance="dot"
        ),
        r"uint64, but the gallery is int64.*2\^53",
    ),
    "a negative epsilon": Case(lambda: tp.collisions(GOOD, epsilon=-1), r"at least 0, not -1"),
    "an epsilon too large for float64": Case(
        lambda: tp.collisions(GOOD, epsilon=10**400), r"at least 0, not infinity"
    ),
    "an epsilon that float64 cannot represent exactly": Case(
        lambda: tp.collisions(GOOD, epsilon=Fraction(1, 10)),  # type: ignore[arg-type]
        r"rounds Fraction\(1, 10\) to 0\.1\. Pass epsilon=0\.1",
    ),
    "angles": Case(
        evaluate(distance="angular"), r"Unknown distance 'angular'\. Pass cosine, which ranks .* same order"
    ),
    "a frame with several columns of vectors": Case(
        evaluate(pd.DataFrame({"a": [*GOOD], "b": [*GOOD]})),
        r"several columns of vectors, a, b\. Pass one of them, as",
    ),
    "a frame with text": Case(
        evaluate(pd.DataFrame({"t": list("abcdef"), "x": GOOD[:, 0], "id": LABELS})),
        r"frame with text, so that t, id are left out, and the dimensions are x\. To choose",
        warns=True,
    ),
    "a misspelled distance": Case(
        evaluate(distance="euclidian"), r"Unknown distance 'euclidian'\. Nearest: euclidean\. Known distances"
    ),
    "large NumPy integers and floats in one list": Case(
        evaluate([[np.int64(2**60 + 1), 0.5]] * 6), r"integers that float64 cannot represent exactly with floats"
    ),
    "a data frame of large integers and floats": Case(
        lambda: tp.evaluate(pd.DataFrame({"a": [2**60 + 1] * 6, "b": [0.5] * 6}), LABELS),
        r"integers that float64 cannot represent exactly with floats",
    ),
    "a lazy frame as embeddings": Case(
        evaluate(LazyFrame()), r"embeddings must not be a lazy frame .* no rows yet. Call \.collect\(\)\."
    ),
    "a sparse matrix as embeddings": Case(
        evaluate(Sparse()), r"a sparse matrix \(Sparse\)\. Make dense rows, as \.toarray\(\)"
    ),
    "a memory-mapped file that was cut short": Case(
        cut_short, r"cut short after it was mapped: .* 224 bytes", in_folder=True
    ),
    "a memory-mapped file that changes during the evaluation": Case(
        changing, r"changed while it was evaluated", in_folder=True
    ),
    "the name of a file as embeddings": Case(
        evaluate("x.npy"), r"must be an array, not 'x\.npy'\. .*by numpy\.load or pandas; the commands of tieproof"
    ),
    "NaN in a batch of an Evaluator": Case(
        nan_in_a_batch, r"embeddings of batch 1 must contain only finite numbers, but row 3 contains nan"
    ),
    "an unknown side= of an Evaluator": Case(
        lambda: tp.Evaluator().update(GOOD, LABELS, side="query"),  # type: ignore[arg-type]
        r"Unknown side='query'\. Known: queries, gallery",
    ),
    "an Evaluator with queries but without a gallery": Case(
        only_queries, r"nothing to evaluate as gallery: call update"
    ),
    "batches with and without side=": Case(
        lambda: only_queries(GOOD), r"Some batches have a side and others have none"
    ),
    "an index of 2^63": Case(
        lambda: tp.Evaluator().update(GOOD[:2], LABELS[:2], indices=np.array([0, 2**63], np.uint64)),
        r"indices contain 9223372036854775808, but must be below 2\^63",
    ),
    "an array of objects that are strings": Case(
        evaluate(np.full((6, 2), "1", dtype=object)), r"real numbers, not strings\. Convert them to floats"
    ),
    "a nullable column of pandas with missing numbers": Case(
        evaluate(pd.DataFrame({"a": pd.array([1, None] * 3, dtype="Int64"), "b": [0.5] * 6})),
        r"not objects \(NAType, float, int\)\. Convert them to floats",
    ),
    "an array of objects that are lists of different lengths": Case(
        evaluate(np.array([[1.0], [1.0, 2.0]], dtype=object), [0, 0]), r"array of numbers whose rows have equal"
    ),
}
