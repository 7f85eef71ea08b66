"""The picture of the README: what `tieproof demo` computes, as intervals. Writes intervals.svg beside this script."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from tieproof import demo

COLORS = {"pixels": "#1b6ca8", "64-bit codes": "#c8791b", "zeros": "#b03a48"}


def main() -> None:
    """Draw one bar from lower to upper for each measure and representation, with the expectation marked."""
    results = demo.run()
    plt.rcParams |= {"font.size": 11, "svg.hashsalt": "tieproof", "svg.fonttype": "none"}
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    ticks, names = [], []
    place = 0.0
    for measure in demo.MEASURES:
        for name, result in results.items():
            estimate = result[measure]
            width = max(estimate.upper - estimate.lower, 0.004)
            axes.barh(place, width, left=estimate.lower, height=0.62, color=COLORS[name], alpha=0.85)
            axes.plot([estimate.expected] * 2, [place - 0.31, place + 0.31], color="black", linewidth=1.4)
            ticks.append(place)
            names.append(f"{measure}  {name}")
            place += 1
        place += 0.6
    axes.set_yticks(ticks, names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.005)
    axes.set_xlabel("score: from the worst to the best order of tied items (line: expectation)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).with_name("intervals.svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
