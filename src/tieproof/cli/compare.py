"""`tieproof compare`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import click

import tieproof
from tieproof.calls.compare import Correction, Test
from tieproof.calls.runs import MISSING
from tieproof.cli import options, reports
from tieproof.cli.documented import Command
from tieproof.cli.files import Files, from_files
from tieproof.cli.options import (
    Text,
    between_0_and_1,
    check_options,
    choice_option,
    file_argument,
    file_option,
    measures_option,
    one_of,
    option,
)
from tieproof.cli.output import answer, written
from tieproof.cli.reports import page_of
from tieproof.cli.run import evaluated_files
from tieproof.cli.streams import is_terminal
from tieproof.distances import DISTANCES
from tieproof.errors import InputError
from tieproof.inputs.categories import AVERAGES
from tieproof.inputs.readers.location import split
from tieproof.measures import DEFAULT_MEASURES
from tieproof.results.evaluated import EMPTY
from tieproof.results.records import EXTENSION
from tieproof.views.text.comparison import render
from tieproof.views.text.files import COMPARISONS, MEANS, PER_QUERY

NONE = "none"

HELP = (
    "Compare systems on the same queries: which part of a difference ties can explain, which part the choice of "
    "queries, and which is left.\n\n"
    f"FILES are runs, with --qrels; or records ({EXTENSION}); or LABELS and the embeddings of each system. A system "
    "is called as its file is, without its folder and extension."
)

EXAMPLES = (
    "tieproof compare --qrels qrels.txt base.run ours.run theirs.run",
    "tieproof compare --qrels qrels.txt base.run ours.run --baseline base -m AP,nDCG@10",
    "tieproof compare labels.npy ours.npy theirs.npy -d euclidean --test tukey",
    "tieproof compare ours.tieproof theirs.tieproof --json comparison.json --plot comparison.svg",
)

RUNS, RECORDS, EMBEDDINGS = "runs", "records", "embeddings"

TAKES = {
    RUNS: ("categories", "average", "missing", "empty"),
    RECORDS: (),
    EMBEDDINGS: ("distance", "categories", "average", "empty"),
}
"""The options of the evaluation that each kind of files has; records are evaluated already."""

Evaluation = Callable[[str], tieproof.Result]
"""The result of the system in a file."""


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@file_argument("files", nargs=-1, required=True, meaning="Of two systems or more.")
@file_option("--qrels", text="The judgments of runs; a grade above 0 is relevant.")
@option("--baseline", metavar="NAME", text="Compare all with this system; else every two are compared.")
@choice_option("--test", default="sign-flip", text="What the p-values are by.", choices=get_args(Test))
@choice_option(
    "--correction",
    default="holm",
    text="Of the p-values, for the number of pairs.",
    choices=(*get_args(Correction), NONE),
)
@option(
    "--confidence",
    metavar="SHARE",
    default="0.95",
    text="Of the intervals over queries; a p-value of at most 1 - SHARE is significant.",
    parser=between_0_and_1,
)
@measures_option(
    text="A measure, or several with commas between them; repeat it for more. Of records, by default all.",
)
@option("--distance", "-d", metavar="NAME", text=f"Of embeddings; else cosine. {one_of(DISTANCES)}")
@file_option("--categories", text="A category for each query.")
@choice_option(
    "--average",
    text="The mean over all queries, or over the categories of the means over their queries; else micro.",
    choices=AVERAGES,
)
@choice_option(
    "--missing",
    text="What becomes of a query that has relevant documents and none in a run; else zero.",
    choices=MISSING,
)
@choice_option("--empty", text="What a query with nothing relevant scores; else skip.", choices=EMPTY)
@options.json
@options.per_query
@file_option("--plot", text=f"Draw every difference with both its intervals ({', '.join(COMPARISONS)}).")
@reports.report
def command(
    files: Sequence[str],
    qrels: Text,
    baseline: Text,
    test: str,
    correction: str,
    confidence: float,
    measures: Sequence[str],
    json: Text,
    per_query: Text,
    plot: Text,
    report: Text,
    **evaluation: Text,
) -> None:
    """Read, evaluate, compare, write, show."""
    check_options(measures=measures or None, distance=evaluation["distance"])
    settings: dict[str, Any] = {name: value for name, value in evaluation.items() if value is not None}
    kind = kind_of(files, qrels)
    for name in settings:
        if name not in TAKES[kind]:
            raise InputError(f"--{name} is not for {kind}, which were given; leave it out.")
    systems = named(files[1:] if kind == EMBEDDINGS else files)
    make = evaluation_of(kind, qrels or files[0], settings | {"measures": measures or DEFAULT_MEASURES})
    how: dict[str, Any] = {
        "baseline": next((name for name, file in systems.items() if file == baseline), baseline),
        "test": test,
        "correction": None if correction == NONE else correction,
        "measures": measures or None,
        "confidence": confidence,
    }
    read = [split(file).path for file in (*files, qrels, evaluation["categories"]) if file]
    found = written(
        lambda: tieproof.compare({name: make(file) for name, file in systems.items()}, **how),
        read,
        [(json, MEANS), (per_query, PER_QUERY), (plot, COMPARISONS), (report, page_of(report, "comparison"))],
    )
    answer(json, render, found)


def kind_of(files: Sequence[str], qrels: Text) -> str:
    """What the files are, refused where they are not of two systems."""
    if qrels is not None:
        kind, systems = RUNS, len(files)
    elif files[0].lower().endswith(EXTENSION):
        kind, systems = RECORDS, len(files)
    else:
        kind, systems = EMBEDDINGS, len(files) - 1
    if systems < 2:
        labels = f" beside the labels {files[0]}" if kind == EMBEDDINGS else ""
        raise InputError(
            f"A comparison needs the {kind} of two systems or more, and there {'is' if systems == 1 else 'are'} "
            f"{systems}{labels}."
        )
    return kind


def named(files: Sequence[str]) -> dict[str, str]:
    """The file of each system by its name: without folder and extension, or as given where two would be the same.

    >>> named(["runs/base.run", "runs/ours.run.gz", "data.npz:small"])
    {'base': 'runs/base.run', 'ours': 'runs/ours.run.gz', 'data:small': 'data.npz:small'}
    >>> named(["a/run.txt", "b/run.txt"])
    {'a/run.txt': 'a/run.txt', 'b/run.txt': 'b/run.txt'}
    """
    names = [short_name(file) for file in files]
    if len(set(files)) < len(files):
        twice = next(file for file in files if files.count(file) > 1)
        raise InputError(f"{twice} is given twice, and a system is not compared with itself; leave one out.")
    return dict(zip(names if len(set(names)) == len(names) else files, files, strict=True))


def short_name(file: str) -> str:
    """What the system in a file is called."""
    path, entry = split(file)
    name = Path(path.name.removesuffix(".gz")).stem
    return f"{name}:{entry}" if entry else name


def evaluation_of(kind: str, judged_by: str, settings: Mapping[str, Any]) -> Evaluation:
    """How the file of a system becomes its result.

    judged_by : the file of the qrels, or of the labels
    """
    if kind == RECORDS:
        return tieproof.load
    categories, watched = settings.get("categories"), is_terminal(sys.stderr)
    further = {name: value for name, value in settings.items() if name != "categories"}
    if kind == EMBEDDINGS:
        return lambda file: from_files(
            tieproof.evaluate, [Files(file, judged_by, None, categories)], progress=watched, **further
        )
    if further.get("average") == "macro" and categories is None:
        raise InputError("--average macro is the mean over categories of queries; give them with --categories.")
    return lambda file: evaluated_files(tieproof.evaluate_run, judged_by, file, categories=categories, **further)
