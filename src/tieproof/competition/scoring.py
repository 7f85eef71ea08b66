"""What a scoring program is made of: how submissions are scored, and the score of one.

truth.py: what only the organiser has ─┐
                                       ├──► scored: a Result ──► numbers, page, fingerprint
submissions.py: what was handed in ────┘
"""

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.calls.embeddings import evaluate
from tieproof.calls.runs import evaluate_run
from tieproof.competition.submissions import Limits, SubmissionError, check_file, file_in, named_few, read_vectors
from tieproof.competition.truth import QUERY, Truth, read_truth
from tieproof.errors import InputError, InputWarning
from tieproof.results.evaluated import NOT_JUDGED
from tieproof.results.results import Result
from tieproof.ties import Array
from tieproof.views.printable import in_one_line

Task = Literal["embeddings", "run"]

SHOWN = ("lower", "expected", "upper")
"""What a leaderboard shows of a measure; the first ranks."""


class Scoring(NamedTuple):
    """How the submissions to a competition are scored: all that a scoring program needs to know.

    task : "embeddings": a vector for each test item; "run": documents with scores for each query
    measures : names such as "AP"; the first one ranks, by its lower bound
    distance : that of vectors, as in `tieproof.evaluate`
    megabytes : what the file of a submission may hold at most
    dimensions : what a vector may have at most
    """

    task: Task
    measures: tuple[str, ...]
    distance: str = "cosine"
    megabytes: int = 100
    dimensions: int = 4096

    @property
    def limits(self) -> Limits:
        """What a submission may be at most."""
        return Limits(self.megabytes * 10**6, self.dimensions)


def scored(scoring: Scoring, truth: Path, submission: Path) -> Result:
    """The result of a submission.

    truth : labels.csv, or qrels of a run
    submission : its file, or the folder that it was unpacked into

    Raises SubmissionError where the submission is not what was asked for, InputError where the truth is not.
    """
    if scoring.task == "run":
        run = file_in(submission, "run", (".txt",))
        check_file(run, scoring.limits)
        return of_rankings(scoring, truth, run)
    known = read_truth(truth)
    file = file_in(submission, "embeddings", (".npz", ".npy", ".csv"))
    return of_vectors(scoring, known, read_vectors(file, known.ids, scoring.limits))


def of_vectors(scoring: Scoring, truth: Truth, vectors: Array) -> Result:
    """The result of a vector for each item, in their order; queries search the gallery, or all each other."""
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
    """Leave out warnings, which may name labels, and which participants could read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        yield


def of_rankings(scoring: Scoring, truth: Any, run: Any) -> Result:
    """The result of a run; a judged query that it lacks scores 0, and one that nobody asked for is refused.

    truth, run : as `tieproof.evaluate_run` takes them
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
            f"The submission has queries that nobody asked for: {named_few(strangers)}. Leave them out."
        )
    return result


def check_run(value: Any, query: str) -> dict[str, float]:
    """The scores of the documents of a query."""
    if not isinstance(value, dict) or not all(type(score) in (int, float) for score in value.values()):
        raise SubmissionError(
            f"The output for '{query}' is not {{document: score}}. Write a number for each document."
        )
    return value


def numbers(result: Result) -> dict[str, float]:
    """The numbers of a leaderboard by name, such as `ap_lower`; the first one ranks."""
    return {name: value for name, value in result.to_flat_dict().items() if name.endswith(SHOWN)}


def fingerprint(result: Result) -> str:
    """What two submissions share whose rankings score alike for every query: copies, whatever was done to hide them.

    The order of items, a factor, a shift or a rotation that changes no ranking leaves it as it is.
    """
    digest = hashlib.sha256()
    for measure in result.measures:
        for name in SHOWN:
            digest.update(getattr(result.per_query(measure), name).tobytes())
    return digest.hexdigest()[:16]


def page(title: str, result: Result) -> str:
    """The page of detailed results: means and ties of all queries together, of single ones nothing.

    What a single query scores would tell the participants which items share its label.
    """
    from html import escape

    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(in_one_line(title))}</title></head><body><h1>{escape(in_one_line(title))}</h1>"
        f"{result._repr_html_()}"
        "<p>The score is <strong>lower</strong>, the least over all orderings of items at exactly the same "
        f"distance. Fingerprint of the ranking: <code>{fingerprint(result)}</code>.</p></body></html>\n"
    )
