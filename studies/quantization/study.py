"""The scores of quantized embeddings, with the interval over the orderings of their ties.

Real sentence embeddings in float32, float16, bfloat16, int8 and as sign codes of 384, 64 and 32 bits, and in float32
with distances of 16 bits: every item queries all the others for those of its class.

    python studies/quantization/study.py
    python studies/quantization/study.py --data embeddings.npz
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.common import Options, claims, parse, progress, save, table, write_report
from studies.quantization.embeddings import FORMS, METHODS, Form
from tieproof.show import style
from tieproof.show.drawing import draw_intervals

Array = npt.NDArray[Any]
Results = dict[str, tp.Result]

DATA = "package-sections.npz"
QUICK = 200
MEASURES = {"AP": "mAP", "P@1": "P@1", "nDCG@10": "nDCG@10"}
"""Measures, and the names of their means in the tables."""

SHUFFLES = 20
AS_IT_IS, BY_CLASS, SHUFFLED = "as it is", "sorted by class", f"shuffled {SHUFFLES} times"
RELEVANT_LAST, RELEVANT_FIRST = "a list for each query, its relevant items last", "a list for each query, these first"


def main() -> None:
    """Evaluate, draw, and write the report."""
    options = parse(__file__, __doc__, DATA)
    embeddings, labels = read(options)
    forms, methods = (evaluate(embeddings, labels, kinds) for kinds in (FORMS, METHODS))
    progress("what programs print for the 64 signs")
    printed = print_in_orders(embeddings[:, :64] > 0, labels)
    draw(forms, options.out / "intervals.svg")
    draw(methods, options.out / "methods.svg")
    write_report(options, render(forms, methods, printed, len(embeddings), len(np.unique(labels))))


def read(options: Options) -> tuple[Array, Array]:
    """Embeddings and labels of the file, or of its first items."""
    with np.load(options.data) as arrays:
        count = QUICK if options.quick else None
        return arrays["embeddings"][:count], arrays["labels"][:count]


def evaluate(embeddings: Array, labels: Array, forms: Iterable[Form]) -> Results:
    """The result of each form."""
    results = {}
    for form in forms:
        progress(f"{form.bits:,} bits: {form.name}")
        results[form.name] = tp.evaluate(
            form.store(embeddings), labels, distance=form.distance, measures=list(MEASURES), precision=form.precision
        )
    return results


def printed_ap(codes: Array, labels: Array, relevant_items: int = 0) -> float:
    """The mean AP of a program that sorts Hamming distances and leaves ties in the order of the items.

    codes : bits, (n, d)
    labels : (n,)
    relevant_items : 1 where the list of each query has its relevant items first, -1 where it has them last, and 0
        where all queries have one list, in the order of the labels

    Every item queries the others; queries with nothing relevant are left out.

    >>> codes, labels = np.array([[0, 0], [0, 1], [1, 0]]), np.array([1, 2, 1])
    >>> [printed_ap(codes, labels, order) for order in (-1, 0, 1)]  # item 0 has both others at distance 1
    [0.75, 0.75, 1.0]
    """
    bits = codes.astype(np.float32)
    ones = bits.sum(axis=1)
    distances = (ones[:, None] + ones - 2 * (bits @ bits.T)).astype(np.int16)  # whole numbers: exact
    np.fill_diagonal(distances, codes.shape[1] + 1)  # the query itself comes last, and is cut off
    keys = 2 * distances - relevant_items * (labels == labels[:, None])
    ranking = np.argsort(keys, axis=1, kind="stable")[:, :-1]
    relevant = labels[ranking] == labels[:, None]
    precision = np.cumsum(relevant, axis=1) / np.arange(1, len(labels))
    counts = relevant.sum(axis=1)
    wanted = counts > 0
    return float(np.mean((precision * relevant).sum(axis=1)[wanted] / counts[wanted]))


def print_in_orders(codes: Array, labels: Array) -> dict[str, list[float]]:
    """The scores that a program prints if the same items are in different orders in the file."""
    by_label = np.argsort(labels, kind="stable")
    random = np.random.default_rng(0)
    orders: dict[str, Sequence[Array]] = {
        AS_IT_IS: [np.arange(len(labels))],
        BY_CLASS: [by_label],
        "the same backwards": [by_label[::-1]],
        SHUFFLED: [random.permutation(len(labels)) for _ in range(SHUFFLES)],
    }
    printed = {name: [printed_ap(codes[at], labels[at]) for at in given] for name, given in orders.items()}
    return {RELEVANT_LAST: [printed_ap(codes, labels, -1)], **printed, RELEVANT_FIRST: [printed_ap(codes, labels, 1)]}


def draw(results: Results, path: Path) -> None:
    """An interval for each measure and result."""
    drawn, axes = style.figure("This study", width=9, height=1 + 0.32 * len(results), columns=len(MEASURES))
    for ax, (measure, name) in zip(axes, MEASURES.items(), strict=True):
        estimates = [result[measure] for result in results.values()]
        draw_intervals(ax, range(len(results)), estimates)
        ax.set(xlim=(0, 1.1 * max(estimate.upper for estimate in estimates)), ylim=(len(results) - 0.5, -0.5))
        ax.set_xlabel(name)
        ax.set_yticks(range(len(results)), list(results) if ax is axes[0] else [])
        ax.grid(axis="x", color="#dddddd", linewidth=0.8)
        ax.set_axisbelow(True)
        style.tidy(ax)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    save(drawn, path)


def interval(estimate: "tp.Estimate[float]") -> str:
    """Lower, expected and upper value, as the tables show them.

    >>> interval(tp.Estimate(0.0989, 0.1124, 0.1302, 0.0))
    '0.0989 ≤ **0.1124** ≤ 0.1302'
    """
    return f"{estimate.lower:.4f} ≤ **{estimate.expected:.4f}** ≤ {estimate.upper:.4f}"


def summary(results: Results, forms: Iterable[Form] = FORMS, heading: str = "stored as") -> str:
    """The table of intervals: a row for each form."""
    rows = [
        (form.name, f"{form.bits:,}", *(interval(results[form.name][measure]) for measure in MEASURES))
        for form in forms
    ]
    return table((heading, "bits", *MEASURES.values()), rows)


def span(results: Mapping[str, tp.Result], names: Iterable[str], measure: str) -> str:
    """The range of the expected values, from the smallest to the largest."""
    values = [results[name][measure].expected for name in names]
    return f"{min(values):.4f} to {max(values):.4f}"


def width(result: tp.Result, measure: str) -> float:
    """The width of the interval over the orderings of tied items."""
    return result[measure].upper - result[measure].lower


SIMPLE = [form.name for form in METHODS[:3]]
"""The methods that use no statistics of the items, or only those of single dimensions."""


def claim_rows(forms: Results, methods: Results, printed: Mapping[str, list[float]]) -> list[tuple[str, str, str]]:
    """The claims on codes, the measurements, and the reasons."""
    signs = forms["64 signs"]
    ap, first = signs["AP"], signs["P@1"]
    gains = [100 * (value / printed[BY_CLASS][0] - 1) for value in printed[SHUFFLED]]
    return [
        (
            "A first look at 4,000 other rows of the same collection: 64 bits score an mAP of 0.100 to 0.131 and a "
            "P@1 of 0.30 to 0.40.",
            f"mAP {ap.lower:.3f} to {ap.upper:.3f}, P@1 {first.lower:.3f} to {first.upper:.3f}.",
            "The rows differ, and it is not known which 64 bits the first look used. The signs of the first 64 "
            "numbers, bits about their medians, and random hyperplanes all give similar scores.",
        ),
        (
            'Shuffling the database "might get 1~2% improvement in mAP", since items at the same Hamming distance '
            'are in no order; as much as another choice of the method, which "might help to improve mAP by 1~2%" '
            "(README of [kamwoh/DPN](https://github.com/kamwoh/DPN), the code of a paper of IJCAI 2020).",
            f"Shuffling the file sorted by class changes mAP by {min(gains):+.1f} % to {max(gains):+.1f} %. The "
            f"width of the interval is {100 * width(signs, 'AP') / ap.expected:.0f} % of the expected value.",
            "The score that a program prints depends on the order of its file. A shuffle does not tell how much "
            "is due to the order; the interval does.",
        ),
        (
            "The method that makes the bits determines their score.",
            f"The first three methods below have an expected mAP of {span(methods, SIMPLE, 'AP')}; the interval of "
            f"each is at least {min(width(methods[name], 'AP') for name in SIMPLE):.4f} wide.",
            "A difference between two methods counts if the lower value of one is above the upper value of the "
            f"other: {separate(methods)}.",
        ),
    ]


def separate(methods: Results) -> str:
    """The pairs of methods whose intervals of mAP do not overlap, in words."""
    names = list(methods)
    pairs = [
        f"{better} before {worse}"
        for better in names
        for worse in names
        if methods[better]["AP"].lower > methods[worse]["AP"].upper
    ]
    return ", ".join(pairs) or "no two of these methods"


def render(forms: Results, methods: Results, printed: Mapping[str, list[float]], items: int, classes: int) -> str:
    """The report."""
    signs, floats = forms["64 signs"], forms["float32"]
    orders = [
        (name, " to ".join(f"{value:.4f}" for value in sorted({min(values), max(values)})))
        for name, values in printed.items()
    ]
    return f"""# What quantized embeddings score

