"""The functions that scoring programs call: one for each platform, in the platform's formats."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.competition.scoring import (
    Scoring,
    check_run,
    explained,
    of_rankings,
    of_vectors,
    page,
    scored,
    shown,
)
from tieproof.competition.submissions import Limits, SubmissionError, check_file, check_vectors, rows_of
from tieproof.competition.truth import COLUMNS, ID, Truth, read_truth
from tieproof.errors import InputError, TieproofError
from tieproof.evaluation.result import Result
from tieproof.inputs.readers.damage import reading
from tieproof.show.printable import in_one_line

TRUTH = {"embeddings": "labels.csv", "run": "qrels.txt"}
"""The name of the file of the truth."""

REFUSED = 1
"""The exit status of a program that refuses a submission; every platform treats it as a failure."""


def on_codabench(scoring: Scoring, title: str, given: str = "/app/input", made: str = "/app/output") -> int:
    """Score the submission in `given`/res by the truth in `given`/ref; return the exit status.

    Writes scores.json, whose keys are the columns of the leaderboard, and detailed_results.html into `made`. All
    numbers are rounded, because participants can read them.
    """
    output = Path(made)

    def score() -> None:
        result = scored(scoring, Path(given, "ref", TRUTH[scoring.task]), Path(given, "res"))
        numbers = shown(scoring, result)
        (output / "detailed_results.html").write_text(page(title, numbers, scoring.digits), encoding="utf-8")
        (output / "scores.json").write_text(json.dumps(numbers), encoding="utf-8")
        for name, value in numbers.items():
            print(f"{name}: {value:.{scoring.digits}f}")
        print(explained(scoring.digits))

    return status_of(score)


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
        relevant = dict(zip(ids, solution["relevant"], strict=True))
        return first_of(scoring, of_lists(scoring, relevant, given, submission))
    known = {name: [str(each) for each in solution[name]] for name in COLUMNS if name in solution.columns}
    truth = Truth.of(known | {ID: ids}, "The solution").in_order()
    vectors = submission.drop(columns=row_id).to_numpy()
    check_vectors(vectors, given, "The submission", scoring.limits)
    return first_of(scoring, of_vectors(scoring, truth, vectors[rows_of(given, truth.ids, "The submission")]))


def of_lists(scoring: Scoring, relevant: Mapping[str, str], queries: list[str], submission: Any) -> Result:
    """The result of lists of documents, which are ranked in the order of the list, so that no two are tied."""
    if "documents" not in submission.columns:
        raise SubmissionError("The submission has no column 'documents'. List documents there, separated by spaces.")
    rows_of(queries, sorted(relevant), "The submission")
    lists = [str(each).split() if isinstance(each, str) else [] for each in submission["documents"]]
    for query, documents in zip(queries, lists, strict=True):
        if len(set(documents)) < len(documents):
            raise SubmissionError(f"The submission lists a document twice for query '{query}'. List each one once.")
    qrels = {query: grades_of(documents) for query, documents in relevant.items()}
    run = {
        query: {document: float(-rank) for rank, document in enumerate(documents)}
        for query, documents in zip(queries, lists, strict=True)
    }
    return of_rankings(scoring, qrels, run)


def grades_of(cell: str) -> dict[str, int]:
    """The grades of documents in a cell of the solution.

    >>> grades_of("d1=2 d=2=0")
    {'d1': 2, 'd=2': 0}
    """
    pairs = (each.rpartition("=") for each in cell.split())
    return {document: int(grade) for document, _, grade in pairs}


def on_grand_challenge(
    scoring: Scoring, given: str = "/input", made: str = "/output", truth: str = "/opt/ml/input/data/ground_truth"
) -> int:
    """Score the outputs of the jobs in `given`/predictions.json by the truth; return the exit status.

    The id of a job's item is the name of the job's first input, without the extension. The first output is a JSON
    file: a list of numbers or, for runs, {document: score}. Writes `made`/metrics.json, with the numbers under
    "aggregates".
    """

    def score() -> None:
        jobs = jobs_in(Path(given), scoring.limits)
        known = Path(truth, TRUTH[scoring.task])
        if scoring.task == "run":
            result = of_rankings(scoring, known, {name: check_run(value, name) for name, value in jobs})
        else:
            truth_table = read_truth(known)
            names = [name for name, _ in jobs]
            vectors = as_matrix(jobs)
            check_vectors(vectors, names, "The submission", scoring.limits)
            result = of_vectors(scoring, truth_table, vectors[rows_of(names, truth_table.ids, "The submission")])
        metrics = {"aggregates": shown(scoring, result)}
        Path(made, "metrics.json").write_text(json.dumps(metrics, indent=4), encoding="utf-8")

    return status_of(score)


def jobs_in(given: Path, limits: Limits) -> list[tuple[str, Any]]:
    """The name of each job's first input, and the content of its first output."""
    listed = from_json(given / "predictions.json", limits)
    try:
        jobs = [(name_of(job["inputs"][0]), str(job["pk"]), job["outputs"][0]) for job in listed]
        places = [given / pk / "output" / output["interface"]["relative_path"] for _, pk, output in jobs]
    except (KeyError, IndexError, TypeError) as error:
        raise InputError(f"predictions.json is not as Grand Challenge writes it: {error} is missing.") from error
    return [(name, from_json(place, limits)) for (name, _, _), place in zip(jobs, places, strict=True)]


def name_of(value: Mapping[str, Any]) -> str:
    """The organiser's name of an input: the name of an image, or the last part of another file's address."""
    named = value["image"]["name"] if value.get("image") else str(value["file"]).rpartition("/")[2]
    return str(named).rpartition(".")[0] or str(named)


def from_json(path: Path, limits: Limits) -> Any:
    """The content of a JSON file; NaN and Infinity, which JSON does not have, are refused."""

    def refuse(word: str) -> None:
        raise SubmissionError(f"{path.name} contains {word}. Write finite numbers.")

    check_file(path, limits)
    with reading(path, "JSON"):
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def as_matrix(jobs: list[tuple[str, Any]]) -> Any:
    """The lists of all jobs as a matrix."""
    for name, value in jobs:
        if not isinstance(value, list) or not all(type(each) in (int, float) for each in value):
            raise SubmissionError(f"The output for '{name}' is not a list of numbers. Write the vector of the item.")
        if len(value) != len(jobs[0][1]):
            raise SubmissionError(
                f"The output for '{name}' has {len(value)} numbers, but '{jobs[0][0]}' has {len(jobs[0][1])}. "
                "Give all items vectors of the same length."
            )
    return np.array([value for _, value in jobs], dtype=np.float64)


def first_of(scoring: Scoring, result: Result) -> float:
    """The number by which submissions are ranked."""
    return next(iter(shown(scoring, result).values()))


def status_of(score: Any) -> int:
    """Score and return the exit status; an error's message becomes the last line of standard error."""
    try:
        score()
    except TieproofError as error:
        print(in_one_line(error), file=sys.stderr)
        return REFUSED
    return 0
