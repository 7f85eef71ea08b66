"""The report on the re-scored numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from studies.common import table
from studies.published.findings import (
    adjacent,
    boards,
    could_swap,
    headline,
    main_numbers,
    place_of,
    possible_places,
    widest,
)
from studies.published.pairs import Pair, tied, with_zeros
from studies.published.rescored import RUNS, Number
from studies.published.sets import NCF

WIDEST = 12
"""The intervals in the table of the widest."""

BETTER = "better whatever the ties"
COUNTS = ("numbers", "by the tool's order", "inside", "wider than the last digit")
INTERVAL = ("lower", "expected", "upper")


def render(folder: Path, numbers: Sequence[Number], pairs: Sequence[Pair]) -> str:
    """The report, on the data in a folder."""
    mains = main_numbers(numbers)
    found = boards(mains)
    head = headline(numbers)
    texts = sum(each.width > 10.0 ** -len(each.published.partition(".")[2]) for each in mains)
    last = [board[-1] for board in found.values()]
    firsts = sum(possible_places(found[each.runs], each)[0] == 1 for each in last)
    single = sum(each.inside_in_single and not each.inside for each in mains)
    verdicts = Counter(pair.verdict for pair in pairs)
    return f"""# Published numbers, re-scored

Public runs are evaluated again beside the numbers that were published for them: for each, the lowest, the expected
and the highest value over all orders of its tied documents. These are facts about how tools break ties, and not about
teams: the runs followed the rules, and the rules do not say what a tie is worth.

**Of {head.numbers} published numbers, {head.wide} have an interval wider than the last printed digit, and
{head.swaps} of {head.places} adjacent places could swap on ties alone.** The original tool's order of ties gives
{head.reproduced} of the numbers, and {head.outside} lie outside their interval. {one_run(mains)}

There are {head.systems} systems on leaderboards, organizers' baselines among them, and one classifier on several data
sets. CLEF TAR rounds to three digits and prints 0.12 for 0.120; by the digits of each text alone, {texts} intervals
would be wider than the last one. Intervals are over the orders of the documents that a run lists. Many lists were cut
off within a tie, at 1,000 documents for example, and documents that were tied but not submitted would widen them.

## Sets

{set_table(mains, pairs)}
Each set has one row, for the measure that its leaderboard ranks by. "By the tool's order": ties in the order in which
the original tool ranks give the published number. "Inside": some order does. Systems with the same published number
share a place; two adjacent places "could swap" if ties alone can put a system of the worse one before one of the
better one.

## The widest intervals

![Published numbers with the interval that ties leave, beside the published numbers of the others](widest.svg)

{widest_table(folder, mains)}
"Tied documents" is the share of the listed documents whose score another document of the list has, too. "Possible
places" are those that a system could take over all orders of the ties of all systems. On {firsts} of {len(found)}
leaderboards the last system could be the first. Systems whose published numbers and intervals are the same have one
row.

## Neighbors that could swap

{swap_table(found.values())}
Two systems could swap if the upper value of the worse place is above the lower value of the better one, as their ties
are independent of each other. Of a place that several systems share, the one that ties can move farthest stands here.

## Neighbors that differ whatever the ties

Of {len(pairs)} adjacent pairs, {verdicts[BETTER]} are "{BETTER}": the difference is significant in a sign-flip test
over the queries, even if all ties go against the better system. Each pair was tested on its own, with a confidence of
95 %, on the queries that both systems answered; a correction for the number of pairs would leave fewer.

{better_table(pairs)}
The verdicts on all adjacent pairs (`docs/compare.md` has the rules):

{table(("verdict", "pairs"), [(name, str(count)) for name, count in verdicts.most_common()])}
## Numbers that lie outside, or that the tool's order does not give

{outside_table(mains)}
Of the {head.outside} numbers that lie outside, {single} lie inside if scores are in single precision. trec_eval
compared them so up to version 9.0.8, and compares them in double precision since version 10.0. Scores that differ
only beyond single precision were ties then, and none now. The numbers that lie outside in either precision come from
no order of the ties of the committed runs; the table of numbers in their repository is probably in part of other runs
than those beside it.

## Averaged over answered queries only

{answered_table(folder, mains)}
These systems did not answer all queries, and their published number is the mean over those that they answered. The
last column counts the others as 0, as trec_eval does with -c.

## Other measures

{measure_table(numbers)}
These numbers were published beside those of the main measure, and are not in the counts above. Where single precision
explains a number that lies outside, the last column counts it. Of the others, those of CAsT are explained above, and
those of Rprec are not: they differ by one unit of the last digit.

## Without a published number

{unpublished_table(numbers)}
The repository publishes the rule and the weights. The held-out item of some users is also among the items that it is
compared with, so that it is tied with itself.

## How to check

`python studies/published/study.py --data FOLDER` computes everything here, where FOLDER has a folder in the compact
form for each set. `studies/published/compact.py` describes that form: it has no documents, texts, ids or scores, only
the grades of each list in the order of its scores, and what is tied. For runs and judgments in the formats of TREC,
`studies/published/write_compact.py` makes it from the public sources below. The runs are not part of this repository,
because several sources name no license; `numbers.csv` has what was computed from them.

