"""How often comparisons are wrong: coverage of intervals, false positives and power of verdicts.

Real embeddings with noise, and sign codes of them, are systems of known quality, compared on samples of queries.

    python studies/compare/study.py
    python studies/compare/study.py --data embeddings.npz
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from studies.common import parse, table, write_report
from studies.compare import peers
from studies.compare.cases import BITS, FEWER_BITS, Case, cases, evaluate
from studies.compare.simulation import CONFIDENCE, FAMILY, NAMES, Size, coverage_rows, family_rows, verdict_rows
from studies.compare.systems import Data, with_distractors

DATA = "package-sections.npz"
SECOND = "phocnet.npz"
"""A second file, which is read if it is in the folder of the first."""

ARRAYS = {"package-sections.npz": ("embeddings", "labels"), "phocnet.npz": ("phocnet_features", "phocnet_labels")}
"""The files, and the names of their arrays; other files have those of the first."""

FULL, QUICK = Size(1000, 1000, 200), Size(80, 40, 5, (20,), (10,))


def main() -> None:
    """Evaluate, simulate, and write the report."""
    options = parse(__file__, __doc__, DATA)
    size = QUICK if options.quick else FULL
    files = dict.fromkeys([options.data, options.data.with_name(SECOND)])
    write_report(options, render({path.name: read(path, size.items) for path in files if path.is_file()}, size))


def read(path: Path, items: int) -> Data:
    """The items of a file."""
    names = ARRAYS.get(path.name, ARRAYS[DATA])
    with np.load(path) as arrays:
        return with_distractors(arrays[names[0]], arrays[names[1]].ravel(), items)


WRONG = f"{100 * (1 - CONFIDENCE):g} %"


def render(several: Mapping[str, Data], size: Size) -> str:
    """The report, with a section for each file."""
    errors = 200 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / size.samples)
    sections = "".join(section(name, data, size) for name, data in several.items())
    return f"""# How often comparisons are wrong

The study makes systems of known quality from real embeddings: the embeddings with normal noise, and {BITS} or
{FEWER_BITS} signs of random projections of these, whose Hamming distances tie. The systems are evaluated on all
queries of a collection, which are the population. The methods see only samples of these queries, drawn with
replacement, {size.samples:,} of each size. Two standard errors of a share of {WRONG} are {errors:.1f} percentage
points. The measure is average precision, and the confidence is {100 * CONFIDENCE:g} %. Written by
`python studies/compare/study.py`.

**Results**

- With 200 queries or more, confidence intervals over queries contain the true mean about as often as they promise.
  With 10 or 25 queries they contain it less often, by up to eight percentage points. In phocnet.npz, where most
  queries score 1 and a few far less, the gap is about twelve points with 25 queries, and more than twenty with 10.
  There the bootstrap, which takes the skewness of the scores into account, does better than Student's t.
- For equal systems, about {WRONG} of the samples give the verdict that one is better, as promised, with and without
  ties. "Better whatever the ties" is never wrong more often than that, and is almost never wrong if there are ties.
- The verdicts lose no power. If one system is better, "better in expectation" and "better whatever the ties" together
  are about as frequent as a significant t-test on scores whose ties are broken in some order. They are more frequent
  if few queries differ. With many ties, "better whatever the ties" requires a large difference.
- A t-test of scores whose ties are broken in one order is a statement about that order. If two programs break the
  ties of the same codes in two orders, the t-test finds a difference between equal systems. `tp.compare` takes the
  ties into account, and reports that the systems are the same.
- Five equal systems make ten pairs, and without a correction one of them is often significant. With Holm, Bonferroni,
  Benjamini and Hochberg, and the randomized Tukey test, the error rates are as promised.
{sections}"""


def section(name: str, data: Data, size: Size) -> str:
    """The section on one file."""
    systems = evaluate(data)
    given = cases(data, systems)
    heads = ("pair", "queries", *NAMES, "the worse one is better", *(f"{name}: different" for name in peers.PROGRAMS))
    return f"""
## {name}

{len(data.labels):,} items. {len(systems.floats[0].lower):,} of them are queries for the other items of their class;
the items of every other class are distractors.

**Intervals over queries**, for the mean of `lower`: how often they contain the mean over the population, and their
mean width.

{table(("system", "queries", "BCa", "width", "Student's t", "width"), coverage_rows(systems, size))}
**Verdicts** on one pair of systems, with the sign-flip test. The mean differences in the population are:

{table(("pair", "over the orderings of ties", "expected"), map(means, given))}
For pairs of equal systems, the two systems exchange their scores at random, query by query, so that neither is
better. The columns are shares of the samples: the share of each verdict, and the share in which the worse system is
called better. The last two columns are the shares in which the test that PyTerrier and ranx apply by default finds a
difference. It is a t-test of the scores that they print, here also at {WRONG}. PyTerrier lets trec_eval break ties by
the names of documents. ranx applies no rule to ties, so its scores depend on the order of the lines.

{table(heads, verdict_rows(given, size))}
**Several systems**: for each query, the scores of five systems are reassigned to them at random, so that none is
better. The table shows how often any of the ten pairs is significant, by the sign-flip test without and with a
correction, and by the randomized Tukey test; {size.dealt:,} samples.

{table(("queries", *FAMILY), family_rows(systems, size), words=0)}"""


def means(case: Case) -> list[str]:
    """The mean differences of a pair in the population."""
    if case.equal:
        return [case.truth, "", "0"]
    lower, expected, upper = (float(each.mean()) for each in case.differences)
    return [case.truth, f"{lower:+.4f} to {upper:+.4f}", f"{expected:+.4f}"]


if __name__ == "__main__":
    main()
