"""The toy examples of "A Metric Learning Reality Check", and what the interval of tied items adds.

Three examples of two classes in the plane: recall@1 is near 100 % for each, but R-precision and MAP@R are not.

    python studies/musgrave2020/study.py
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.common import claims, parse, progress, save, table, write_report
from tieproof.show import style
from tieproof.show.drawing import draw_intervals

Array = npt.NDArray[Any]
Strip = tuple[float, float]

POINTS, QUICK = 2000, 200
SEEDS = 20

MEASURES = {"Success@1": "recall@1", "Rprec": "R-precision", "AP@R": "MAP@R"}
"""Measures, and the names of their means in the paper."""

EXAMPLES: dict[str, tuple[tuple[Strip, ...], tuple[Strip, ...]]] = {
    "Example 1": (((-3, -2), (-1, 0)), ((0, 1), (2, 3))),
    "Example 2": (((-1, 0),), ((0, 1),)),
    "Example 3": (((-3, -1),), ((1, 3),)),
}
"""The strips across which the points of each class are spread evenly, as in the repository that the report names."""

STEPS = {"as drawn": 0.0, "to 0.01": 0.01, "to 0.1": 0.1, "to 0.5": 0.5, "all at one point": 100.0}
"""The steps to which coordinates are rounded."""


def main() -> None:
    """Evaluate, draw, and write the report."""
    options = parse(__file__, __doc__)
    count = QUICK if options.quick else POINTS
    found = {}
    for name in EXAMPLES:
        progress(name)
        found[name] = by_step(*sample(name, count, seed=0))
    progress(f"{SEEDS} other seeds")
    scatter(count, {name: steps["as drawn"] for name, steps in found.items()}, options.out / "examples.png")
    draw(found, options.out / "intervals.svg")
    write_report(options, render(found, count))


def sample(name: str, count: int, seed: int) -> tuple[Array, Array]:
    """Points (count, 2) of an example, and their classes (count,): 0 on the left, 1 on the right."""
    random = np.random.default_rng(seed)
    left, right = EXAMPLES[name]
    strips = np.repeat(np.array(left + right, dtype=np.float64), count // len(left + right), axis=0)
    across = random.uniform(strips[:, 0], strips[:, 1])
    return np.column_stack([across, random.uniform(size=len(strips))]), (across > 0).astype(np.int64)


def stored(points: Array, step: float) -> Array:
    """The points in whole steps of a grid, or unchanged if `step` is 0.

    >>> stored(np.array([[0.26, 1.0], [-0.3, 0.5]]), 0.5).tolist()
    [[1, 2], [-1, 1]]
    """
    return np.rint(points / step).astype(np.int64) if step else points


def by_step(points: Array, labels: Array) -> dict[str, tp.Result]:
    """The result for each way to store the coordinates: every point queries the others, by Euclidean distance."""
    return {
        name: tp.evaluate(stored(points, step), labels, distance="euclidean", measures=list(MEASURES))
        for name, step in STEPS.items()
    }


def with_itself(points: Array, labels: Array) -> str:
    """The measures if the query remains in the list as its own nearest neighbor."""
    with warnings.catch_warnings():
        # That each query finds itself is the case that is shown here.
        warnings.filterwarnings("ignore", "The gallery is equal to the queries", tp.InputWarning)
        result = tp.evaluate(
            points, labels, gallery=points, gallery_labels=labels, distance="euclidean", measures=list(MEASURES)
        )
    return ", ".join(f"{title} {percent(result[measure])}" for measure, title in MEASURES.items())


def percent(estimate: "tp.Estimate[float]") -> str:
    """Lower, expected and upper value, or a single value if they are equal.

    >>> percent(tp.Estimate(0.5, 0.75, 1.0, 0.25)), percent(tp.Estimate(0.5, 0.5, 0.5, 0.0))
    ('50.0 ≤ **75.0** ≤ 100.0', '50.0')
    """
    lower, expected, upper = (f"{100 * value:.1f}" for value in (estimate.lower, estimate.expected, estimate.upper))
    return lower if estimate.lower == estimate.upper else f"{lower} ≤ **{expected}** ≤ {upper}"


def scatter(count: int, results: dict[str, tp.Result], path: Path) -> None:
    """The points of each example, and what they score."""
    drawn, axes = style.figure("This study", width=10, height=3.2, columns=len(results))
    for ax, (name, result) in zip(axes, results.items(), strict=True):
        points, labels = sample(name, count, seed=0)
        for label, look in enumerate(style.LOOKS[:2]):
            mark = {"color": look.color, "marker": look.marker, "s": 5, "linewidths": 0, "label": f"class {label}"}
            ax.scatter(*points[labels == label].T, **mark)
        values = "\n".join(f"{title} {percent(result[measure])} %" for measure, title in MEASURES.items())
        ax.set_title(f"{name}\n{values}", fontsize=10)
        ax.set(xlim=(-3.2, 3.2), ylim=(-0.1, 1.1), xlabel="first coordinate")
        style.tidy(ax)
    axes[0].set_ylabel("second coordinate")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, markerscale=3)
    save(drawn, path)


def draw(found: dict[str, dict[str, tp.Result]], path: Path) -> None:
    """The intervals of MAP@R, as the coordinates get coarser."""
    drawn, axes = style.figure("This study", width=9, height=2.8, columns=len(found))
    for ax, (name, results) in zip(axes, found.items(), strict=True):
        draw_intervals(ax, range(len(results)), [result["AP@R"] for result in results.values()])
        ax.set(xlim=(-0.03, 1.03), ylim=(len(results) - 0.5, -0.5), xlabel="MAP@R", title=name)
        ax.set_yticks(range(len(results)), list(results) if ax is axes[0] else [])
        ax.grid(axis="x", color="#dddddd", linewidth=0.8)
        ax.set_axisbelow(True)
        style.tidy(ax)
    axes[0].set_ylabel("coordinates rounded")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    save(drawn, path)


def spread(name: str, count: int) -> list[str]:
    """Mean and standard deviation of each measure over other seeds, in percent."""
    values = np.array(
        [
            [result[measure].expected for measure in MEASURES]
            for result in (
                tp.evaluate(points, labels, distance="euclidean", measures=list(MEASURES))
                for points, labels in (sample(name, count, seed) for seed in range(1, SEEDS + 1))
            )
        ]
    )
    return [f"{100 * mean:.1f} ± {100 * std:.1f}" for mean, std in zip(values.mean(0), values.std(0), strict=True)]


def claim_rows(found: dict[str, dict[str, tp.Result]], count: int) -> list[tuple[str, str, str]]:
    """The claims of the repository, the measurements, and the reasons."""
    drawn = {name: results["as drawn"] for name, results in found.items()}
    first, second, third = drawn.values()
    points, labels = sample("Example 2", count, seed=0)
    random_labels = np.random.default_rng(0).permutation(labels)
    recall = tp.evaluate(points, labels, distance="euclidean", measures=["R@1", "Success@1"])["R@1"]
    return [
        (
            "MAP@R rewards well clustered embedding spaces.",
            f"From example 1 to 3, MAP@R rises from {percent(first['AP@R'])} through {percent(second['AP@R'])} to "
            f"{percent(third['AP@R'])} %, and recall@1 from {percent(first['Success@1'])} to "
            f"{percent(third['Success@1'])} %.",
            "Recall@1 looks at one neighbor, which belongs to another class only near a border between classes. "
            "MAP@R looks at as many neighbors as the class has other points.",
        ),
        (
            "The titles of the repository's pictures give recall@1, R-precision and MAP@R.",
            "The table above gives these measures for points that this study draws.",
            "The repository's text has no numbers for comparison. The table of other seeds shows how much the "
            "measures depend on the draw.",
        ),
        (
            "Recall@k is the number of relevant items among the first k, divided by R.",
            f"By this formula recall@1 of example 2 is {100 * recall.lower:.1f} %, not "
            f"{percent(second['Success@1'])} %.",
            "Recall@k has two meanings: the share of relevant items that is found (`R@k` here), and whether any "
            "relevant item is found (`Success@k`). Metric learning, the paper and the repository's code mean the "
            "second, with k = 1.",
        ),
        (
            "The repository's examples search with `ignore_self=False`.",
            f"Then example 2 has, in percent, {with_itself(points, labels)}; with its labels shuffled, "
            f"{with_itself(points, random_labels)}.",
            "The query is then its own nearest neighbor, so recall@1 carries no information. In this study the "
            "query is excluded by its index.",
        ),
    ]


def render(found: dict[str, dict[str, tp.Result]], count: int) -> str:
    """The report."""
    headings = list(MEASURES.values())
    values = [(name, *(percent(steps["as drawn"][measure]) for measure in MEASURES)) for name, steps in found.items()]
    seeds = [(name, *spread(name, count)) for name in found]
    coarse = [
        (name, step, *(percent(result[measure]) for measure in MEASURES))
        for name, steps in found.items()
        for step, result in steps.items()
    ]
    collapsed = found["Example 3"]["all at one point"]["AP@R"]
    return f"""# The toy examples of "A Metric Learning Reality Check"

