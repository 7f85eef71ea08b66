"""A simulated competition on real embeddings: what a usual scoring script ranks first, and what a judge does.

Twenty honest systems of graded quality and five cheats take part. The usual script scores what they submit for test
items that they have, which are sorted by class and named after it, as in many data sets. The judge runs the systems
on items that they do not have. Then the script is run again on the same items in other orders.

    python studies/competition/study.py
    python studies/competition/study.py --data embeddings.npz
"""

import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from studies.common import Options, claims, parse, progress, table, write_report
from studies.competition import entries
from studies.competition.usual import mean_average_precision
from tieproof.trials.judge import Leaderboard, Repeats, judge, leaderboard

Array = npt.NDArray[Any]

DATA = "package-sections.npz"
ITEMS, QUICK = 1000, 120
ORDERS, QUICK_ORDERS = 20, 3
QUICK_ENTRIES = ("whole", "projected-12", "signs-32", "zeros", "order", "names")

COMPETITION = """title = "Sections of packages"
measures = ["AP"]
distance = "cosine"
[[phases]]
name = "Final"
items = "items.npy"
labels = "labels.npy"
[judge]
seed = "seed.txt"
batch = 500
repeats = 50
"""

SEED = "the seed of a study, which everybody may know"


class Items(NamedTuple):
    """The test set as most are published: sorted by class, and named after it."""

    names: list[str]
    rows: Array
    labels: Array


def main() -> None:
    """Score by both, and write the report."""
    options = parse(__file__, __doc__, DATA)
    items = read(options)
    names = QUICK_ENTRIES if options.quick else tuple(entries.ENTRIES)
    submitted = {name: entries.ENTRIES[name](items.names, items.rows) for name in names}
    progress("the usual script")
    printed = in_orders(submitted, items.labels, QUICK_ORDERS if options.quick else ORDERS)
    with tempfile.TemporaryDirectory() as folder:
        board = judged(names, items, Path(folder))
    write_report(options, render(items, printed, board))


def read(options: Options) -> Items:
    """Some items of the file, sorted by class."""
    with np.load(options.data) as arrays:
        count = QUICK if options.quick else ITEMS
        rows, labels = arrays["embeddings"][:count], arrays["labels"][:count]
    by_class = np.argsort(labels, kind="stable")
    return Items([f"{labels[at]}-{at:05}" for at in by_class], rows[by_class], labels[by_class])


def in_orders(submitted: Mapping[str, Array], labels: Array, count: int) -> dict[str, list[float]]:
    """The scores that the usual script prints for each submission: in the published order, and in other orders."""
    random = np.random.default_rng(0)
    orders = [np.arange(len(labels)), *(random.permutation(len(labels)) for _ in range(count))]
    return {
        name: [mean_average_precision(rows[order], labels[order]) for order in orders]
        for name, rows in submitted.items()
    }


def judged(names: Sequence[str], items: Items, folder: Path) -> Leaderboard:
    """The leaderboard of all systems, each run by a judge."""
    organizer = folder / "organizer"
    organizer.mkdir()
    np.save(organizer / "items.npy", items.rows)
    np.save(organizer / "labels.npy", items.labels)
    (organizer / "seed.txt").write_text(SEED, encoding="utf-8")
    (organizer / "competition.toml").write_text(COMPETITION, encoding="utf-8")
    program = shlex.join([sys.executable, entries.__file__])
    for name in names:
        progress(f"the judge of {name}")
        judge(
            organizer / "competition.toml",
            f"{program} {name} {{items}} {{answers}}",
            name=name,
            out=folder / "judged",
        )
    return leaderboard(folder / "judged")


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """The place of each system by its score, as a script prints it; equal scores are ordered by name.

    >>> ranks({"a": 0.5, "b": 0.75, "c": 0.5})
    {'b': 1, 'a': 2, 'c': 3}
    """
    order = sorted(scores, key=lambda name: (-scores[name], name))
    return {name: place for place, name in enumerate(order, 1)}


def different_rankings(printed: Mapping[str, Sequence[float]], digits: int | None = None) -> tuple[int, int]:
    """The number of pairs of runs in other orders that rank the systems differently, and the number of all pairs.

    digits : decimals that are printed; None: all

    >>> different_rankings({"a": [0, 0.3, 0.3, 0.1], "b": [0, 0.2, 0.2, 0.2]})
    (2, 3)
    """
    count = len(next(iter(printed.values())))
    runs = []
    for at in range(1, count):
        scores = {
            name: values[at] if digits is None else round(values[at], digits) for name, values in printed.items()
        }
        runs.append(list(ranks(scores)))
    pairs = list(combinations(runs, 2))
    return sum(one != other for one, other in pairs), len(pairs)


