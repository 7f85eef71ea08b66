"""Values of several definitions of recall for indexes that answer badly, or well. Writes recall_of_an_index.md.

Needs faiss for the example at the beginning of the page.
"""

import re
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp

PAGE = Path(__file__).with_suffix(".md")

Array = npt.NDArray[Any]

K, LISTED, ITEMS, QUERIES = 10, 100, 1000, 50

INTRODUCTION = """<!-- Written by docs/integrations/recall_of_an_index.py from what the definitions count. -->

# Recall of an index

What share of the true k nearest neighbors does an index find? If several items are at exactly the k-th distance
(codes of few bits, int8, duplicates), "the k nearest" is not a unique set. A file of true neighbors lists one choice
of many, and an index that found other items, just as near, seems to be wrong. `tp.neighbor_recall` returns the exact
interval over all choices:

```python
import faiss
import numpy as np
import tieproof as tp

codes = np.random.default_rng(0).integers(0, 256, (5000, 2), dtype=np.uint8)  # 16 bits each
queries, gallery = codes[:200], codes[200:]
index = faiss.IndexBinaryIVF(faiss.IndexBinaryFlat(16), 16, 8)
index.nprobe = 8  # it searches all of its lists, so this search is exact and should score 1
index.train(gallery)
index.add(gallery)
far, found = index.search(queries, 10)

distances = np.unpackbits(queries[:, None] ^ gallery[None], axis=2).sum(axis=2, dtype=np.int64)
true = np.argsort(distances, axis=1, kind="stable")[:, :10]
print(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found.tolist(), true.tolist())]))  # by ids, as most do
print(tp.neighbor_recall(found, queries=queries, gallery=gallery, distance="hamming", bits=16, k=10))
```

@PRINTED@

Compared by ids with a list of true neighbors, this exact search finds only a part of them, by chance, because the list
contains other items of the ties. Let s items be nearer than the k-th distance and t items at it; r = k - s of these t
belong to the k nearest. The index found a of the s items and b of the t items. Over all choices of the k nearest:

| | recall | meaning |
|---|---|---|
| lower | (a + max(0, r - (t - b))) / k | the recall with the least favorable file of ids |
| expected | (a + r b / t) / k | the mean recall over all such files |
| upper | (a + min(b, r)) / k | 1 exactly if the found items contain k items such that no other item is nearer |

**Report `upper`**: an index that returns any of the tied items has found a nearest item, so an exact search scores 1.
(For measures of rankings, report `lower`: there the ties come from the system, and here they are in the data.) An item
that occurs twice in a list counts once. Padding (-1, the largest number of uint32 or uint64, a distance of NaN) counts
as not found, and the result reports how many duplicates and how much padding there were. Distances that the index
returns are not used. The answers of usearch and qdrant can be passed as they are.

The true neighbors come from vectors, `queries=` and `gallery=`, which are ranked exactly, or from a file,
`truth=(ids, distances)`. Equal numbers in the file are ties, even if only float32 made them equal. If a list of true
neighbors ends within the tie at the k-th distance, `lower` and `upper` cover all items that may follow its end, and
`found.at(10).cut_off` marks these queries; a longer list leaves less open. In this case `upper` is only a bound: it does
not show that the index found these items. A folder that `tp.truth` wrote, `truth="truth/"`, has the whole tie at every k,
so that no tie is cut off; the [guide to vector search](../guides/vector_search.md) shows how to write one.

`k=(1, 10, 100)` asks for several k. `k=1, among=100` is known as recall@100 of a quantizer: whether the nearest item is
among the first hundred.

From the command line, with the files of [ann-benchmarks](https://github.com/erikbern/ann-benchmarks),
[VIBE](https://github.com/vector-index-bench/vibe) and
[big-ann-benchmarks](https://github.com/harsha-simhadri/big-ann-benchmarks), whose vectors `tieproof evaluate` can
read, too:

```text
tieproof neighbor-recall index.hdf5 sift-128-euclidean.hdf5 -k 10
tieproof neighbor-recall vibe.hdf5:ef_100 agnews-mxbai-1024-euclidean.hdf5 -k 100
tieproof neighbor-recall found.ibin GT.public.1B.ibin -k 1 -k 10 --json recall.json
tieproof neighbor-recall found.npy --queries query.u8bin --gallery base.u8bin -d euclidean -k 10
```

## Definitions of other benchmarks

If the truth is given as lists, `found.at(10).of_others` contains the recall of two benchmarks for the same lists, under
their own names:

| name | counts as found |
|---|---|
| ann-benchmarks k-nn | each of the first k ranks with a distance of at most d_k + 0.001 (VIBE's recall is this one, too) |
| ann-benchmarks epsilon, largeepsilon | the same with at most 1.01 d_k, 1.1 d_k |
| big-ann k-nn | each distinct id that is among the first k of the truth, or behind them while the distances differ from d_k by less than 0.000001 |

Both definitions tolerate ties if the numbers allow it. Both can be fooled, or report a wrong value for a correct index.
The table has {items:,} items of 8 numbers from 0 to 2, {queries} queries, Euclidean distances, k = {k}, and a truth of
{listed} items unless the row says otherwise. Values that are not between `lower` and `upper` are in bold:

"""

