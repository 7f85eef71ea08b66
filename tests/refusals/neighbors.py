"""Lists of neighbors that have no recall, and files of them."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tieproof as tp
from refusals.case import Case
from tieproof.inputs.readers import read_embeddings
from tieproof.inputs.readers.ann_benchmarks import read_neighbors, read_ranges

TRUTH = [[4, 2, 7]], [[1.0, 2.0, 3.0]]
RANGES = [0, 2], [4, 2]


def recall(found: Any = ((4, 2),), truth: Any = TRUTH, k: Any = 2, **options: Any) -> Callable[[], object]:
    return lambda: tp.neighbor_recall(found, truth, k=k, **options)


def in_file(name: str, content: bytes, read: Callable[[Path], object]) -> Callable[[Path], object]:
    """Read a file of these bytes."""

    def call(folder: Path) -> object:
        (folder / name).write_bytes(content)
        return read(folder / name)

    return call


def array(name: str, values: Any) -> Callable[[Path], object]:
    """Read lists of neighbors from a file of one array."""

    def call(folder: Path) -> object:
        np.save(folder / name, values)
        return read_neighbors(folder / name)

    return call


def archive(location: str, **arrays: Any) -> Callable[[Path], object]:
    """Read lists of neighbors from data.npz."""

    def call(folder: Path) -> object:
        np.savez(folder / "data.npz", **arrays)
        return read_neighbors(folder / location)

    return call


CASES: dict[str, Case] = {
    "a k of 0 for the nearest items": Case(
        lambda: tp.nearest([[1.0]], [[2.0]], k=0), r"k must be a whole number of at least 1, not 0"
    ),
    "NaN among the items whose nearest are sought": Case(
        lambda: tp.nearest([[1.0]], [[2.0], [np.nan]]), r"gallery.*row 1"
    ),
    "queries for nearest items with other dimensions": Case(
        lambda: tp.nearest([[1.0]], [[2.0, 1.0]]), r"dimensions is 1 for the queries, but 2 for the gallery"
    ),
    "nearest items with ties of more items than fit into the memory": Case(
        lambda: tp.nearest(np.zeros((1_100, 1)), np.zeros((1_000, 1)), memory="1MiB"),
        r"ties at rank 10 hold more than 699,050 items in all",
    ),
    "the tie of a query from the end": Case(
        lambda: tp.nearest([[1.0], [2.0]], k=1).tie(-2), r"query must be a whole number of at least 0, not -2"
    ),
    "the tie of a query behind the last one": Case(
        lambda: tp.nearest([[1.0], [2.0]], k=1).tie(2), r"query is 2, but the last query is 1\."
    ),
    "nearest items among none": Case(lambda: tp.nearest([[1.0]], np.zeros((0, 1))), r"gallery"),
    "neither truth= nor queries= and gallery=": Case(
        recall(truth=None), r"either truth=\(ids, distances\), or queries= and gallery="
    ),
    "both truth= and gallery=": Case(recall(gallery=[[1.0]]), r"either truth=.*or queries= and gallery="),
    "both truth= and queries=": Case(recall(queries=[[1.0]]), r"queries and truth were both passed"),
    "gallery= without queries=": Case(recall(truth=None, gallery=[[1.0]]), r"A gallery.*which needs queries="),
    "both n_items and gallery=": Case(
        recall(truth=None, queries=[[1.0]], gallery=[[1.0]], n_items=1), r"and no n_items"
    ),
    "queries= and gallery= with different numbers of dimensions": Case(
        recall([[0]], None, 1, queries=[[1.0]], gallery=[[1.0, 2.0]]),
        r"The number of dimensions is 1 for the queries, but 2",
    ),
    "true ids without distances": Case(recall(truth=np.array([[4, 2, 7]])), r"must be a pair \(ids, distances\)"),
    "found ids that are floats": Case(recall([[4.0, 2.0]]), r"The found ids must be integers.*float64"),
    "found ids of one dimension": Case(recall([4, 2]), r"but are int64 of the shape \(2,\)"),
    "a found id below -1": Case(recall([[4, -2]]), r"query 0 contain -2 at index 1.*and -1 where nothing was found"),
    "a found id outside the gallery": Case(
        recall([[4, 9]], n_items=9), r"query 0 contain 9 at index 1, but there are 9 items"
    ),
    "a found id of 2^63": Case(
        recall(np.array([[4, 2**63]], dtype=np.uint64)), r"contain 9223372036854775808, but must be below 2\^63"
    ),
    "found distances of another shape than the found ids": Case(
        recall(distances=[[1.0]]), r"but the found ids have \(1, 2\)"
    ),
    "more found lists than true lists": Case(
        recall([[4, 2]] * 2), r"found lists is 2, but the number of true lists is 1"
    ),
    "found lists shorter than k": Case(recall([[4]]), r"The length of the found lists is 1, but must be at least 2"),
    "a k of 0": Case(recall(k=0), r"k must be a whole number of at least 1, not 0"),
    "an empty tuple as k": Case(recall(k=()), r"k is missing"),
    "a k larger than the length of the true lists": Case(
        recall([[4, 2, 7, 1]], k=4), r"k is 4, but each true list has only 3 items"
    ),
    "among= smaller than k": Case(recall(among=1), r"among=1 is less than k=2"),
    "a true list with an id twice": Case(
        recall(truth=([[4, 2, 4]], [[1, 2, 3]])), r"true ids of query 0 contain 4 twice"
    ),
    "a true list with -1 before an item": Case(
        recall(truth=([[4, -1, 2]], [[1, 2, 3]])),
        r"true ids of query 0 contain -1 at index 1.*only behind the last item",
    ),
    "true lists without items": Case(
        recall([[1], [1]], ([[-1, -1], [-1, -1]], [[0, 0], [0, 0]]), k=1),
        r"None of the 2 queries has an item to find, so that recall is unknown",
    ),
    "exclude with bools of another shape": Case(
        lambda: tp.nearest([[0.0]], [[1.0], [2.0]], k=1, exclude=[[True]]),
        r"exclude has bools of the shape \(1, 1\), not \(1, 2\)\. Pass one for each query and item, or rows",
    ),
    "recall by a truth with exclude": Case(recall(exclude=[(0, 1)]), r"exclude and truth were both passed"),
    "recall of a query that ranks nothing": Case(
        lambda: tp.neighbor_recall([[0]], queries=[[1.0]], gallery=[[2.0]], k=1, exclude=[(0, 0)]),
        r"None of the 1 queries has an item to find, so that recall is unknown",
    ),
    "NaN in the true distances": Case(
        recall(truth=([[4, 2, 7]], [[1.0, np.nan, 3.0]])),
        r"true distances must contain only finite numbers, but contain nan",
    ),
    "true distances that are not sorted": Case(
        recall(truth=([[4, 2, 7]], [[1.0, 3.0, 2.0]])),
        r"increase at some places \(query 0\) and decrease at others \(query 0\)",
    ),
    "the recall for a k that was not evaluated": Case(
        lambda: tp.neighbor_recall([[4]], TRUTH, k=1)[2], r"no k = 2; it has 1"
    ),
    "range search ids without lims": Case(
        lambda: tp.range_recall([4, 2, 7], RANGES), r"must be a pair \(lims, ids\), not list"
    ),
    "range search ids that are floats": Case(
        lambda: tp.range_recall(([0, 1], [0.5]), RANGES), r"found ids must be integers in one dimension.*float64"
    ),
    "range search ids with padding of -1": Case(
        lambda: tp.range_recall(([0, 1], [-1]), RANGES), r"found ids contain -1.*Leave out padding"
    ),
    "range search lims larger than the number of ids": Case(
        lambda: tp.range_recall(RANGES, ([0, 2], [4])),
        r"truth lims must increase from 0 to the number of ids, which is 1",
    ),
    "a true range search list with an id twice": Case(
        lambda: tp.range_recall(RANGES, ([0, 2], [4, 4])), r"true list of query 0 contains an item twice"
    ),
    "a radius with lists of a range search": Case(
        lambda: tp.range_recall(RANGES, RANGES, radius=1.0), r"radius was passed with lists.*Leave it out"
    ),
    "more found range search lists than true lists": Case(
        lambda: tp.range_recall(([0, 1, 1], [4]), RANGES), r"found lists is 2, but the number of true lists is 1"
    ),
    "a vector file of big-ann-benchmarks that is cut short": Case(
        in_file("base.fbin", struct.pack("<II", 3, 2) + b"\0" * 20, read_embeddings),
        r"base\.fbin cannot be read as.* cut short.*28 bytes, but its header promises 32, for 3 vectors of 2 fl",
        in_folder=True,
    ),
    "a vector file of big-ann-benchmarks with extra bytes": Case(
        in_file("base.u8bin", struct.pack("<II", 3, 2) + b"\0" * 7, read_embeddings),
        r"base\.u8bin cannot be read as .* too long",
        in_folder=True,
    ),
    "a file of vectors of SIFT that is cut short": Case(
        in_file("base.fvecs", struct.pack("<iff", 2, 1.0, 2.0) + b"\0" * 5, read_embeddings),
        r"base\.fvecs cannot be read as vectors of float32, each after its length.* it has 17 bytes and begins with "
        r"a vector of 2 dimensions",
        in_folder=True,
    ),
    "a file of vectors of SIFT that have different numbers of dimensions": Case(
        in_file("base.bvecs", struct.pack("<iBBiB", 2, 1, 2, 1, 3) + b"\0", read_embeddings),
        r"base\.bvecs has vectors of different lengths: row 0 has 2 dimensions, but row 1 has 1",
        in_folder=True,
    ),
    "a file of big-ann-benchmarks whose header is cut short": Case(
        in_file("base.i8bin", b"\1\0\0\0", read_embeddings), r"has 4 bytes, but its header.* needs 8", in_folder=True
    ),
    "a file of big-ann-benchmarks with 0 rows": Case(
        in_file("base.ibin", struct.pack("<II", 0, 2), read_embeddings), r"header contains 0 and 2 as", in_folder=True
    ),
    "a ground truth of big-ann-benchmarks that is cut short": Case(
        in_file("truth.bin", struct.pack("<II", 2, 3) + b"\0" * 40, read_neighbors),
        r"promises 56, for 3 ids as int32 and as many distances as float32 of each of 2 queries",
        in_folder=True,
    ),
    "a range search ground truth whose lengths do not add up": Case(
        in_file("truth.rangeres", struct.pack("<iiii", 2, 3, 1, 1) + b"\0" * 24, read_ranges),
        r"add up to 2 items, .* header has 3 items",
        in_folder=True,
    ),
    "an archive without an array of neighbors": Case(
        archive("data.npz", keys=np.eye(2)), r"no lists called 'neighbors' or 'ids': it contains 'keys'", True
    ),
    "a file of floats as found neighbors": Case(
        array("found.npy", np.eye(2)), r"found\.npy contains float64.*lists of neighbors are ids", in_folder=True
    ),
}
