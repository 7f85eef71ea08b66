"""Every input that is refused or warned about, as calls: the tests run them, and messages.md has their wording."""

from refusals import (
    bundles,
    comparisons,
    competitions,
    embeddings,
    files,
    labels,
    mteb_files,
    neighbors,
    noises,
    pages,
    rankings,
    records,
    shards,
    truths,
    warned,
)
from refusals.case import Case

SECTIONS: dict[str, dict[str, Case]] = {
    "Embeddings, distances and options": embeddings.CASES,
    "Labels, groups and relevance": labels.CASES,
    "Scores, distances and runs": rankings.CASES,
    "Noise": noises.CASES,
    "Intervals over queries and comparisons": comparisons.CASES,
    "Lists of neighbors": neighbors.CASES,
    "Votes of nearest items and true neighbors": truths.CASES,
    "Files": files.CASES,
    "Data sets in shards": shards.CASES,
    "Records": records.CASES,
    "Pages": pages.CASES,
    "Competitions, systems and their answers": competitions.CASES,
    "Predictions of MTEB": mteb_files.CASES,
    "Competitions and their bundles": bundles.CASES,
    "Warnings: input that is probably a mistake": warned.CASES,
}