AFTER = """
These are the values of the definitions, as functions of the lists that they receive. The runner of ann-benchmarks computes
the distances itself from the ids, and now refuses lists that contain an item twice. Its issues
[176](https://github.com/erikbern/ann-benchmarks/issues/176) and
[519](https://github.com/erikbern/ann-benchmarks/issues/519) are about ties and duplicates, and pull requests
[59](https://github.com/harsha-simhadri/big-ann-benchmarks/pull/59) and
[74](https://github.com/harsha-simhadri/big-ann-benchmarks/pull/74) of big-ann-benchmarks are about ties. A program that
uses the definition without the runner, or that reads result files, has neither safeguard.

[How benchmarks compute recall](../recall_harnesses.md) has the formulas of further benchmarks, and what an audit finds in
each of them.

## Items within a radius

The items within a radius are a unique set, whatever is tied, so the recall of range search is a single number.
`tp.range_recall((lims, ids), (true_lims, true_ids))` and `tieproof range-recall FOUND TRUTH` count an item once.
big-ann-benchmarks counts an item as often as it occurs in the list. (It ranks systems by an average precision over
thresholds, which tieproof does not compute.) The recall of two indexes:

| answer of the index | big-ann recall, overall | tieproof |
|---|--:|--:|
"""


class Data(NamedTuple):
    """The distances of all items to each query (q, n), and the list of true neighbors."""

    distances: Array
    true: Array

    @property
    def truth(self) -> tuple[Array, Array]:
        """The list with its distances."""
        return self.true, self.of(self.true)

    def of(self, ids: Array) -> Array:
        """The distances of some items of each query."""
        return np.take_along_axis(self.distances, ids, axis=1)


class Case(NamedTuple):
    """An index, and the data that it searches.

    what : a description of its answer
    answer : its ids and distances
    """

    what: str
    data: Callable[[], Data]
    answer: Callable[[Data], tuple[Array, Array]]

    def recall(self) -> tp.RecallAtK:
        """The recall by all definitions."""
        data = self.data()
        ids, distances = self.answer(data)
        return tp.neighbor_recall(ids, data.truth, k=K, distances=distances, n_items=ITEMS).at(K)


def vectors() -> tuple[Array, Array]:
    """The queries and the gallery."""
    random = np.random.default_rng(1)
    numbers = random.integers(0, 3, (QUERIES + ITEMS, 8)).astype(np.float64)
    return numbers[:QUERIES], numbers[QUERIES:]


def listed(distances: Array, length: int = LISTED) -> Data:
    """The data with a list of `length` true neighbors; ties are in the order of the gallery."""
    return Data(distances, np.argsort(distances, axis=1, kind="stable")[:, :length])


def euclidean(unit: float = 1.0, length: int = LISTED) -> Callable[[], Data]:
    """Euclidean distances of numbers in a given unit."""

    def data() -> Data:
        queries, gallery = vectors()
        return listed(unit * np.sqrt(((queries[:, None] - gallery[None]) ** 2).sum(axis=2)), length)

    return data


def products() -> Data:
    """Negated inner products as distances."""
    queries, gallery = vectors()
    return listed(-(queries @ gallery.T))


def all_tied() -> Data:
    """All items at the same distance."""
    return listed(np.ones((QUERIES, ITEMS)))


def exact(data: Data) -> tuple[Array, Array]:
    """The nearest items, ties from the end of the gallery."""
    ids = ITEMS - 1 - np.argsort(data.distances[:, ::-1], axis=1, kind="stable")[:, :K]
    return ids, data.of(ids)


