"""Read the scores that MTEB printed, from files {Task}.json next to the predictions or in MTEB's cache."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tieproof.errors import InputError

Printed = Mapping[tuple[str, str], Mapping[str, Any]]
"""The scores of each subset and split."""


def read_printed(task: str, model: Mapping[str, Any], folder: Path) -> Printed:
    """The scores of a task in a folder; empty if it has none.

    The scores are in `{Task}.json`, or in `{model}/{revision}/{Task}.json` as in the cache of MTEB.

    Raises InputError if the file does not contain results of MTEB.
    """
    name, revision = (str(model.get(key, "")) for key in ("model_name", "revision"))
    within = Path(name.replace("/", "__").replace(" ", "_"), revision)
    places = (Path(), within, Path("results", within)) if name and revision else (Path(),)
    paths = [folder / place / f"{task}.json" for place in places]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return {}
    try:
        splits = json.loads(path.read_text(encoding="utf-8"))["scores"]
        return {(scores["hf_subset"], split): scores for split, several in splits.items() for scores in several}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} does not contain results of MTEB ({type(error).__name__}: {error}). Write it again, or put it "
            "elsewhere: the table then has no column with the scores of MTEB."
        ) from error


def largest_k(scores: Mapping[str, Any]) -> int | None:
    """The largest of the `k_values` in a split's scores; None if the split has no score at a cutoff.

    >>> largest_k({"ndcg_at_10": 0.5, "ndcg_at_1000": 0.5})
    1000
    """
    found = (re.fullmatch(r"ndcg_at_(\d+)", name) for name in scores)
    return max((int(match[1]) for match in found if match), default=None)
