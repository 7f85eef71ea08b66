"""What the audit finds in the formulas of public benchmarks of vector search. Writes recall_harnesses.md."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import recall_formulas as formulas
from recall_formulas import Array, Truth

import tieproof as tp
from tieproof.trials.audit import ATTACKS, Finding

PAGE = Path(__file__).with_suffix(".md")

INTRODUCTION = """<!-- Written by docs/recall_harnesses.py from audits of the formulas of public benchmarks. -->

# How benchmarks compute recall

Each benchmark of vector search has its own definition of recall. `tieproof audit --recall` hands an evaluator lists
whose recall is known, with [tricks that must not pay](audit.md#evaluators-of-recall). The table shows those that
find something in the formulas of public benchmarks. Bold numbers are the score of the lists, and the recall that
they have, with 1 for all neighbors. "depends on order" means that two lists score differently though their items
are equally near. VIBE's formula is that of ann-benchmarks, and has the same findings.

"""

AFTER = """
All of them withstand @HELD@.

- *Partial lists*, *whole tie*: a formula that counts every item at the k-th distance gives an index credit for tied
  items in place of nearer ones that it did not find. `tp.neighbor_recall` counts only as many of them as belong to
  the k nearest.
- *Ties at the cut*: a formula that compares ids gives an exact search less than 1, by chance.
- *Stale truth*: a formula that compares ids holds, because its number is near 0, but it does not tell that the
  truth is wrong.

Programs around these formulas may do more; where it matters, it is said below. For your own lists,
`found.at(10).of_others` has the numbers of ann-benchmarks, VIBE and big-ann-benchmarks beside those of
[tp.neighbor_recall](integrations/nearest_neighbor_indexes.md#recall-of-an-index).

"""

OURS = """
Of the three numbers of tieproof, `lower` and `expected` withstand all attacks. `upper` gives an index the benefit of
the doubt where the truth ends within a tie: any item that the truth does not list may belong to the tie. Pass a
folder that `tp.truth` wrote, in which all ties are complete, or vectors, or refuse such a truth:

```python
at = tp.neighbor_recall(found, truth, k=10).at(10)
if at.cut_off.any():
    raise ValueError("The truth ends within a tie.")
```

The page on [audits](audit.md#evaluators-of-recall) shows how to audit your own function.
"""


class Harness(NamedTuple):
    """A benchmark, and how it computes recall.

    where, revision : the file, and the commit that was read
    counts : what counts as found
    around : what the program around it does, if that matters
    most : the number for all neighbors
    """

    name: str
    recall: Callable[[Array, Array, Truth], float]
    where: str = ""
    revision: str = ""
    counts: str = ""
    around: str = ""
    most: float = 1.0

    def audited(self) -> tp.AuditReport:
        """The report of an audit."""
        return tp.audit(self.recall, takes="recall", limits=(0, self.most))


HARNESSES = (
    Harness(
        "ann-benchmarks",
        formulas.ann_benchmarks,
        "erikbern/ann-benchmarks, ann_benchmarks/plotting/metrics.py",
        "f402b2cc17b9",
        "each of the first k ranks whose distance is at most 0.001 larger than that of the k-th neighbor, and reads "
        "no ids",
        "The runner computes the distances itself from the ids, and fails if a list contains an id twice. Its "
        "variants epsilon and largeepsilon allow 1.01 and 1.1 times the distance of the k-th neighbor. Issues "
        "[176](https://github.com/erikbern/ann-benchmarks/issues/176) and "
        "[519](https://github.com/erikbern/ann-benchmarks/issues/519) are about ties and duplicates.",
    ),
    Harness(
        "VIBE",
        formulas.vibe,
        "vector-index-bench/vibe, export_results.py",
        "b332c7359ea7",
        "the same as ann-benchmarks",
        "The runner computes the distances itself; the check for repeated ids is commented out (vibe/runner.py).",
    ),
    Harness(
        "big-ann-benchmarks",
        formulas.big_ann,
        "harsha-simhadri/big-ann-benchmarks, benchmark/plotting/metrics.py",
        "452e508b72e9",
        "each distinct id among the first k of the truth, or behind them as long as the distances differ by less "
        "than 0.000001 from that of the k-th neighbor",
        "Its recall of range search counts an item as often as it occurs in the list: all true items, each twice, "
        "score 2. It ranks systems by an average precision over thresholds, which tieproof does not compute. Pull "
        "requests [59](https://github.com/harsha-simhadri/big-ann-benchmarks/pull/59) and "
        "[74](https://github.com/harsha-simhadri/big-ann-benchmarks/pull/74) are about ties.",
    ),
    Harness(
        "VectorDBBench",
        formulas.vectordbbench,
        "zilliztech/VectorDBBench, vectordb_bench/metric.py",
        "4ea181055b11",
        "each of the returned ids that is among the first k of the truth, as often as it is returned",
    ),
    Harness(
        "DiskANN",
        formulas.diskann,
        "microsoft/DiskANN, diskann-tools/src/utils/search_index_utils.rs",
        "860cf47bc11b",
        "each distinct id among the first k of the truth, or behind them if its distance is that of the k-th "
        "neighbor, and at most k; in percent",
        most=100.0,
    ),
    Harness(
        "cuVS, C++",
        formulas.cuvs,
        "rapidsai/cuvs, cpp/bench/ann/src/common/dataset.hpp",
        "ff0c8076bf2f",
        "each of the returned ids that is among the first k of the truth, as often as it is returned",
        "A truth that contains an id twice is refused, also if it is filled up with -1.",
    ),
    Harness(
        "cuVS, Python",
        formulas.cuvs_in_python,
        "rapidsai/cuvs, python/cuvs_bench/cuvs_bench/backends/_utils.py",
        "ff0c8076bf2f",
        "each distinct id among the first k of the truth",
    ),
    Harness(
        "RAFT",
        formulas.raft,
        "rapidsai/raft, cpp/include/raft/stats/detail/neighborhood_recall.cuh",
        "04c9b33130b2",
        "each rank whose id is among the first k of the truth, or whose distance is that of any of them within "
        "0.001, absolutely or relatively",
    ),
    Harness(
        "MLPerf Storage",
        formulas.mlperf_storage,
        "mlcommons/storage, vdb_benchmark/vdbbench/simple_bench.py",
        "1d5132974b54",
        "each distinct id among the first k of the truth, as a share of the distinct ids there",
        "A recall of 0 was once reported as valid because the truth was that of earlier data "
        "([issue 805](https://github.com/mlcommons/storage/issues/805)).",
    ),
    Harness(
        "MLPerf Storage, epsilon",
        formulas.mlperf_storage_epsilon,
        "the same file, with --recall-epsilon 1e-6",
        "1d5132974b54",
        "each distinct id of the truth whose distance is at most that of the k-th neighbor plus epsilon, at most k "
        "of them",
    ),
)


def cell(harness: Harness, finding: Finding) -> str:
    """The verdict on an attack, with the numbers if it is bad."""
    if finding.verdict.harmless:
        return str(finding.verdict)
    if finding.interval is None or finding.score is None:
        return f"**{finding.verdict}**"
    ends = dict.fromkeys(f"{end / harness.most:.4g}" for end in finding.interval)
    return f"**{finding.score / harness.most:.4g}**, not {' to '.join(ends)}"


def table(harnesses: Sequence[Harness]) -> tuple[str, list[str]]:
    """A row for each attack that finds something, a column for each harness; and the names of all other attacks."""
    reports = {harness: harness.audited() for harness in harnesses}
    lines = [f"| attack | {' | '.join(harness.name for harness in harnesses)} |", f"|---|{'---|' * len(harnesses)}"]
    held = []
    for name in (name for name, attack in ATTACKS.items() if attack.kind == "recall"):
        found = {harness: report.finding(name) for harness, report in reports.items()}
        if all(finding.verdict.harmless for finding in found.values()):
            held.append(name)
        else:
            lines.append(f"| {name} | {' | '.join(cell(*each) for each in found.items())} |")
    return "\n".join(lines) + "\n", held


def sources() -> Iterator[str]:
    """A paragraph about each harness."""
    for harness in HARNESSES:
        around = f" {harness.around}" if harness.around else ""
        yield f"- **{harness.name}** ({harness.where}, {harness.revision}) counts {harness.counts}.{around}\n"


def render() -> str:
    """The page."""
    theirs, held = table([harness for harness in HARNESSES if harness.recall is not formulas.vibe])
    after = AFTER.replace("@HELD@", f"{', '.join(held[:-1])} and {held[-1]}")
    return "".join([INTRODUCTION, theirs, after, *sources(), OURS])


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
