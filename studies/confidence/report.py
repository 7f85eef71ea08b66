"""The report of the study: the claims of the repository, and the effect of ties among confidences."""

import numpy as np

from studies.common import claims, table
from studies.confidence import modes
from studies.confidence.scenario import MEASURES, STORED, Array, Scenario, Scores, claimed, errors, printed, scores
from tieproof.measures.confidence import RankCorrelation, rank_correlation
from tieproof.ties import Estimate

SCALE = 12500
"""The factor of the simulated sigmas, as in the repository."""

SHUFFLES = 20

SAMPLES = 2000
"""The samples of each of two modes."""


def interval(estimate: Estimate[float]) -> str:
    """Lower, expected and upper value, or a single value if they are equal.

    >>> interval(Estimate(0.25, 0.5, 0.75, 0.1)), interval(Estimate(0.5, 0.5, 0.5, 0.0))
    ('0.2500 ≤ **0.5000** ≤ 0.7500', '0.5000')
    """
    low, middle, high = (f"{value:.4f}" for value in (estimate.lower, estimate.expected, estimate.upper))
    return low if estimate.lower == estimate.upper else f"{low} ≤ **{middle}** ≤ {high}"


def printed_range(wrong: Array, confidence: Array) -> str:
    """The smallest and the largest area that a sorting program prints for several orders of the points."""
    random = np.random.default_rng(0)
    values = [printed(wrong, confidence, random.permutation(len(wrong))) for _ in range(SHUFFLES)]
    low, high = (f"{value:.4f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def best_level(scene: Scenario) -> tuple[float, float]:
    """The confidence of the wrongly labeled points, in steps of 0.001, of the largest correlation; and that one."""
    steps = [step / 1000 for step in range(1, 1001)]
    found = [rank_correlation(claimed(scene, step), scene.truth).coefficient for step in steps]
    return steps[int(np.argmax(found))], max(found)


def claim_rows(scene: Scenario, found: dict[float, Scores]) -> list[tuple[str, str, str]]:
    """The claims of the repository, the measurements, and the reasons."""
    (low, first), *_, (high, last) = found.items()
    scaled = scores(scene, claimed(scene, 1.0) * SCALE)
    deserved = scene.truth[scene.corrupted]
    level, largest = best_level(scene)
    areas = "; ".join(
        f"1 - {title}: {interval(first.curves[title].area)} to {interval(last.curves[title].area)}"
        for title in MEASURES.values()
    )
    same = scaled.accuracy.mean == last.accuracy.mean and scaled.accuracy.best == last.accuracy.best
    same_areas = all(scaled.curves[title].area == last.curves[title].area for title in MEASURES.values())
    return [
        (
            "As the confidence of erroneous samples rises, scores drop and errors increase.",
            f"From confidence {low} to {high}: confidence vs recall@1 from {first.accuracy.mean:.4f} to "
            f"{last.accuracy.mean:.4f} (mean) and from {first.accuracy.best:.4f} to {last.accuracy.best:.4f} (best). "
            f"Areas: {areas}.",
            "The wrongly labeled points move from the end of the ranking to its top, where they count in every "
            "mean of the curve.",
        ),
        (
            "Confidence vs Recall@1 only works with confidences in [0, 1]; ERCs work regardless of range.",
            f"Times {SCALE:,}, confidence vs recall@1 is {'the same' if same else 'another'}, and the areas are "
            f"{'the same' if same_areas else 'others'}.",
            "Both scores only compare confidences with each other.",
        ),
        (
            "Rank correlation is the highest where the confidence is the mean of the corrupted ones (x = 6827.5).",
            f"The mean is {deserved.mean() * SCALE:,.1f}, the median {np.median(deserved) * SCALE:,.1f}; the largest "
            f"correlation, {largest:.4f}, is at {level * SCALE:,.1f}.",
            "Ranks matter, not values: the best common confidence has the mean of the ranks that the points "
            "deserve, which need not be the rank of their mean.",
        ),
        (
            "The mean over the thresholds of the ROC curve is the score.",
            f"At confidence 1 the mean is {last.accuracy.mean:.4f}, the best {last.accuracy.best:.4f}.",
            "The repository uses the mean, and its source marks this as a question; probabilistic-embeddings "
            "uses the best threshold. `confidence_vs_recall_at_1` has both.",
        ),
    ]


def level_table(found: dict[float, Scores], correlations: dict[float, RankCorrelation]) -> str:
    """All scores for each confidence of the wrongly labeled points."""
    areas = [f"area of 1 - {title}" for title in MEASURES.values()]
    headings = ("confidence", "vs recall@1, mean", "best", *areas, "rank correlation", "in each order of ties")
    rows = [
        (
            f"{level:.2f}",
            f"{each.accuracy.mean:.4f}",
            f"{each.accuracy.best:.4f}",
            *(interval(curve.area) for curve in each.curves.values()),
            f"{correlations[level].coefficient:.4f}",
            interval(correlations[level].orders),
        )
        for level, each in found.items()
    ]
    return table(headings, rows, words=0)


def tie_table(scene: Scenario, kept: dict[str, Scores], wrong: dict[str, Array]) -> str:
    """The areas for confidences stored with fewer digits, and the values that a sorting program prints."""
    areas = [heading for title in MEASURES.values() for heading in (f"area of 1 - {title}", "sorted")]
    rows = []
    for name, found in kept.items():
        confidence = STORED[name](scene.truth)
        cells = [
            cell
            for title, curve in found.curves.items()
            for cell in (interval(curve.area), printed_range(wrong[title], confidence))
        ]
        largest = np.unique(confidence, return_counts=True)[1].max()
        rows.append((name, f"{len(found.accuracy.thresholds):,}", f"{largest:,}", *cells))
    return table(("confidences", "distinct", "most of a kind", *areas), rows)


def threshold_table(kept: dict[str, Scores]) -> str:
    """Confidence vs recall@1 for confidences stored with fewer digits."""
    rows = [(name, f"{found.accuracy.mean:.4f}", f"{found.accuracy.best:.4f}") for name, found in kept.items()]
    return table(("confidences", "confidence vs recall@1, mean", "best"), rows)


def render(
    scene: Scenario, found: dict[float, Scores], correlations: dict[float, RankCorrelation], kept: dict[str, Scores]
) -> str:
    """The report.

    found, correlations : for each confidence of the wrongly labeled points
    kept : for each of `STORED`
    """
    wrong = {title: errors(scene, measure) for measure, title in MEASURES.items()}
    top, last = max(found.items())
    count, corrupted = f"{len(scene.points):,}", len(scene.corrupted)
    tied = interval(last.curves["recall@1"].area)
    tied_printed = printed_range(wrong["recall@1"], claimed(scene, top))
    recall, mapr = (curve.area for curve in kept["one decimal"].curves.values())
    whole, same = (kept[name].curves["recall@1"].area for name in ("float64, as simulated", "all the same"))
    return f"""# Confidences

This study uses the second toy example of "A Metric Learning Reality Check" (Musgrave, Belongie and Lim 2020) with
{count} points from a fixed seed, {corrupted} of them labeled wrongly. As in the repository
[arrrrrmin/ranking-metrics](https://github.com/arrrrrmin/ranking-metrics), the confidence that a point deserves is 1
minus the density of a normal distribution with the standard deviation 0.5 at its distance from the border of the
classes. Every point queries all the others by Euclidean distance, with {last.ambiguous_ties} ambiguous ties. The
effects below are therefore due to ties among confidences alone.

![The points and their confidences](points.png)

## As the confidence of the wrongly labeled points rises

All wrongly labeled points get the same confidence; the other points keep theirs. Areas and correlations are given as
lower ≤ **expected** ≤ upper value over all orders of equal confidences.

{level_table(found, correlations)}
![The three scores](scores.svg)

![Rank correlation over simulated sigmas](correlations.svg)

## Claims

{claims(claim_rows(scene, found), "the repository")}
MAP@R is defined as in the paper, with R the number of other points of the query's class. The repository uses the R of
the smallest class for all queries, and drops the nearest point as the query itself. Here the query is excluded by its
index.

## What ties among confidences do

The simulation itself ties {corrupted} confidences. At confidence {top} the area of 1 - recall@1 is therefore {tied}.
A program that sorts prints {tied_printed} for {SHUFFLES} orders of the same points.

Models produce more ties than that: by half precision, by a sigmoid that saturates, or by labels of crops or of people
on a scale of a few steps. The table shows the deserved confidences of the first picture, stored with fewer digits.
"Sorted" is the range of values that a program prints if it sorts the confidences, for {SHUFFLES} orders of the
points.

{tie_table(scene, kept, wrong)}
![Curves of the same confidences in fewer digits](ties.svg)

- With one decimal, the area of 1 - recall@1 is anything from {recall.lower:.4f} to {recall.upper:.4f}; with all
  digits it is {whole.upper:.4f}. The area of 1 - MAP@R is anything from {mapr.lower:.4f} to {mapr.upper:.4f}.
- Confidences that are all the same carry no information, and still "score" from {same.lower:.4f} to {same.upper:.4f}.
  A program that happens to put the right answers first prints the lower end. The expected value is the mean error.
  `upper` is the value to report.
- The order that gives the largest area also gives the largest value at every point of the curve.

Confidence vs recall@1 has no interval, because a threshold accepts or rejects a tie as a whole. Its mean gives every
distinct confidence the same weight, so storing fewer digits changes it. If all confidences are equal, it is the mean
of accepting nothing and accepting everything:

{threshold_table(kept)}
{modes.section(SAMPLES, 0)}
"""
