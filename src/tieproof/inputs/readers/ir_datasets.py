"""The judgments of a data set of ir_datasets, which downloads what it does not have yet."""

from tieproof.errors import InputError, import_extra


def read(name: str) -> tuple[dict[str, list[tuple[str, float]]], bool]:
    """Return the judgments, and whether a document with the id of its query is left out of its list: never."""
    ir_datasets = import_extra("ir_datasets", f"qrels of ir_datasets:{name}", "ir-datasets")
    try:
        data = ir_datasets.load(name)
    except KeyError:
        raise InputError(
            f"ir_datasets has no data set '{name}'. Its names are on https://ir-datasets.com, such as "
            "ir_datasets:msmarco-passage/trec-dl-2019/judged."
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