{source_table(mains)}"""


def one_run(mains: Iterable[Number]) -> str:
    """A sentence on the TREC run with the widest interval, and the best published number of its track."""
    trec = [each for each in mains if each.runs.startswith("trec-")]
    (run,) = widest(trec, 1)
    best = max(each.value for each in trec if each.runs == run.runs)
    return (
        f"One official TREC run, published at\n{run.published}, can be anything from {run.lower:.4f} to "
        f"{run.upper:.4f}; the best run of its track has {best:.4f}."
    )


def set_table(mains: Sequence[Number], pairs: Iterable[Pair]) -> str:
    """The counts of each set."""
    found = boards(mains)
    clear = Counter(pair.better.runs for pair in pairs if pair.verdict == BETTER)
    rows = []
    for name in dict.fromkeys(each.runs for each in mains):
        places = adjacent(found.get(name, []))
        neighbors = (len(places), sum(could_swap(*pair) for pair in places), clear[name])
        rows.append(
            (name, RUNS[name].main, *counted(each for each in mains if each.runs == name), *map(str, neighbors))
        )
    return table(("set", "measure", *COUNTS, "adjacent places", "could swap", BETTER), rows, words=2)


def counted(numbers: Iterable[Number]) -> tuple[str, ...]:
    """How many numbers there are, and how many of them are as `COUNTS` says."""
    flags = [(True, each.reproduced, each.inside, each.wide) for each in numbers]
    return tuple(str(sum(column)) for column in zip(*flags, strict=True))


def widest_table(folder: Path, mains: Sequence[Number]) -> str:
    """The widest intervals."""
    found, shown = boards(mains), widest(mains, WIDEST)
    rows = []
    for each, share in zip(shown, tied(folder, shown), strict=True):
        board = found[each.runs]
        best, worst = possible_places(board, each)
        places = (f"{place_of(board, each)} of {len(board)}", f"{best} to {worst}")
        rows.append((*whose(each), *interval(each), f"{100 * share:.0f} %", *places))
    return table(
        ("set", "system", "published", *INTERVAL, "tied documents", "place", "possible places"), rows, words=2
    )


def whose(number: Number) -> tuple[str, str, str]:
    """The set, the system and the published number."""
    return number.runs, number.system, number.published


def interval(number: Number) -> tuple[str, ...]:
    """The lower, the expected and the upper value."""
    return tuple(f"{value:.4f}" for value in (number.lower, number.expected, number.upper))


def swap_table(found: Iterable[Sequence[Number]]) -> str:
    """The adjacent places that could swap."""
    rows = []
    for board in found:
        for better, worse in adjacent(board):
            if could_swap(better, worse):
                down, up = min(better, key=lambda each: each.lower), max(worse, key=lambda each: each.upper)
                rows.append((*whose(down), f"{down.lower:.4f}", *whose(up)[1:], f"{up.upper:.4f}"))
    return table(("set", "better", "published", "lower", "worse", "published", "upper"), rows, words=2)


def better_table(pairs: Iterable[Pair]) -> str:
    """The adjacent pairs whose difference neither ties nor the choice of queries explain."""
    rows = [
        (*whose(better), *whose(worse)[1:], "< 0.0001" if p_value < 0.0001 else f"{p_value:.4f}")
        for better, worse, verdict, p_value in pairs
        if verdict == BETTER
    ]
    return table(("set", "better", "published", "worse", "published", "p-value"), rows, words=2)


def outside_table(mains: Iterable[Number]) -> str:
    """The numbers outside their interval, and those that the tool's order does not give."""
    rows = [
        (*whose(each), f"{each.lower:.4f}", f"{each.upper:.4f}", f"{each.in_order:.4f}", where(each))
        for each in mains
        if not (each.inside and each.reproduced)
    ]
    return table(("set", "system", "published", "lower", "upper", "by the tool's order", "it lies"), rows, words=2)


def where(number: Number) -> str:
    """Where a number lies that is outside, or that the tool's order does not give."""
    if number.inside:
        return "inside, by another order"
    if number.inside_in_single:
        return "inside if scores are in single precision"
    return "outside in either precision"


def answered_table(folder: Path, mains: Iterable[Number]) -> str:
    """The systems whose mean is over the queries that they answered."""
    partial = [each for each in mains if RUNS[each.runs].missing == "skip" and each.answered < each.queries]
    rows = [
        (*whose(each), f"{each.answered} of {each.queries}", f"{each.expected:.4f}", f"{whole.expected:.4f}")
        for each, whole in with_zeros(folder, partial)
    ]
    return table(("set", "system", "published", "answered", "expected", "expected, others as 0"), rows, words=2)


def measure_table(numbers: Iterable[Number]) -> str:
    """The counts of each further measure of a set."""
    found: dict[tuple[str, str], list[Number]] = {}
    for each in numbers:
        if each.measure != RUNS[each.runs].main:
            found.setdefault((each.runs, each.measure), []).append(each)
    rows = [
        (*key, *counted(group), str(sum(each.inside_in_single for each in group))) for key, group in found.items()
    ]
    return table(("set", "measure", *COUNTS, "inside in single precision"), rows, words=2)


def unpublished_table(numbers: Iterable[Number]) -> str:
    """The systems without a published number."""
    rows = [(each.runs, each.system, each.measure, *interval(each)) for each in numbers if each.runs == NCF.name]
    return table(("set", "system", "measure", *INTERVAL), rows, words=3)


def source_table(mains: Iterable[Number]) -> str:
    """Where the data is from."""
    shown = {each.runs for each in mains} | {NCF.name}
    rows = [(runs.name, runs.runs, runs.published, runs.license) for name, runs in RUNS.items() if name in shown]
    return table(("set", "runs and judgments", "published numbers", "license of the runs"), rows, words=4)
