"""Scores that use confidences, as those of wrongly labeled points rise, and what ties among confidences do to them.

The second toy example of "A Metric Learning Reality Check" with simulated confidences, in the three pictures of the
repository arrrrrmin/ranking-metrics.

    python studies/confidence/study.py
"""

from pathlib import Path

from studies.common import parse, progress, save, write_report
from studies.confidence.report import SCALE, render
from studies.confidence.scenario import MEASURES, STORED, Scenario, Scores, claimed, scenario, scores
from tieproof.measures.confidence import RankCorrelation, rank_correlation
from tieproof.measures.confidence.pictures import plot_error_reject, plot_rank_correlations
from tieproof.show import style

POINTS, CORRUPTED, QUICK = 2000, 100, 10
"""Points, wrong labels, and by how much both are divided in a quick run."""

SEED = 0
LEVELS = [level / 20 for level in range(1, 21)]
"""The confidences of wrongly labeled points, one after the other."""

DRAWN = ("float64, as simulated", "one decimal", "all the same")
"""The ways to keep confidences whose curves are drawn."""


def main() -> None:
    """Evaluate, draw, and write the report."""
    options = parse(__file__, __doc__)
    part = QUICK if options.quick else 1
    scene = scenario(POINTS // part, CORRUPTED // part, SEED)
    progress(f"{len(LEVELS)} confidences of the wrongly labeled points")
    found = {level: scores(scene, claimed(scene, level)) for level in LEVELS}
    correlations = {level: rank_correlation(claimed(scene, level), scene.truth) for level in LEVELS}
    progress("confidences kept in fewer digits")
    kept = {name: scores(scene, store(scene.truth)) for name, store in STORED.items()}
    draw_points(scene, options.out / "points.png")
    draw_scores(found, options.out / "scores.svg")
    draw_correlations(scene, correlations, options.out / "correlations.svg")
    draw_ties(kept, options.out / "ties.svg")
    write_report(options, render(scene, found, correlations, kept))


def draw_points(scene: Scenario, path: Path) -> None:
    """The points, more opaque where they are more confident, the wrongly labeled ones as sure as can be."""
    drawn, ax = style.figure("This study", width=8, height=4)
    confidence = claimed(scene, 1.0)
    for label, look in enumerate(style.LOOKS[:2]):
        mine = scene.labels == label
        ax.scatter(
            *scene.points[mine].T, c=look.color, marker=look.marker, s=14, linewidths=0, alpha=confidence[mine]
        )
        ax.scatter([], [], c=look.color, marker=look.marker, s=14, linewidths=0, label=f"class {label}")
    rings = {"facecolors": "none", "edgecolors": style.BLACK, "s": 40, "linewidths": 0.8}
    ax.scatter(*scene.points[scene.corrupted].T, **rings, label="labeled wrongly, confidence 1")
    ax.set(xlabel="first coordinate", ylabel="second coordinate", title="opacity: confidence")
    drawn.legend(loc="outside lower center", ncols=3)
    style.tidy(ax)
    save(drawn, path)


def draw_scores(found: dict[float, Scores], path: Path) -> None:
    """The three scores, as the confidence of the wrongly labeled points rises."""
    drawn, (left, right) = style.figure("This study", width=9, height=4, columns=2)
    across = list(found)
    for name, look in zip(("mean", "best"), style.LOOKS, strict=False):
        values = [getattr(each.accuracy, name) for each in found.values()]
        left.plot(across, values, color=look.color, marker=look.marker, markersize=4, label=f"{name} over thresholds")
    left.set(ylabel="score", title="confidence vs recall@1")
    for title, look in zip(MEASURES.values(), style.LOOKS[2:], strict=False):
        areas = [each.curves[title].area for each in found.values()]
        right.fill_between(
            across, [area.lower for area in areas], [area.upper for area in areas], color=look.color, alpha=0.3
        )
        expected = [area.expected for area in areas]
        right.plot(across, expected, color=look.color, marker=look.marker, markersize=4, label=f"1 - {title}")
    right.set(ylabel="area (band: all orders of ties)", title="error versus reject curve", ylim=(0, None))
    for ax in (left, right):
        ax.set_xlabel("confidence of the wrongly labeled points")
        style.legend_below(ax, 2)
        style.tidy(ax)
    save(drawn, path)


def draw_correlations(scene: Scenario, found: dict[float, RankCorrelation], path: Path) -> None:
    """Rank correlation with the deserved confidences, over the sigma of the wrongly labeled points."""
    drawn, ax = style.figure("This study", width=7, height=3.9)
    plot_rank_correlations({level * SCALE: each for level, each in found.items()}, ax)
    mean = float(scene.truth[scene.corrupted].mean()) * SCALE
    ax.axvline(mean, color=style.ORANGE, linestyle="--", label=f"mean of what they deserve, {mean:,.1f}")
    ax.set_xlabel(f"sigma of the wrongly labeled points (confidence × {SCALE:,})")
    style.legend_below(ax, 2)
    save(drawn, path)


def draw_ties(kept: dict[str, Scores], path: Path) -> None:
    """Curves of the same confidences in fewer digits."""
    drawn, axes = style.figure("This study", width=11, height=3.8, columns=2)
    for ax, title in zip(axes, MEASURES.values(), strict=True):
        plot_error_reject({name: kept[name].curves[title] for name in DRAWN}, ax)
        ax.set(title=f"1 - {title}", ylim=(-0.02, 1.02))
    save(drawn, path)


if __name__ == "__main__":
    main()