Musgrave, Belongie and Lim (2020, arXiv:2003.08505) argue for MAP@R with three toy examples, which the repository
[arrrrrmin/ranking-metrics](https://github.com/arrrrrmin/ranking-metrics) draws again: points of two classes in the
plane, evenly distributed over strips. This study uses {count:,} points for each example, from a fixed seed. Every
point queries all the others by Euclidean distance. The measures are in percent:

{table(("", *headings), values)}
![The three examples](examples.png)

## Claims

{claims(claim_rows(found, count), "the repository")}
## Other seeds

The table shows the mean and the standard deviation over {SEEDS} other draws of {count:,} points, in percent:

{table(("", *headings), seeds)}
## What the interval adds

The coordinates above are random doubles. No two distances are the same, so each score is one number. If coordinates
are stored more coarsely, as in quantized embeddings, points coincide and distances tie. The table shows lower ≤
**expected** ≤ upper values, in percent:

{table(("", "coordinates rounded", *headings), coarse, words=2)}
![Intervals of MAP@R](intervals.svg)

The coarser the coordinates, the more the score depends on the order of the points. "All at one point" is the output
of a network that has collapsed. Its MAP@R is {percent(collapsed)} %, and a program that happens to break ties in
favor of the query's class prints the score that example 3 deserves. The lower value tells the two apart.
"""


if __name__ == "__main__":
    main()
