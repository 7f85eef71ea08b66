"""How likely each score of quantized embeddings is over the orders of their ties, and which systems can swap places.

Sentence embeddings in eight formats, PHOCNet's features and images of digits: the interval of mAP over all orders of
ties, and the part of it in which 95 % of the orders lie.

    python studies/distributions/study.py
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tieproof as tp
from studies.common import Options, parse, progress, save, table, write_report
from studies.nicolaou2018.dynamic_program import expected_average_precision, random_ranking
from studies.nicolaou2018.phocnet import load
from studies.quantization.embeddings import (
    FORMS,
    Array,
    Form,
    above_medians,
    as_int8,
    principal_components,
    random_hyperplanes,
    rotated_components,
    signs,
)
from tieproof.show import style
from tieproof.show.drawing import draw_intervals

DATA = "package-sections.npz"
QUICK = 150
BITS = 32

NOISE = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16"}
"""The formats that the entries of a form were rounded to, which moves every distance by a little."""

OTHER_FORMS = (
    Form("float32", 0, "cosine", np.asarray),
    Form("int8", 0, "cosine", as_int8),
    Form("64 signs", 0, "hamming", lambda embeddings: signs(64)(embeddings - embeddings.mean(axis=0))),
)
"""The forms of the embeddings of other collections; signs are those of the distances to the mean."""


def hyperplanes(seed: int) -> Callable[[Array], Array]:
    """The sides of random hyperplanes; each seed is a system of its own."""

    def bits(embeddings: Array) -> Array:
        normals = np.random.default_rng(seed).standard_normal((embeddings.shape[1], BITS))
        return np.asarray(embeddings @ normals > 0)

    return bits


SYSTEMS: Mapping[str, Callable[[Array], Array]] = {
    "signs": signs(BITS),
    "last signs": lambda embeddings: embeddings[:, -BITS:] > 0,
    "above the medians": lambda embeddings: above_medians(embeddings)[:, :BITS],
    "principal components": lambda embeddings: principal_components(embeddings)[:, :BITS] > 0,
    "rotated components": lambda embeddings: rotated_components(embeddings)[:, :BITS],
    "hyperplanes of a paper": lambda embeddings: random_hyperplanes(embeddings)[:, :BITS],
    **{f"hyperplanes {seed}": hyperplanes(seed) for seed in range(1, 5)},
}
"""Ten ways to make 32 bits of the same embeddings."""


class Row(NamedTuple):
    """What is known of the mAP of one form of some embeddings."""

    name: str
    result: tp.Result
    distribution: tp.Distribution


def main() -> None:
    """Evaluate, draw, and write the report."""
    options = parse(__file__, __doc__, DATA)
    found = collections(options)
    rows = {name: [*rows_of(name, *data)] for name, data in found.items()}
    ranking = ranked(*found["packages"][:2])
    draw(rows["packages"], options.out / "intervals.svg")
    drawn, axes = style.figure("This study", height=3.8)
    next(row for row in rows["packages"] if row.name == "64 signs").distribution.plot(axes)
    save(drawn, options.out / "codes.svg")
    write_report(options, render(rows, ranking, slides(options.quick)))


Collection = tuple[Array, Array, tuple[Form, ...]]
"""Embeddings, labels, and the forms that the embeddings are stored in."""


def collections(options: Options) -> dict[str, Collection]:
    """The embeddings, the labels and the forms of each collection that is there."""
    count = QUICK if options.quick else None
    with np.load(options.data) as arrays:
        found: dict[str, Collection] = {"packages": (arrays["embeddings"][:count], arrays["labels"][:count], FORMS)}
    words = options.data.with_name("phocnet.npz")
    if words.exists():
        features, labels = load(words)
        found["words"] = (features[:count], labels[:count], OTHER_FORMS)
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        progress("scikit-learn, which has the digits, is not installed")
        return found
    images, digits = load_digits(return_X_y=True)
    found["digits"] = (images[:count].astype(np.float32), digits[:count], OTHER_FORMS)
    return found


def rows_of(collection: str, embeddings: Array, labels: Array, forms: tuple[Form, ...]) -> Iterator[Row]:
    """The row of each form."""
    for form in forms:
        progress(f"{collection}: {form.name}")
        stored = form.store(embeddings)
        result = tp.evaluate(
            stored,
            labels,
            distance=form.distance,
            precision=form.precision,
            measures=["AP"],
            noise=NOISE.get(form.name),
        )
        yield Row(form.name, result, result.distribution("AP"))


class Neighbors(NamedTuple):
    """Two systems that are next to each other in the ranking, the better one in expectation first."""

    first: str
    second: str
    ahead: tp.Estimate[float]
    behind: tp.Estimate[float]
    over_ties: tp.OverTies

    @property
    def can_swap(self) -> bool:
        """Whether some order of ties puts the second system before the first."""
        return self.behind.upper > self.ahead.lower


def ranked(embeddings: Array, labels: Array) -> list[Neighbors]:
    """The ten systems by their expected mAP, two by two."""
    results = {}
    for name, store in SYSTEMS.items():
        progress(f"32 bits: {name}")
        results[name] = tp.evaluate(store(embeddings), labels, distance="hamming", measures=["AP"])
    order = sorted(results, key=lambda name: -results[name]["AP"].expected)
    found = []
    for first, second in pairwise(order):
        progress(f"{first} against {second}")
        over_ties = tp.compare({name: results[name] for name in (first, second)}).over_ties(
            first, second, "AP", resolution=1e-5
        )
        found.append(Neighbors(first, second, results[first]["AP"], results[second]["AP"], over_ties))
    return found


class Slides(NamedTuple):
    """A ranking, and its expected AP by the slides' program and by the distribution."""

    items: int
    relevant: int
    program: float
    low: float
    high: float


