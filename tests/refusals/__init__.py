"""Every input that is refused or warned about, as calls: the tests run them, and docs/write_refused.py shows them."""

from refusals import (
    comparisons,
    competitions,
    embeddings,
    files,
    labels,
    mteb_lists,
    neighbors,
    pages,
    rankings,
    records,
    warned,
)
from refusals.case import Case

SECTIONS: dict[str, dict[str, Case]] = {
    "Embeddings, distances and options": embeddings.CASES,
    "Labels, groups and relevance": labels.CASES,
    "Scores, distances and runs": rankings.CASES,
    "Intervals over queries and comparisons": comparisons.CASES,
    "Lists of neighbours": neighbors.CASES,
    "Files": files.CASES,
    "Records": records.CASES,
    "Pages": pages.CASES,
    "Predictions of MTEB": mteb_lists.CASES,
    "Competitions and their bundles": competitions.CASES,
    "What looks right and is not": warned.CASES,
}
