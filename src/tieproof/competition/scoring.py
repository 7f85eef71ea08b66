"""The scoring of submissions: the settings of a scoring program, and the result of one submission.

truth.py: what only the organiser has ─┐
                                       ├──► scored: a Result ──► shown: the rounded numbers ──► page
submissions.py: what was handed in ────┘

A participant sees the rounded means and nothing else of a result. Values of single queries, anything computed from
them (such as a fingerprint, even a keyed one), and counts of ties would tell which items share a label.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.competition.submissions import Limits, SubmissionError, check_file, file_in, named_few, read_vectors
from tieproof.competition.truth import QUERY, Truth, read_truth
from tieproof.errors import InputError, InputWarning
from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.evaluated import NOT_JUDGED
from tieproof.evaluation.result import Result
from tieproof.evaluation.runs import evaluate_run
from tieproof.show.printable import in_one_line
from tieproof.ties import Array

Task = Literal["embeddings", "run"]

SHOWN = ("lower", "expected", "upper")
"""The values of a measure that a leaderboard shows; the first one ranks."""


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
    def limits(self) -> Limits:
        """The limits of a submission, in bytes and dimensions."""
        return Limits(self.megabytes * 10**6, self.dimensions)


def scored(scoring: Scoring, truth: Path, submission: Path) -> Result:
    """The result of a submission.

    truth : the path of labels.csv or, for runs, of the qrels
    submission : the file of the submission, or the folder into which it was unpacked

    Raises SubmissionError if the submission is invalid, InputError if the truth is.
    """
    if scoring.task == "run":
        run = file_in(submission, "run", (".txt",))
        check_file(run, scoring.limits)
        return of_rankings(scoring, truth, run)
    known = read_truth(truth)
    file = file_in(submission, "embeddings", (".npz", ".npy", ".csv"))
    return of_vectors(scoring, known, read_vectors(file, known.ids, scoring.limits))


def of_vectors(scoring: Scoring, truth: Truth, vectors: Array) -> Result:
    """The result of one vector for each item, in order; queries rank the gallery or, without one, all other items."""
    labels, groups = np.array(truth.labels), np.array(truth.groups) if truth.groups else None
    queries: Any = np.array(truth.roles) == QUERY if truth.roles else slice(None)
    options: dict[str, Any] = {"distance": scoring.distance, "measures": scoring.measures}
    if groups is not None:
        options["groups"] = groups[queries]
    if truth.roles:
        options |= {"gallery": vectors[~queries], "gallery_labels": labels[~queries]}
        options |= {} if groups is None else {"gallery_groups": groups[~queries]}
    try:
        with silent():
            return evaluate(vectors[queries], labels[queries], **options)
    except InputError as error:
        if error.argument in ("embeddings", "gallery"):
            raise SubmissionError(str(error)) from error
        raise


@contextmanager
def silent() -> Iterator[None]:
    """Suppress warnings, because they may name labels, and participants could read them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        yield


def of_rankings(scoring: Scoring, truth: Any, run: Any) -> Result:
    """The result of a run; a judged query without documents scores 0, and an unknown query raises SubmissionError.

    truth, run : the qrels and the run, as for `tieproof.evaluate_run`
    """
    try:
        with silent():
            result = evaluate_run(truth, run, measures=scoring.measures)
    except InputError as error:
        if error.argument == "run":
            folder = f"{run.parent}/" if isinstance(run, Path) else ""
            raise SubmissionError(str(error).replace(folder, "")) from error
        raise
    strangers = result.skipped.get(NOT_JUDGED, ())
    if len(strangers):
        raise SubmissionError(
            f"The submission has queries that are not in the test set: {named_few(strangers)}. Leave them out."
        )
    return result


def check_run(value: Any, query: str) -> dict[str, float]:
    """The scores of a query's documents; SubmissionError unless they are {document: number}."""
    if not isinstance(value, dict) or not all(type(score) in (int, float) for score in value.values()):
        raise SubmissionError(
            f"The output for '{query}' is not {{document: score}}. Write a number for each document."
        )
    return value


def shown(scoring: Scoring, result: Result) -> dict[str, float]:
    """All numbers that a participant sees, rounded, by name, such as `ap_lower`; the first one ranks."""
    found = result.to_flat_dict()
    return {name: round(value, scoring.digits) for name, value in found.items() if name.endswith(SHOWN)}


def page(title: str, numbers: dict[str, float], digits: int) -> str:
    """The page of detailed results, which has only the numbers of the leaderboard."""
    from html import escape

    rows = "".join(f"<tr><th>{escape(name)}</th><td>{value:.{digits}f}</td></tr>" for name, value in numbers.items())
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(in_one_line(title))}</title></head><body><h1>{escape(in_one_line(title))}</h1>"
        f"<table>{rows}</table><p>{explained(digits)}</p></body></html>\n"
    )


def explained(digits: int) -> str:
    """The sentences under the numbers."""
    return (
        "The score is lower, the lowest value over all orderings of tied items; where upper is larger, a tie is "
        f"ambiguous. Scores are rounded to {digits} digits, and nothing else about a submission is shown."
    )
