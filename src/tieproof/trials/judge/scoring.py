"""The evaluation of embeddings of strangers, in a process that is ended at a limit of time if it could take long.

The exact order of nearly equal vectors takes up to hundreds of times as long as that of usual ones. No system may
make its judge busy for hours by such answers.
"""

import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tieproof import Result, evaluate, evaluate_answers, load
from tieproof.errors import InputError
from tieproof.trials.sandbox.folders import temporary_folder
from tieproof.trials.sandbox.limits import ProgramLimits, run_program
from tieproof.trials.sandbox.processes import how

SMALL = 2**18  # up to so much work no answers take longer than about a second, and no process is started
OF_A_PAIR = 16  # the work that a pair of vectors takes in addition to one product for each dimension
START_SECONDS, WORK = 5.0, 1e9  # what is granted to start the process, and the work for each further second
_CODE = "from tieproof.trials.judge.scoring import main; main()"
_ARRAYS, _OPTIONS, _RECORD = "arrays.npz", "options.json", "result.tieproof"
_MOST_WRITTEN = 2**40


def scored(options: Mapping[str, Any], seconds: float) -> Result | None:
    """The result of `evaluate`, or with `unanswered` of `evaluate_answers`; None if it takes too many seconds."""
    items, dimensions = options.get("gallery", options["embeddings"]).shape
    work = len(options["embeddings"]) * items * (dimensions + OF_A_PAIR)
    if work <= SMALL or math.isinf(seconds):
        return _evaluated(options)
    with temporary_folder() as folder:
        arrays: dict[str, Any] = {name: each for name, each in options.items() if isinstance(each, np.ndarray)}
        np.savez(folder / _ARRAYS, **arrays)
        others = {name: value for name, value in options.items() if name not in arrays}
        (folder / _OPTIONS).write_text(json.dumps(others), encoding="utf-8")
        path = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONPATH": path}
        command, limits = [sys.executable, "-c", _CODE], ProgramLimits(None, _MOST_WRITTEN)
        status, late = run_program(command, environment, limits, seconds + START_SECONDS + work / WORK, cwd=folder)
        if late:
            return None
        if status != 0:
            raise InputError(
                f"The evaluation of the answers ended {how(status)}, perhaps because memory is full. Judge the "
                "system on a machine with more memory."
            )
        return load(folder / _RECORD)


def _evaluated(options: Mapping[str, Any]) -> Result:
    return evaluate_answers(**options) if "unanswered" in options else evaluate(**options)


def main() -> None:
    """Evaluate what is in the folder of this process, and save the record there."""
    options = json.loads(Path(_OPTIONS).read_text(encoding="utf-8"))
    with np.load(_ARRAYS, allow_pickle=False) as arrays:
        options |= {name: arrays[name] for name in arrays.files}
    _evaluated(options).save(_RECORD)
