"""The texts of a bundle: sentences and templates of pages and programs, made from the settings of a competition."""

import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template

from tieproof import __version__
from tieproof.trials.competition.hosting import Hosted
from tieproof.trials.competition.scoring import Scoring

ASKED = {
    "embeddings": "You hand in a vector of numbers for each test item. Every item is a query, for which all other "
    "items are ranked by their distance to it; the relevant items are those with the same label. Only the organizer "
    "sees the labels.",
    "gallery": "You hand in a vector of numbers for each query and for each item of the gallery. For every query, "
    "the gallery is ranked by distance; the relevant items are those with the query's label. Only the organizer sees "
    "the labels.",
    "run": "You hand in documents with scores for each query; a larger score is better. Only the organizer sees the "
    "judgments.",
}
HOW = {
    "embeddings": "Each item of a phase queries all other items of that phase (leave-one-out), by {distance} "
    "distance. A measure is the mean over all items that share their label with at least one other item.",
    "gallery": "For each query of a phase, the whole gallery of that phase is ranked by {distance} distance; other "
    "queries are not ranked. A measure is the mean over all queries whose label occurs in the gallery.",
    "run": "A measure is the mean over all judged queries. A query without any document in the run scores 0. Only "
    "the scores count, not the order of the lines or the column of ranks.",
}
GROUPS = (
    " Each item belongs to a group, such as a camera; items with both the query's label and its group are excluded: "
    "they are neither relevant nor counted."
)
FILES = {
    "embeddings": "embeddings.npz with the arrays ids (strings) and embeddings (one row for each id); "
    "embeddings.npy, whose rows are in the order of the list of ids; or embeddings.csv, which begins with the line "
    "id,0,1,2,… Every id must have exactly one vector of at most {dimensions} finite numbers. The file may have at "
    "most {megabytes} MB.",
    "run": "run.txt, a TREC run with one line for each document of a query and the columns query, Q0, document, "
    "rank, score and tag. The file may have at most {megabytes} MB.",
}
HAND_IN = {
    "codabench": {task: f"Hand in a .zip with one file at its top level: {words}" for task, words in FILES.items()},
    "evalai": {task: f"Hand in one file: {words}" for task, words in FILES.items()},
    "kaggle": {
        "embeddings": "Hand in a .csv like sample_submission.csv: it begins with the line id,0,1,2,… and has one row "
        "for each id, with a vector of at most {dimensions} finite numbers.",
        "run": "Hand in a .csv like sample_submission.csv, with the columns id and documents. List the documents of "
        "each query from best to worst, separated by spaces. No document may be listed twice; no two are tied.",
    },
    "grand-challenge": {
        "embeddings": "Hand in an algorithm. It is given one item at a time and writes embedding.json, a list of at "
        "most {dimensions} finite numbers. All lists must have the same length.",
        "run": "Hand in an algorithm. It is given one query at a time and writes ranking.json, an object with a "
        "score for each document that it finds; a larger score is better.",
    },
}
"""How to hand in a submission, by platform and task."""

REFUSED = {
    "embeddings": "A submission is refused if it contains NaN or infinity, missing, repeated or unknown ids, vectors "
    "of different lengths, or Python objects (pickles), or if its file is too large.",
    "run": "A submission is refused if it contains NaN or infinity, a document twice for one query, or unknown "
    "queries, or if its file is too large.",
}
KIT = {
    "embeddings": "The ids of each phase are in ids_….txt. The sample was made from the handwritten digits in "
    "sample/items.csv, with one bit for each pixel. It has many ties: they are why lower and upper differ.",
    "run": "In the sample, two documents have the same score, and only one of them is relevant: an ambiguous tie.",
}


def fillings(settings: Hosted, platform: str) -> dict[str, str]:
    """The values of the names in the page templates, for a platform."""
    scoring, names = settings.scoring, settings.scoring._asdict()
    truth = settings.phases[0].truth
    kind = "gallery" if truth and truth.roles else scoring.task
    groups = GROUPS if truth and truth.groups else ""
    return {
        "title": settings.title,
        "description": settings.platform.description or settings.title,
        "organizer": settings.platform.organizer or "the organizer of this page",
        "contact": settings.platform.contact or "the forum of the competition",
        "phases": "; ".join(
            f"{phase.name}, {phase.start:%Y-%m-%d %H:%M} to {phase.end:%Y-%m-%d %H:%M}" for phase in settings.phases
        ),
        "measures": ", ".join(scoring.measures),
        "first": scoring.measures[0],
        "submissions": f"{settings.platform.submissions:,}",
        "per_day": f"{settings.platform.submissions_per_day:,}",
        "seconds": f"{settings.platform.seconds:,}",
        "digits": str(scoring.digits),
        "requirement": requirement(),
        "asked": ASKED[kind],
        "how": HOW[kind].format(**names) + groups,
        "hand_in": HAND_IN[platform][scoring.task].format(**names),
        "refused": REFUSED[scoring.task],
        "kit": KIT[scoring.task],
    }


def program_values(settings: Hosted) -> dict[str, str]:
    """The values of the names in the program templates."""
    scoring = settings.scoring
    return {
        "title": repr(settings.title),
        "scoring": _written(scoring),
        "measure": scoring.measures[0],
        "version": __version__,
        "requirement": requirement(),
    }


def _written(scoring: Scoring) -> str:
    """The Python expression that makes this scoring, with one line for each argument.

    >>> print(_written(Scoring("run", ("AP",))))
    Scoring(
        task='run',
        measures=('AP',),
        distance='cosine',
        megabytes=100,
        dimensions=4096,
        digits=4,
    )
    """
    arguments = "".join(f"    {name}={value!r},\n" for name, value in scoring._asdict().items())
    return f"Scoring(\n{arguments})"


def requirement() -> str:
    """The requirement for pip: this version of tieproof if it is a published one, otherwise any version."""
    return f"tieproof=={__version__}" if re.fullmatch(r"[\d.]+", __version__) else "tieproof"


def page(name: str, values: Mapping[str, str]) -> bytes:
    """A page in HTML; all values are escaped, so that a browser shows them as text."""
    return filled(f"{name}.html", {key: escape(value) for key, value in values.items()})


def filled(name: str, values: Mapping[str, str]) -> bytes:
    """The text of a template in this folder, with its `$names` replaced by values."""
    return Template(read(name)).substitute(values).encode()


def read(name: str) -> str:
    """The text of a file in this folder."""
    return files("tieproof.trials.competition.texts").joinpath(name).read_text(encoding="utf-8")
