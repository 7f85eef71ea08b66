"""What the pages of a competition say, in sentences made of its settings."""

import re

from tieproof.competition.hosting import Hosted
from tieproof.competition.scoring import Scoring
from tieproof.installed import __version__

ASKED = {
    "embeddings": "You hand in a vector of numbers for each test item. Every item queries all the others, ranked by "
    "their distance to it; relevant are those with the same label. Nobody sees the labels but the organiser.",
    "gallery": "You hand in a vector of numbers for each query and each item of the gallery. Every query ranks the "
    "gallery by its distance; relevant are items with the query's label. Nobody sees the labels but the organiser.",
    "run": "You hand in documents with scores for each query: larger is better. Nobody sees the judgments but the "
    "organiser.",
}
HOW = {
    "embeddings": "Each item of a phase queries all the others of that phase (leave-one-out), under {distance} "
    "distance. A measure is the mean over all items that share their label with another one.",
    "gallery": "Each query of a phase ranks the whole gallery of that phase, under {distance} distance, and no other "
    "query. A measure is the mean over all queries whose label is that of an item in the gallery.",
    "run": "A measure is the mean over all judged queries. A query without any document in the run scores 0; neither "
    "the order of the lines nor the column of ranks counts, only the scores.",
}
GROUPS = (
    " Each item belongs to a group, such as a camera: items with the query's label and group are neither relevant "
    "nor counted."
)
FILES = {
    "embeddings": "embeddings.npz with the arrays ids (strings) and embeddings (a row for each id); embeddings.npy, "
    "whose rows are in the order of the list of ids; or embeddings.csv, which begins with the line id,0,1,2,… Every "
    "id has exactly one vector, of at most {dimensions} finite numbers; the file has at most {megabytes} MB.",
    "run": "run.txt, a TREC run: a line for each document of a query, with the columns query, Q0, document, rank, "
    "score and tag, of at most {megabytes} MB.",
}
HAND_IN = {
    "codabench": {task: f"Hand in a .zip with one file at its top: {words}" for task, words in FILES.items()},
    "evalai": {task: f"Hand in one file: {words}" for task, words in FILES.items()},
    "kaggle": {
        "embeddings": "Hand in a .csv like sample_submission.csv: it begins with the line id,0,1,2,… and has a row "
        "for each id, with a vector of at most {dimensions} finite numbers.",
        "run": "Hand in a .csv like sample_submission.csv, with the columns id and documents: for each query the "
        "documents, the best first, with blanks between them. None is listed twice, and no two of them are tied.",
    },
    "grand-challenge": {
        "embeddings": "Hand in an algorithm. It is given one item at a time, and writes embedding.json: a list of at "
        "most {dimensions} finite numbers, as many for every item.",
        "run": "Hand in an algorithm. It is given one query at a time, and writes ranking.json: an object with a "
        "score for each document that it finds, larger is better.",
    },
}
"""By platform and task."""

REFUSED = {
    "embeddings": "Refused are NaN and infinity, ids that are missing, come twice or were not asked for, vectors of "
    "different lengths, Python objects (pickles), and files that are too large.",
    "run": "Refused are NaN and infinity, a document that comes twice for a query, queries that were not asked for, "
    "and files that are too large.",
}
KIT = {
    "embeddings": "The ids of each phase are in ids_….txt. sample/items.csv shows what the sample was made of: "
    "handwritten digits, as one bit for each pixel, whose many ties cost it what stands between lower and upper.",
    "run": "In the sample two documents have the same score, and only one of them is relevant: that is a tie.",
}


def fillings(settings: Hosted, platform: str) -> dict[str, str]:
    """What the names in pages for a platform stand for."""
    scoring, names = settings.scoring, settings.scoring._asdict()
    truth = settings.phases[0].truth
    kind = "gallery" if truth and truth.roles else scoring.task
    groups = GROUPS if truth and truth.groups else ""
    return {
        "title": settings.title,
        "description": settings.platform.description or settings.title,
        "organizer": settings.platform.organizer or "the organiser of this page",
        "contact": settings.platform.contact or "the forum of the competition",
        "phases": "; ".join(
            f"{phase.name}, {phase.start:%Y-%m-%d %H:%M} to {phase.end:%Y-%m-%d %H:%M}" for phase in settings.phases
        ),
        "measures": ", ".join(scoring.measures),
        "first": scoring.measures[0],
        "submissions": f"{settings.platform.submissions:,}",
        "per_day": f"{settings.platform.submissions_per_day:,}",
        "seconds": f"{settings.platform.seconds:,}",
        "requirement": requirement(),
        "asked": ASKED[kind],
        "how": HOW[kind].format(**names) + groups,
        "hand_in": HAND_IN[platform][scoring.task].format(**names),
        "refused": REFUSED[scoring.task],
        "kit": KIT[scoring.task],
    }


def program_values(settings: Hosted) -> dict[str, str]:
    """What the names in programs stand for."""
    scoring = settings.scoring
    return {
        "title": repr(settings.title),
        "scoring": written(scoring),
        "measure": scoring.measures[0],
        "version": __version__,
        "requirement": requirement(),
    }


def written(scoring: Scoring) -> str:
    """The call that makes this scoring, a line for each argument.

    >>> print(written(Scoring("run", ("AP",))))
    Scoring(
        task='run',
        measures=('AP',),
        distance='cosine',
        megabytes=100,
        dimensions=4096,
    )
    """
    arguments = "".join(f"    {name}={value!r},\n" for name, value in scoring._asdict().items())
    return f"Scoring(\n{arguments})"


def requirement() -> str:
    """What pip installs: this version, where it is one that was published."""
    return f"tieproof=={__version__}" if re.fullmatch(r"[\d.]+", __version__) else "tieproof"