def render(items: Items, printed: Mapping[str, Sequence[float]], board: Leaderboard) -> str:
    """The report."""
    scores = {name: values[0] for name, values in printed.items()}
    place = ranks(scores)
    standing = {each.name: each for each in board.standings}
    differ, pairs = different_rankings(printed)
    shown, _ = different_rankings(printed, 4)
    rows = []
    for name in place:
        each, values = standing[name], printed[name][1:]
        score = each.scores["AP"]
        assert each.judgment is not None
        rows.append(
            (
                f"**{name}**" if name in entries.CHEATS else name,
                f"{place[name]}",
                f"{scores[name]:.4f}",
                f"{min(values):.4f} to {max(values):.4f}",
                f"{each.rank}",
                f"{score.lower:.4f}",
                f"{score.ties.upper:.4f}",
                changed(each.judgment.repeats[0]),
            )
        )
    headings = ("system", "place", "mAP", "in other orders", "rank", "lower", "upper", "answers changed")
    honest = [each for each in board.standings if each.name in entries.HONEST]
    first = [each.name for each in board.standings if each.rank == 1]
    usual_first = [name for name in place if place[name] <= 3]
    orders = len(next(iter(printed.values()))) - 1
    classes = len(np.unique(items.labels))
    return f"""# A simulated competition

{len(items.labels):,} descriptions of packages, embedded by a sentence encoder, in {classes} classes, are the test set
of a simulated competition. Every item queries all the others by cosine distance. {len(honest)} systems are honest:
the embeddings themselves, random projections of them, the embeddings with noise, signs, and rounded numbers. The
other systems cheat: **zeros** and **constant** return the same vector for all items; **order** returns the item's
position in the file; **names** reads the class from the name of an item; **copy** is the best honest system with a
little noise.

{table(headings, rows)}
The columns "place", "mAP" and "in other orders" come from the [usual script](usual.py): cosine similarities in
float32 and `numpy.argsort`. It scores what participants submit for test items that they have, which are sorted by
class and named after it. "In other orders" is for the same submissions with the items in {orders} random orders.
"rank", "lower" and "upper" come from `tieproof judge`, which runs each system on the same items under names that
reveal nothing, and from `tieproof leaderboard`, where systems that cannot be told apart share a rank. "answers
changed" counts the changed answers among the items that were asked about twice, and gives the largest change relative
to the answer's length. Answers of honest systems can change because a matrix product of another size is rounded
differently.

{claims(findings(scores, place, standing, (usual_first, first), (differ, shown, pairs)), "question")}"""


def changed(repeats: Repeats) -> str:
    """How many answers changed, and by how much.

    >>> changed(Repeats(50, 2, 3e-8)), changed(Repeats(50, 0, 0.0))
    ('2 of 50, by 3e-08', 'none')
    """
    return f"{repeats.differ} of {repeats.asked}, by {repeats.largest:.0e}" if repeats.differ else "none"


def findings(
    scores: Mapping[str, float],
    place: Mapping[str, int],
    standing: Mapping[str, Any],
    firsts: tuple[Sequence[str], Sequence[str]],
    rankings: tuple[int, int, int],
) -> list[tuple[str, str, str]]:
    """What was asked, what was found, and why."""
    usual, ours = firsts
    differ, shown, pairs = rankings
    honest = [name for name in place if name in entries.HONEST]
    beaten = sum(place["zeros"] < place[name] for name in honest)
    ahead = sum(name in standing["zeros"].behind for name in honest)
    return [
        (
            "Who is first by the usual script?",
            ", ".join(f"{name} ({scores[name]:.4f})" for name in usual),
            "Everyone who has the test set knows names that contain the class, and a file that is sorted by class.",
        ),
        (
            "Who is first by the judge?",
            ", ".join(f"{name} ({standing[name].scores['AP'].lower:.4f})" for name in ours),
            "The judge draws new names and a new order, which reveal nothing. A copy of the best system is as "
            "good as that system, and systems that cannot be told apart share a rank.",
        ),
        (
            "What do zeros score?",
            f"{scores['zeros']:.4f} by the script, ahead of {beaten} honest systems; "
            f"{standing['zeros'].scores['AP'].lower:.4f} by the judge, behind "
            f"{'all' if ahead == len(honest) else ahead} of them",
            "All items are tied, so the order of the file decides what the script prints.",
        ),
        (
            "Which places and ranks do order and names get?",
            f"places {place['order']} and {place['names']}; ranks {standing['order'].rank} and "
            f"{standing['names'].rank} of {len(standing)}",
            "The judge also reports that their answers changed when they were asked again.",
        ),
        (
            "How often do two runs of the script on reordered items give different rankings?",
            f"{differ} of {pairs} ({shown} by four decimals)",
            "The order of the items decides how ties are broken and how sums in float32 are rounded.",
        ),
    ]


if __name__ == "__main__":
    main()
