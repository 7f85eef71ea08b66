"""Scoring programs: their settings, the result of one submission, and the function that each platform calls.

truth.py: what only the organizer has ─┐
                                       ├──► scored: a Result ──► shown: the rounded numbers ──► page
submissions.py: what was handed in ────┘

A participant sees the rounded means and nothing else of a result. Values of single queries, anything computed from
them (such as a fingerprint, even a keyed one), and counts of ties would tell which items share a label.
"""

import json
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof import Result, evaluate, evaluate_run
from tieproof.errors import InputError, InputWarning, TieproofError
from tieproof.evaluation.evaluated import NOT_JUDGED
from tieproof.kit import Array, in_one_line, reading
from tieproof.trials.competition import submissions
from tieproof.trials.competition.submissions import SubmissionError, SubmissionLimits
from tieproof.trials.competition.truth import COLUMNS, ID, QUERY, Truth, read_truth

Task = Literal["embeddings", "run"]

SHOWN = ("lower", "expected", "upper")  # the values of a measure that a leaderboard shows; the first one ranks
TRUTH = {"embeddings": "labels.csv", "run": "qrels.txt"}  # the name of the file of the truth
REFUSED = 1  # the exit status of a program that refuses a submission; every platform treats it as a failure

# From so many products of numbers on, scoring takes whole seconds: nearly equal vectors take longer if their labels
# differ, and some platforms show how long scoring took. Only differences of seconds are left.
_QUICK = 2**20


class Scoring(NamedTuple):
    """How the submissions to a competition are scored: all settings of a scoring program.

    task : "embeddings" for a vector for each test item, "run" for documents with scores for each query
    measures : names such as "AP"; submissions are ranked by the lower bound of the first one
    distance : the distance between vectors, as in `tieproof.evaluate`
    megabytes : the size limit of a submission's file
    dimensions : the most dimensions of a vector
    digits : the decimal digits to which scores are rounded before anybody sees them
    """

    task: Task
    measures: tuple[str, ...]
    distance: str = "cosine"
    megabytes: int = 100
    dimensions: int = 4096
    digits: int = 4

    @property
    def limits(self) -> SubmissionLimits:
        """The limits of a submission, in bytes and dimensions."""
        return SubmissionLimits(self.megabytes * 10**6, self.dimensions)


def scored(scoring: Scoring, truth: Path, submission: Path) -> Result:
    """The result of a file or folder; SubmissionError if the submission is invalid, InputError if the truth is."""
    if scoring.task == "run":
        run = submissions.file_in(submission, "run", (".txt",))
        submissions.check_file(run, scoring.limits)
        return _of_rankings(scoring, truth, run)
    known = read_truth(truth)
    file = submissions.file_in(submission, "embeddings", (".npz", ".npy", ".csv"))
    return _of_vectors(scoring, known, submissions.read_vectors(file, known.ids, scoring.limits))


def _of_vectors(scoring: Scoring, truth: Truth, vectors: Array) -> Result:
    """The result of one vector for each item, in order; queries rank the gallery or, without one, all other items."""
    labels, groups = np.array(truth.labels), np.array(truth.groups) if truth.groups else None
    queries: Any = np.array(truth.roles) == QUERY if truth.roles else slice(None)
    options: dict[str, Any] = {"distance": scoring.distance, "measures": scoring.measures}
    if groups is not None:
        options["groups"] = groups[queries]
    if truth.roles:
        options |= {"gallery": vectors[~queries], "gallery_labels": labels[~queries]}
        options |= {} if groups is None else {"gallery_groups": groups[~queries]}
    started = time.monotonic()
    with _refusing("embeddings", "gallery"):
        result = evaluate(vectors[queries], labels[queries], **options)
    if len(vectors) * vectors.size > _QUICK:
        time.sleep((started - time.monotonic()) % 1)
    return result


@contextmanager
def _refusing(*arguments: str, folder: str = "") -> Iterator[None]:
    """Refuse the submission if one of these arguments is invalid, without the name of its folder."""
    with warnings.catch_warnings():  # which may name labels, and participants could read them
        warnings.simplefilter("ignore", InputWarning)
        try:
            yield
        except InputError as error:
            if error.argument in arguments:
                raise SubmissionError(str(error).replace(folder, "")) from error
            raise


