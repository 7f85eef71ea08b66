"""The judgments of a data set of ir_datasets, which downloads what it does not have yet."""

from tieproof.errors import InputError, library

PREFIX = "ir_datasets:"
"""What the location of judgments begins with, before the name of the data set."""


def read(location: str) -> tuple[dict[str, list[tuple[str, float]]], bool]:
    """Return the judgments, and whether a document with the id of its query is left out of its list: never."""
    name = location.removeprefix(PREFIX)
    ir_datasets = library("ir_datasets", f"qrels of {location}", "ir-datasets")
    try:
        data = ir_datasets.load(name)
    except KeyError:
        raise InputError(
            f"ir_datasets has no data set '{name}'. Its names are on https://ir-datasets.com, such as "
            f"{PREFIX}msmarco-passage/trec-dl-2019/judged."
        ) from None
    if not data.has_qrels():
        raise InputError(
            f"The data set '{name}' of ir_datasets has no qrels. Take a part of it that has, as its page on "
            "https://ir-datasets.com says."
        )
    found: dict[str, list[tuple[str, float]]] = {}
    for judged in data.qrels_iter():
        found.setdefault(judged.query_id, []).append((judged.doc_id, judged.relevance))
    return found, False