def slides(quick: bool) -> list[Slides]:
    """Random rankings, as in the study of the paper."""
    random = np.random.default_rng(0)
    found = []
    for items in (20, 40) if quick else (20, 40, 80):
        ranking = random_ranking(items, random)
        scores = [-float(place) for place, tie in enumerate(ranking) for _ in range(tie.items)]
        relevance = [int(at < tie.relevant) for tie in ranking for at in range(tie.items)]
        distribution = tp.evaluate_scores([scores], [relevance], measures=["AP"]).distribution("AP", resolution=1e-5)
        program = expected_average_precision(ranking)
        found.append(Slides(items, sum(relevance), program, *map(mean_of, distribution.bracket)))
    return found


def mean_of(steps: Any) -> float:
    """The mean of a step function."""
    return float((np.diff(steps.total, prepend=0.0) * steps.points).sum())


def draw(rows: list[Row], path: Path) -> None:
    """The interval of each form over all orders of ties, and above it that of 95 % of the orders."""
    drawn, ax = style.figure("This study", width=8, height=1.2 + 0.36 * len(rows))
    draw_intervals(ax, range(len(rows)), [row.result["AP"] for row in rows])
    ends = np.array([row.distribution.interval() for row in rows]).T
    ax.hlines(np.arange(len(rows)) - 0.3, *ends, color=style.ink(), linewidth=3, label="95 % of the orders")
    for place, row in enumerate(rows):
        if (noise := row.result["AP"].noise) is not None:
            ax.hlines(place + 0.3, noise.lower, noise.upper, color=style.ORANGE, linewidth=3, label="with rounding")
    ax.set_yticks(range(len(rows)), [row.name for row in rows])
    ax.set(ylim=(len(rows) - 0.4, -0.7), xlabel="mAP")
    ax.grid(axis="x", color="#dddddd", linewidth=0.8)
    ax.set_axisbelow(True)
    style.tidy(ax)
    named = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))  # each label once
    drawn.legend(named.values(), named.keys(), loc="outside upper center", ncols=4, frameon=False)
    save(drawn, path)


def decimals(low: float, high: float) -> int:
    """To how many decimals, at most six, two scores are printed the same.

    >>> decimals(0.1234, 0.1236), decimals(0.5, 0.5)
    (2, 6)
    """
    return max((places for places in range(7) if f"{low:.{places}f}" == f"{high:.{places}f}"), default=0)


def most_likely(distribution: tp.Distribution, places: int = 4) -> tuple[str, float]:
    """The score that is printed most often with so many decimals, and how often, by the middle of the bracket.

    >>> most_likely(tp.evaluate_scores([[2, 1]], [[0, 1]], measures=["AP"]).distribution("AP"))
    ('0.5000', 1.0)
    """
    unit = 10.0**-places
    low, high = (round(end / unit) for end in distribution.interval())
    edges = (np.arange(low, high + 2) - 0.5) * unit
    beyond = np.array([sum(distribution.at_least(edge)) / 2 for edge in edges.tolist()])
    chances = -np.diff(beyond)
    at = int(np.argmax(chances))
    return f"{(low + at) * unit:.{places}f}", float(chances[at])


