"""How public benchmarks of vector search compute recall; recall_harnesses.py audits these formulas.

Each function computes what the docstring's source computes, for the lists that an audit hands in. They are written
from what the sources do, at the revisions that recall_harnesses.py names, and import nothing of these projects.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Truth = tuple[Array, Array]


def share_of_hits(found: Array, truth: Array, length: int | None = None) -> float:
    """The mean number of distinct found ids that are in each list of the truth, as a share of the found ids."""
    hits = [len(set(a) & set(b[:length])) for a, b in zip(found.tolist(), truth.tolist(), strict=True)]
    return sum(hits) / found.size


def ann_benchmarks(found: Array, distances: Array, truth: Truth) -> float:
    """The recall k-nn of ann-benchmarks: get_recall_values with knn_threshold, ann_benchmarks/plotting/metrics.py."""
    count = found.shape[1]
    limit = truth[1][:, count - 1 : count] + 1e-3
    return float(np.mean((distances[:, :count] <= limit).sum(axis=1)) / count)


def vibe(found: Array, distances: Array, truth: Truth) -> float:
    """The recall of VIBE: get_recall_values, export_results.py."""
    count = found.shape[1]
    recalls = [(row[:count] <= true[count - 1] + 1e-3).sum() for row, true in zip(distances, truth[1], strict=True)]
    return float(np.mean(np.array(recalls) / count))


def big_ann(found: Array, distances: Array, truth: Truth) -> float:
    """The recall of big-ann-benchmarks: get_recall_values with count_ties, benchmark/plotting/metrics.py."""
    count, hits = found.shape[1], 0
    for row, ids, far in zip(found.tolist(), truth[0].tolist(), truth[1], strict=True):
        end = count
        while end < len(ids) and abs(far[count - 1] - far[end]) < 1e-6:
            end += 1
        hits += len(set(ids[:end]) & set(row))
    return float(hits / len(found) / count)


def vectordbbench(found: Array, distances: Array, truth: Truth) -> float:
    """The recall of VectorDBBench: calc_recall, vectordb_bench/metric.py, with the first k of the truth."""
    count = found.shape[1]
    lists = zip(found.tolist(), truth[0][:, :count].tolist(), strict=True)
    return float(np.mean([np.mean([item in true for item in row]) for row, true in lists]))


def diskann(found: Array, distances: Array, truth: Truth) -> float:
    """The recall of DiskANN: calculate_recall, diskann-tools/src/utils/search_index_utils.rs, with distances."""
    count, hits = found.shape[1], 0
    for row, ids, far in zip(found.tolist(), truth[0].tolist(), truth[1], strict=True):
        end = count
        while end < len(ids) and far[end] == far[count - 1]:
            end += 1
        hits += min(count, len(set(ids[:end]) & set(row)))
    return float(hits / len(found) * (100 / count))


def cuvs(found: Array, distances: Array, truth: Truth) -> float:
    """The recall of cuVS's benchmarks in C++: count_matches, cpp/bench/ann/src/common/dataset.hpp."""
    count, hits, total = found.shape[1], 0, 0
    for row, ids in zip(found.tolist(), truth[0].tolist(), strict=True):
        ranks: dict[int, int] = {}
        for rank, item in enumerate(ids):
            if item in ranks:
                raise ValueError("Duplicate neighbor id in the ground truth.")
            ranks[item] = rank
        hits += sum(ranks.get(item, count) < count for item in row)
        total += min(len(ranks), count)
    return hits / total


def cuvs_in_python(found: Array, distances: Array, truth: Truth) -> float:
    """The recall of cuVS's benchmarks in Python: compute_recall, cuvs_bench/backends/_utils.py."""
    return share_of_hits(found, truth[0], found.shape[1])


def raft(found: Array, distances: Array, truth: Truth) -> float:
    """RAFT's neighborhood_recall with distances, cpp/include/raft/stats/detail/neighborhood_recall.cuh, eps 0.001."""
    count, eps = found.shape[1], np.float32(1e-3)
    ids, far = (each[:, None, :count] for each in truth)
    near, far = distances[:, :, None].astype(np.float32), far.astype(np.float32)
    with np.errstate(all="ignore"):
        difference = np.abs(near - far)
        largest = np.maximum(np.abs(near), np.abs(far))
        close = np.where(difference > eps, difference / largest, difference) <= eps
    return float(((found[:, :, None] == ids) | close).any(axis=2).mean())


def mlperf_storage(found: Array, distances: Array, truth: Truth) -> float:
    """The recall of MLPerf Storage: calc_recall, vdb_benchmark/vdbbench/simple_bench.py, with the default epsilon."""
    count = found.shape[1]
    lists = zip(found.tolist(), truth[0][:, :count].tolist(), strict=True)
    return float(np.mean([len(set(row) & set(true)) / len(set(true)) for row, true in lists]))


def mlperf_storage_epsilon(found: Array, distances: Array, truth: Truth) -> float:
    """The recall of MLPerf Storage with an epsilon of 1e-6, for distances of which smaller is nearer."""
    count, recalls = found.shape[1], []
    for row, ids, far in zip(found.tolist(), truth[0].tolist(), truth[1].tolist(), strict=True):
        true = set(ids[:count])
        credit = {item for item, distance in zip(ids, far, strict=True) if distance <= far[len(true) - 1] + 1e-6}
        recalls.append(min(len(set(row) & credit), len(true)) / len(true))
    return float(np.mean(recalls))
