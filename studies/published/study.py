"""Published numbers of leaderboards, re-scored: what the ties of a run could have made of its number.

The data is a folder of sets in the compact form that studies/published/compact.py describes: no documents, texts, ids
or scores, but the grades of each list in the order of its scores, and what is tied. Another script in this folder,
write_compact.py, makes this form from runs and judgments in the formats of TREC.

    python studies/published/study.py
    python studies/published/study.py --data published
"""

from studies.common import parse, progress, write_report
from studies.published.findings import boards, main_numbers, widest
from studies.published.pairs import compared
from studies.published.picture import draw
from studies.published.report import render
from studies.published.rescored import RUNS, Number, rescore, write

DATA = "published"
QUICK = ("trec-dl-2021-passage", "clef-tar-2017", "semeval-2016-task3-D", "ucr-1nn", "ncf-ml-1m")
SHOWN = 8
"""The intervals in the picture."""


def main() -> None:
    """Re-score, draw, and write the report."""
    options = parse(__file__, __doc__, DATA)
    numbers: list[Number] = []
    for name, runs in RUNS.items():
        if name in QUICK or not options.quick:
            progress(name)
            numbers += rescore(options.data, runs)
    mains = main_numbers(numbers)
    found = boards(mains)
    progress("adjacent places")
    pairs = [pair for board in found.values() for pair in compared(options.data, board)]
    draw(widest(mains, SHOWN), found, options.out / "widest.svg")
    write(mains, options.out / "numbers.csv")
    write_report(options, render(options.data, numbers, pairs))


if __name__ == "__main__":
    main()