def _of_rankings(scoring: Scoring, truth: Any, run: Any) -> Result:
    """The result of a run; a judged query without documents scores 0, and an unknown query raises SubmissionError."""
    with _refusing("run", folder=f"{run.parent}/" if isinstance(run, Path) else ""):
        result = evaluate_run(truth, run, measures=scoring.measures)
    strangers = result.skipped.get(NOT_JUDGED, ())
    if len(strangers):
        few = submissions.named_few(strangers)
        raise SubmissionError(f"The submission has queries that are not in the test set: {few}. Leave them out.")
    return result


def _check_run(value: Any, query: str) -> dict[str, float]:
    """The scores of a query's documents; SubmissionError unless they are {document: number}."""
    if not isinstance(value, dict) or not all(type(score) in (int, float) for score in value.values()):
        raise SubmissionError(
            f"The output for '{query}' is not {{document: score}}. Write a number for each document."
        )
    return value


def shown(scoring: Scoring, result: Result) -> dict[str, float]:
    """All numbers that a participant sees, rounded, by name, such as `ap_lower`; the first one ranks."""
    values = result.to_flat_dict()
    return {name: round(value, scoring.digits) for name, value in values.items() if name.endswith(SHOWN)}


def _page(title: str, numbers: dict[str, float], digits: int) -> str:
    """The page of detailed results, which has only the numbers of the leaderboard."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{value:.{digits}f}</td></tr>" for name, value in numbers.items())
    head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
    return f"{head}<body><h1>{title}</h1><table>{rows}</table><p>{_explained(digits)}</p></body></html>\n"


def _explained(digits: int) -> str:
    return (
        "The score is lower, the lowest value over all orderings of tied items; where upper is larger, a tie is "
        f"ambiguous. Scores are rounded to {digits} digits, and nothing else about a submission is shown."
    )


def on_codabench(scoring: Scoring, title: str, given: str = "/app/input", made: str = "/app/output") -> int:
    """Score the submission in `given`/res by the truth in `given`/ref; return the exit status.

    Writes scores.json, whose keys are the columns of the leaderboard, and detailed_results.html into `made`. All
    numbers are rounded, because participants can read them.
    """
    output = Path(made)

    def score() -> None:
        result = scored(scoring, Path(given, "ref", TRUTH[scoring.task]), Path(given, "res"))
        numbers = shown(scoring, result)
        page = _page(escape(in_one_line(title)), numbers, scoring.digits)
        (output / "detailed_results.html").write_text(page, encoding="utf-8")
        (output / "scores.json").write_text(json.dumps(numbers), encoding="utf-8")
        for name, value in numbers.items():
            print(f"{name}: {value:.{scoring.digits}f}")
        print(_explained(scoring.digits))

    return _status_of(score)


def on_evalai(scoring: Scoring, truth: str, submission: str, split: str) -> dict[str, Any]:
    """The answer of EvalAI's `evaluate` for a submission: its numbers under the codename of the split.

    Raises SubmissionError, whose message EvalAI shows to the participants in its record of standard error.
    """
    numbers = shown(scoring, scored(scoring, Path(truth), Path(submission)))
    return {"result": [{split: numbers}], "submission_metadata": "", "submission_result": numbers}


def on_kaggle(scoring: Scoring, solution: Any, submission: Any, row_id: str) -> float:
    """The score of a submission to Kaggle: the lower bound of the first measure, rounded.

    solution : a data frame with the ids and the columns of the truth; for runs, the column `relevant` has documents
        with their grades (`d1=2 d2=0`)
    submission : a data frame with the ids and a column for each dimension; for runs, the column `documents` has the
        documents, the best first

    Raises SubmissionError if the submission is invalid.
    """
    if row_id not in submission.columns:
        raise SubmissionError(f"The submission has no column '{row_id}'. Give the column of ids this name.")
    ids = [str(each) for each in solution[row_id]]
    given = [str(each) for each in submission[row_id]]
    if scoring.task == "run":
        result = _of_lists(scoring, dict(zip(ids, solution["relevant"], strict=True)), given, submission)
    else:
        known = {name: [str(each) for each in solution[name]] for name in COLUMNS if name in solution.columns}
        truth = Truth.of(known | {ID: ids}, "The solution").in_order()
        vectors = submission.drop(columns=row_id).to_numpy()
        ordered = submissions.in_order(vectors, given, truth.ids, "The submission", scoring.limits)
        result = _of_vectors(scoring, truth, ordered)
    return next(iter(shown(scoring, result).values()))


def _of_lists(scoring: Scoring, relevant: Mapping[str, str], queries: list[str], submission: Any) -> Result:
    """The result of lists of documents, which are ranked in the order of the list, so that no two are tied."""
    if "documents" not in submission.columns:
        raise SubmissionError("The submission has no column 'documents'. List documents there, separated by spaces.")
    submissions.rows_of(queries, sorted(relevant), "The submission")
    lists = [str(each).split() if isinstance(each, str) else [] for each in submission["documents"]]
    for query, documents in zip(queries, lists, strict=True):
        if len(set(documents)) < len(documents):
            raise SubmissionError(f"The submission lists a document twice for query '{query}'. List each one once.")
    graded = {query: (each.rpartition("=") for each in cell.split()) for query, cell in relevant.items()}
    qrels = {query: {name: int(grade) for name, _, grade in pairs} for query, pairs in graded.items()}
    scores = ({document: float(-rank) for rank, document in enumerate(documents)} for documents in lists)
    return _of_rankings(scoring, qrels, dict(zip(queries, scores, strict=True)))


def on_grand_challenge(
    scoring: Scoring, given: str = "/input", made: str = "/output", truth: str = "/opt/ml/input/data/ground_truth"
) -> int:
    """Score the outputs of the jobs in `given`/predictions.json by the truth; return the exit status.

    The id of a job's item is the name of the job's first input, without the extension. The first output is a JSON
    file: a list of numbers or, for runs, {document: score}. Writes `made`/metrics.json, with the numbers under
    "aggregates".
    """

    def score() -> None:
        jobs = _jobs_in(Path(given), scoring.limits)
        known = Path(truth, TRUTH[scoring.task])
        if scoring.task == "run":
            result = _of_rankings(scoring, known, {name: _check_run(value, name) for name, value in jobs})
        else:
            truth_table = read_truth(known)
            names = [name for name, _ in jobs]
            vectors = submissions.in_order(_as_matrix(jobs), names, truth_table.ids, "The submission", scoring.limits)
            result = _of_vectors(scoring, truth_table, vectors)
        metrics = {"aggregates": shown(scoring, result)}
        Path(made, "metrics.json").write_text(json.dumps(metrics, indent=4), encoding="utf-8")

    return _status_of(score)


def _jobs_in(given: Path, limits: SubmissionLimits) -> list[tuple[str, Any]]:
    """The name of each job's first input, and the content of its first output."""
    listed = _from_json(given / "predictions.json", limits)
    try:
        jobs = [(name_of(job["inputs"][0]), str(job["pk"]), job["outputs"][0]) for job in listed]
        places = [given / pk / "output" / output["interface"]["relative_path"] for _, pk, output in jobs]
    except (KeyError, IndexError, TypeError) as error:
        raise InputError(f"predictions.json is not as Grand Challenge writes it: {error} is missing.") from error
    return [(name, _from_json(place, limits)) for (name, _, _), place in zip(jobs, places, strict=True)]


