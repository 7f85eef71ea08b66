"""The judgments of a data set of ir_datasets, which downloads what it does not have yet."""

from tieproof.errors import InputError, library

PREFIX = "ir_datasets:"
"""What the location of judgments begins with, before the name of the data set."""


def read(location: str) -> tuple[dict[str, dict[str, float]], bool]:
    """Return the grade of each judged document of each query; a document judged twice for a query is refused.

    Also return whether a document with the id of its query is left out of its list: never.
    """
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
    found: dict[str, dict[str, float]] = {}
    for judged in data.qrels_iter():
        documents = found.setdefault(judged.query_id, {})
        if judged.doc_id in documents:
            raise InputError(
                f"{location} judges document '{judged.doc_id}' twice for query '{judged.query_id}', for example for "
                "several subtopics. Keep one grade of each document, and pass {query: {document: grade}}."
            )
        documents[judged.doc_id] = judged.relevance
    return found, False