{items:,} descriptions of software packages, embedded by a sentence encoder, each query for the others of its section
({classes} sections). The same embeddings are stored with fewer and fewer bits. The table shows lower ≤ **expected** ≤
upper values over all orderings of tied items:

{summary(forms)}
![Intervals of mAP, P@1 and nDCG@10 of each form](intervals.svg)

Floats and int8 are compared by cosine, and exactly. "Distances in" means the distances of float32 vectors, 1 -
cosine, each rounded to a number of 16 bits, as in systems that store such distances. Signs (a bit for each of the
first numbers, 1 if the number is above 0) are compared by Hamming distance. int8 has one scale for all numbers. Of
{floats.ties.queries:,} queries with a relevant item, {floats.ties.queries_with_ambiguous_ties:,} have an ambiguous
tie even in float32, because descriptions that several packages share have the same vector; with 64 signs,
{signs.ties.queries_with_ambiguous_ties:,} queries have one.

## Claims

{claims(claim_rows(forms, methods, printed))}
## Five ways to make 64 bits

{summary(methods, METHODS, "method")}
![Intervals of mAP, P@1 and nDCG@10 of each method](methods.svg)

"Above the medians" uses the median of each of the first 64 numbers. The hyperplanes are random, with a fixed seed.
The components are the 64 principal ones; in the last row they are rotated by ITQ (Gong and Lazebnik 2011).

## What a program prints

The table shows the mAP of the 64 signs by a stable sort of exact Hamming distances. A single file for all queries
cannot favor all of them. A list of candidates for each query that names the relevant items first, as data for
rerankers often does, reaches the upper bound; the reversed list reaches the lower bound ({interval(signs["AP"])}).

{table(("order of the file", "mAP"), orders)}"""


if __name__ == "__main__":
    main()
