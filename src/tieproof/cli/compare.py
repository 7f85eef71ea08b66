"""`tieproof compare`."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import tieproof
from tieproof.analyses.compare.compare import Correction
from tieproof.analyses.compare.pictures import COMPARISONS
from tieproof.cli import options
from tieproof.cli.exits import shows_progress
from tieproof.cli.files import Files, from_files
from tieproof.cli.options import BETWEEN_0_AND_1, NAME, Option, Text, argument, check_options, choice, command
from tieproof.cli.output import Outputs, answer, written
from tieproof.cli.run import Pairs, evaluated_files, read_files
from tieproof.errors import InputError
from tieproof.evaluation.evaluated import EMPTY
from tieproof.evaluation.runs import MISSING, as_in_runs
from tieproof.evaluation.saving import EXTENSION
from tieproof.inputs.categories import AVERAGES
from tieproof.inputs.options import PRECISIONS
from tieproof.inputs.readers import only_labels, refuse_other_files
from tieproof.inputs.readers.location import STANDARD_INPUT, Piped, split
from tieproof.inputs.shards.files import are_shards
from tieproof.inputs.system_names import named
from tieproof.measures import DEFAULT_MEASURES

NONE = "none"
RUNS, RECORDS, EMBEDDINGS = "runs", "records", "embeddings"
TAKES = {  # the options of the evaluation that each kind of files takes; records are already evaluated
    RUNS: ("categories", "average", "missing", "empty", "precision", "own", "duplicates", "documents"),
    RECORDS: (),
    EMBEDDINGS: ("distance", "categories", "average", "empty"),
}


@command(
    tieproof.compare,
    "Compare systems on the same queries: how much of a difference ties can explain, how much the choice of queries "
    "can explain, and how much remains.\n\n"
    f"FILES are runs, with --qrels; or records ({EXTENSION}); or the embeddings of each system, before or after a "
    "file of labels. The name of a system is that of its file, without folder and extension; NAME=FILE gives it "
    "another one. The qrels or a run may be -, which is standard input.",
    (
        "tieproof compare --qrels qrels.txt base.run ours.run theirs.run",
        "tieproof compare --qrels qrels.txt base.run ours.run --baseline base -m AP,nDCG@10",
        "zcat ours.run.gz | tieproof compare --qrels qrels.txt base.run ours=-",
        "tieproof compare labels.npy ours.npy theirs.npy -d euclidean --test tukey",
        "tieproof compare ours.tieproof theirs.tieproof --json comparison.json --plot comparison.svg",
    ),
    files=argument("The files of two or more systems.", nargs=-1, required=True),
    qrels="The judgments of runs; a grade above 0 is relevant.",
    baseline=Option("The system that all others are compared with. Default: all pairs are compared.", NAME),
    test="The test that gives the p-values.",
    correction=Option(
        "The correction of the p-values for the number of pairs.", choice((*get_args(Correction), NONE))
    ),
    confidence=Option(
        "The confidence of the intervals over queries; a p-value of at most 1 - SHARE is significant.",
        BETWEEN_0_AND_1,
    ),
    measures=options.measures(
        "A measure, or several with commas between them; repeat it for more. Default for records: all of theirs."
    ),
    distance=options.distance("The distance between embeddings. Default: cosine."),
    categories="The file with a category for each query; of runs it may be -, which is standard input.",
    average=Option(
        "micro: the mean over all queries; macro: the mean of the means of the categories. Default: micro.",
        choice(AVERAGES),
    ),
    missing=Option(
        "How a query scores that has relevant documents but is missing from a run. Default: zero.", choice(MISSING)
    ),
    empty=Option("How a query scores that has nothing relevant. Default: skip.", choice(EMPTY)),
    precision=Option(
        "Round the scores of runs first, as trec_eval before version 10 does to float32.", choice(PRECISIONS)
    ),
    **options.shared("own duplicates documents"),
    **options.shared("explain json latex markdown per_query"),
    plot=Option(f"Draw every difference with both of its intervals ({', '.join(COMPARISONS)}).", formats=COMPARISONS),
    **options.shared("report"),
)
def compare(
    outputs: Outputs,
    files: Sequence[str],
    qrels: Text,
    baseline: Text,
    test: str,
    correction: str,
    confidence: float,
    measures: Sequence[str],
    **evaluation: Text,
) -> None:
    """Read the files, evaluate and compare the systems, write and show the comparison."""
    given = [_split_name(file) for file in files]
    files, chosen = [file for _, file in given], {file: name for name, file in given if name}
    kind = _kind_of(files, qrels)
    measures = as_in_runs(measures) if kind == RUNS else measures
    check_options(measures=measures or None, distance=evaluation["distance"])
    settings: dict[str, Any] = {name: value for name, value in evaluation.items() if value is not None}
    in_files = kind == EMBEDDINGS and not any(are_shards(files[at]) for at in (0, -1))
    if in_files and only_labels(files[-1]) and not only_labels(files[0]):  # they are last, as for tieproof evaluate
        files = (files[-1], *files[:-1])
    for name in settings:
        if name not in TAKES[kind]:
            raise InputError(f"--{name} does not apply to {kind}, which were given; leave it out.")
    systems = named(files[1:] if kind == EMBEDDINGS else files, chosen)
    how: dict[str, Any] = {
        "baseline": next((name for name, file in systems.items() if file == baseline), baseline),
        "test": test,
        "correction": None if correction == NONE else correction,
        "measures": measures or None,
        "confidence": confidence,
    }

    def compared() -> tieproof.Comparison:
        judged_by: str | Piped
        run_files: Sequence[str | Piped]
        judged_by, *run_files = qrels or files[0], *systems.values()
        pairs: Pairs = {}
        if kind == RUNS:
            (judged_by, *run_files), pairs = read_files((judged_by, *systems.values()), settings)
        result_of = _evaluation_of(kind, judged_by, settings | {"measures": measures or DEFAULT_MEASURES}, pairs)
        return tieproof.compare({name: result_of(file) for name, file in zip(systems, run_files, strict=True)}, **how)

    answer(outputs, written(compared, (*files, qrels, evaluation["categories"], evaluation["documents"]), outputs))


def _kind_of(files: Sequence[str], qrels: Text) -> str:
    """Return which kind the files are; fewer than two systems are refused."""
    if qrels is not None:
        kind, systems = RUNS, len(files)
    elif files[0].lower().endswith(EXTENSION):
        kind, systems = RECORDS, len(files)
    else:
        kind, systems = EMBEDDINGS, len(files) - 1
        for file in filter(os.path.isfile, files):
            refuse_other_files(Path(file), labels=True)
    if systems < 2:
        labels = ", in addition to a file of labels" if kind == EMBEDDINGS else ""
        raise InputError(
            f"A comparison needs the {kind} of two or more systems, and {'one was' if systems == 1 else 'none were'} "
            f"given{labels}."
        )
    return kind


def _split_name(file: str) -> tuple[str, str]:
    """Return the name and the file of NAME=FILE, or no name and what exists as a file, whatever signs it has."""
    name, _, path = file.partition("=")
    if path and not os.path.exists(file) and (path == STANDARD_INPUT or os.path.exists(str(split(path).path))):
        return name, path
    return "", file


def _evaluation_of(
    kind: str, judged_by: Any, settings: Mapping[str, Any], pairs: Pairs
) -> Callable[[Any], tieproof.Result]:
    """Return the function that makes a result of a system's file; `judged_by` are the qrels or the labels."""
    if kind == RECORDS:
        return tieproof.load
    categories, watched = settings.get("categories"), shows_progress()
    further = {name: value for name, value in settings.items() if name != "categories"}
    if kind == EMBEDDINGS:
        return lambda file: from_files(
            tieproof.evaluate, [Files(file, judged_by, None, categories)], progress=watched, **further
        )
    if further.get("average") == "macro" and categories is None:
        raise InputError("--average macro is the mean over categories of queries; add --categories.")
    return lambda file: evaluated_files(tieproof.evaluate_run, (judged_by, file), pairs, **further)