def farthest(data: Data) -> Array:
    """The ids of the farthest items."""
    return np.argsort(-data.distances, axis=1, kind="stable")[:, :K]


def same_item(data: Data) -> tuple[Array, Array]:
    """The nearest item at every rank."""
    ids = np.repeat(data.true[:, :1], K, axis=1)
    return ids, data.of(ids)


def forged(data: Data) -> tuple[Array, Array]:
    """The farthest items, with forged distances of 0."""
    return farthest(data), np.zeros((QUERIES, K))


def nothing_near(data: Data) -> tuple[Array, Array]:
    """No item, with forged distances of 0."""
    return np.full((QUERIES, K), -1), np.zeros((QUERIES, K))


def one_and_padding(data: Data) -> tuple[Array, Array]:
    """The nearest item and padding."""
    first = np.arange(K) == 0
    return np.where(first, data.true[:, :K], -1), np.where(first, data.of(data.true[:, :K]), np.inf)


def honest_farthest(data: Data) -> tuple[Array, Array]:
    """The farthest items, with their true distances."""
    ids = farthest(data)
    return ids, data.of(ids)


def end_of_the_list(data: Data) -> tuple[Array, Array]:
    """The last items of the list of true neighbors."""
    ids = data.true[:, -K:]
    return ids, data.of(ids)


CASES = (
    Case("exact search, ties in another order", euclidean(), exact),
    Case("the nearest item at all ten ranks", euclidean(), same_item),
    Case("the farthest items, with forged distances of 0", euclidean(), forged),
    Case("no item at all (-1), with distances of 0", euclidean(), nothing_near),
    Case("the nearest item and nine paddings", euclidean(), one_and_padding),
    Case("the farthest items of data in units of 0.0001", euclidean(1e-4), honest_farthest),
    Case("ranks 91 to 100 of data in units of 0.0000001", euclidean(1e-7), end_of_the_list),
    Case("exact search by inner product (distances below 0)", products, exact),
    Case("exact search, the truth of 10 items only", euclidean(length=K), exact),
    Case("any ten of 1,000 items that are all tied", all_tied, exact),
)

NAMES = ("ann-benchmarks k-nn", "ann-benchmarks epsilon", "ann-benchmarks largeepsilon", "big-ann k-nn")


def row(case: Case) -> str:
    """The row of one index: its recall by all definitions."""
    found = case.recall()
    ours = found.recall
    cells = [case.what]
    for name in NAMES:
        value = found.of_others[name]
        outside = not ours.lower - 1e-9 <= value <= ours.upper + 1e-9
        cells.append(f"**{value:.4f}**" if outside else f"{value:.4f}")
    return f"| {' | '.join([*cells, f'{ours:.4f}'])} |"


def printed(page: str) -> str:
    """The output of the example on the page."""
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    said = StringIO()
    with redirect_stdout(said):
        exec(code, {})
    return f"```text\n{said.getvalue()}```"


def table() -> str:
    """A row for each index."""
    lines = [
        "| answer of the index | ann-benchmarks k-nn | epsilon | largeepsilon | big-ann k-nn | tieproof |",
        "|---|--:|--:|--:|--:|--:|",
        *map(row, CASES),
    ]
    return "\n".join(lines) + "\n"


def ranges() -> str:
    """Rows for two indexes that return items within a radius twice."""
    queries, gallery = vectors()
    squares = ((queries[:, None] - gallery[None]) ** 2).sum(axis=2)
    true = [np.flatnonzero(row <= 4) for row in squares]
    rows = []
    for what, step in (("half of the true items, each twice", 2), ("the true items, each twice", 1)):
        found = tp.range_recall(as_ranges([np.repeat(items[::step], 2) for items in true]), as_ranges(true))
        rows.append(f"| {what} | **{found.of_others['big-ann recall, overall']:.4f}** | {found.recall:.4f} |\n")
    return "".join(rows)


def as_ranges(lists: list[Array]) -> tuple[Array, Array]:
    """The lists joined into one array, and the offset at which each begins."""
    return np.cumsum([0, *map(len, lists)]), np.concatenate(lists)


def render() -> str:
    """The page."""
    head = INTRODUCTION.replace("@PRINTED@", printed(INTRODUCTION))
    for name, size in {"items:,": f"{ITEMS:,}", "queries": QUERIES, "k": K, "listed": LISTED}.items():
        head = head.replace(f"{{{name}}}", str(size))
    return head + table() + AFTER + ranges()


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