def name_of(value: Mapping[str, Any]) -> str:
    """The organizer's name of an input: the name of an image, or the last part of another file's address."""
    named = value["image"]["name"] if value.get("image") else str(value["file"]).rpartition("/")[2]
    return str(named).rpartition(".")[0] or str(named)


def _from_json(path: Path, limits: SubmissionLimits) -> Any:
    """The content of a JSON file; NaN and Infinity, which JSON does not have, are refused."""

    def refuse(word: str) -> None:
        raise SubmissionError(f"{path.name} contains {word}. Write finite numbers.")

    submissions.check_file(path, limits)
    with reading(path, "JSON"):
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def _as_matrix(jobs: list[tuple[str, Any]]) -> Any:
    for name, value in jobs:
        if not isinstance(value, list) or not all(type(each) in (int, float) for each in value):
            raise SubmissionError(f"The output for '{name}' is not a list of numbers. Write the vector of the item.")
        if len(value) != len(jobs[0][1]):
            raise SubmissionError(
                f"The output for '{name}' has {len(value)} numbers, but '{jobs[0][0]}' has {len(jobs[0][1])}. "
                "Give all items vectors of the same length."
            )
    return np.array([value for _, value in jobs], dtype=np.float64)


def _status_of(score: Any) -> int:
    """Score and return the exit status; an error's message becomes the last line of standard error."""
    try:
        score()
    except TieproofError as error:
        print(in_one_line(error), file=sys.stderr)
        return REFUSED
    return 0