def summary(rows: list[Row]) -> str:
    """The table of a collection."""
    lines = []
    for row in rows:
        estimate, (low, high) = row.result["AP"], row.distribution.interval()
        score, chance = most_likely(row.distribution)
        lines.append(
            (
                row.name,
                f"{estimate.lower:.4f} to {estimate.upper:.4f}",
                f"{low:.6f} to {high:.6f}",
                "" if estimate.noise is None else f"{estimate.noise.lower:.4f} to {estimate.noise.upper:.4f}",
                f"{estimate.std:.1e}",
                str(decimals(estimate.lower, estimate.upper)),
                str(decimals(low, high)),
                f"{score} ({100 * chance:.0f} %)",
            )
        )
    headings = (
        "stored as",
        "all orders",
        "95 % of the orders",
        "with rounding",
        "std",
        "decimals",
        "decimals of 95 %",
        "printed most",
    )
    return table(headings, lines)


def ranking_table(ranking: list[Neighbors]) -> str:
    """The table of the ten systems, two by two."""
    lines = [
        (
            f"{each.first} before {each.second}",
            f"{each.ahead.expected:.4f} and {each.behind.expected:.4f}",
            "yes" if each.can_swap else "no",
            f"{100 * each.over_ties.worse.high:.2g} %",
            f"{each.over_ties.p_value:.2g}",
        )
        for each in ranking
    ]
    return table(("two systems", "mAP", "can swap", "how likely, at most", "p-values of all orders"), lines)


def render(rows: Mapping[str, list[Row]], ranking: list[Neighbors], program: list[Slides]) -> str:
    """The report."""
    signs_of = next(row for row in rows["packages"] if row.name == "64 signs")
    estimate, (low, high) = signs_of.result["AP"], signs_of.distribution.interval()
    closer = (estimate.upper - estimate.lower) / (high - low)
    swaps = sum(each.can_swap for each in ranking)
    likely = sum(each.over_ties.worse.high > 0.01 for each in ranking)
    checked = table(
        ("items", "relevant", "the program", "mean of the lower and the upper distribution"),
        [
            (str(each.items), str(each.relevant), f"{each.program:.9f}", f"{each.low:.9f} to {each.high:.9f}")
            for each in program
        ],
        words=0,
    )
    others = "\n".join(
        f"### {title}\n\n{summary(rows[name])}"
        for name, title in (("words", "Words of George Washington, by PHOCNet"), ("digits", "Images of digits"))
        if name in rows
    )
    return f"""# How likely each score is over the orders of ties

A program that leaves the order of tied items to chance prints one of many scores. The interval from lower to upper
has all of them, but most orders give a score near the middle: for 64 signs, the mAP of {estimate.lower:.4f} to
{estimate.upper:.4f} is from {low:.6f} to {high:.6f} in 95 % of the orders, an interval {closer:.0f} times
shorter. That is how much chance moves the score. An order that is not left to chance, such as that of a file
sorted by class, can give any score of the whole interval.

## Packages

{summary(rows["packages"])}
"decimals" are those that all orders agree on, and "decimals of 95 %" those on which both ends of the inner interval
agree. "with rounding" has all rankings that are possible if every entry of the embeddings was rounded to the format,
so that the score of the embeddings before rounding lies inside. "printed most" is the score with four decimals that
most orders give, and how many of them do.

![The intervals of mAP over all orders, and over 95 % of them](intervals.svg)

![The distribution of the mAP of 64 signs](codes.svg)

## Other collections

{others}
"64 signs" are those of the first 64 numbers after their mean is subtracted.

## A ranking of ten

Ten ways to make {BITS} bits of the embeddings of the packages, in the order of their expected mAP. Of the
{len(ranking)} pairs of neighbors, {swaps} can swap their places by some order of ties, and {likely} do so with a
probability of more than 1 % if ties are broken at random. The last column has the smallest and the largest p-value of
the sign-flip test over all orders of ties.

{ranking_table(ranking)}
## The slides' program

The dynamic program of the paper's slides computes the expected AP in a grid of relevant and other items. The
distribution is computed in the same grid, with a complex number in each cell instead of a probability. Its mean is
therefore that of the program:

{checked}"""


if __name__ == "__main__":
    main()
