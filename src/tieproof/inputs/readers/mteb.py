"""Lists and judgments of MTEB: its files have those of each subset and split, and its tasks load judgments.

{Task}_predictions.json   {subset: {split: {query: {document: score}}}}, as `mteb.evaluate` writes it
{Task}_qrels.json         {subset: {split: {query: {document: grade}}}}, as `write_qrels` writes it
mteb:{Task}               the judgments of a task, whose data MTEB downloads if this machine does not have it
"""

from collections.abc import Mapping
from typing import Any

from tieproof.errors import InputError, import_extra

MODEL, CONVENTIONS = "mteb_model_meta", "tieproof_conventions"
"""Members that are no subsets: the model of predictions, and how a task treats its lists."""

RULES = ("ignore_identical_ids", "skip_first_result")
"""How a task treats its lists: whether documents with the id of the query, or first documents, are left out."""


OfSplit = tuple[Mapping[str, Mapping[str, float]], bool]
"""The scores or grades of a split, and whether a document with the id of its query is left out of its list."""


def has_splits(found: Mapping[str, Any]) -> bool:
    """Whether a dictionary has subsets and splits, and not only queries and documents."""
    inner = next((each for each in found.values() if isinstance(each, dict)), {})
    return MODEL in found or CONVENTIONS in found or any(isinstance(each, dict) for each in inner.values())


def of_split(found: Mapping[str, Any], place: str, wanted: str | None, value: str) -> OfSplit:
    """Return the lists of a split, `wanted` as subset/split, or of the only one, of what is at a place."""
    splits: dict[str, Any] = {}
    for subset in found.keys() - {MODEL, CONVENTIONS}:
        of_subset = found[subset] if isinstance(found[subset], dict) else {"": None}
        splits |= {f"{subset}/{split}": lists for split, lists in of_subset.items()}
    if not all(map(_are_lists, splits.values())):
        raise InputError(
            f"{place} does not contain {{subset: {{split: {{query: {{document: {value}}}}}}}}}, as files of MTEB's "
            "tasks of retrieval and reranking do."
        )
    names = sorted(splits)
    if wanted is None and len(names) == 1:
        (wanted,) = names
    if wanted not in splits:
        has = f"the split{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else "no split"
        advice = f" Name a split behind a colon, such as {place}:{names[0]}." if names else ""
        raise InputError(f"{place} has {has}.{advice}")
    rules = found.get(CONVENTIONS, dict.fromkeys(RULES, False))
    if not isinstance(rules, dict) or any(type(rules.get(rule)) is not bool for rule in RULES):
        raise InputError(
            f"{place}: {CONVENTIONS} must have {' and '.join(RULES)}, but is {rules!r}. Write the file again with "
            "write_qrels of tieproof.integrations.mteb."
        )
    without_own, without_first = (rules[rule] for rule in RULES)
    if without_first:
        raise InputError(
            f"{place}: the task leaves out the first document of every list, which may be any of several tied ones. "
            "Score its predictions by mteb.evaluate(SavedPredictions(folder), with_intervals(task)) of "
            "tieproof.integrations.mteb."
        )
    return splits[wanted], without_own


def _are_lists(lists: Any) -> bool:
    """Whether these are the numbers of the documents of queries, not classes or embeddings of other tasks."""
    return isinstance(lists, dict) and all(
        isinstance(each, dict) and set(map(type, each.values())) <= {int, float} for each in lists.values()
    )


def read(location: str) -> OfSplit:
    """Return the judgments of {Task}, or of one of its splits, {Task}:{subset}/{split}."""
    name, _, wanted = location.partition(":")
    subset, _, split = wanted.partition("/")
    mteb = import_extra("mteb", f"qrels of mteb:{location}", "mteb")
    try:
        task = mteb.get_task(name, eval_splits=[split] if split else None, hf_subsets=[subset] if subset else None)
    except KeyError:
        task = None
    if not all(hasattr(task, rule) for rule in RULES):
        raise InputError(
            f"mteb {mteb.__version__} has no task {name} that ranks anything. "
            "mteb.get_tasks(task_types=['Retrieval', 'Reranking']) lists such tasks."
        )
    try:
        found = contents(task)
    except Exception as error:  # any error of the libraries that load the data
        raise InputError(
            f"The data of the task {name} could not be loaded ({type(error).__name__}: "
            f"{str(error).partition(chr(10))[0]}). Load it once while connected to the network, or pass a file "
            "that write_qrels of tieproof.integrations.mteb wrote."
        ) from error
    return of_split(found, f"mteb:{name}", wanted or None, "grade")


def contents(task: Any) -> dict[str, Any]:
    """Load the data of a task unless it is loaded, and return what {Task}_qrels.json contains."""
    if not task.data_loaded:
        task.load_data()
    task.convert_v1_dataset_format_to_v2(None)
    judged = {
        subset: {split: data["relevant_docs"] for split, data in splits.items()}
        for subset, splits in task.dataset.items()
    }
    return {CONVENTIONS: {rule: getattr(task, rule) for rule in RULES}, **judged}
