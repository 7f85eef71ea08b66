"""The files of a judgment: a record and the answers of each run, and finally the log, which marks it as complete.

A leaderboard finds systems by their logs, but reads every score from the records, never from a log.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.competition.settings import DISQUALIFIED
from tieproof.errors import InputError
from tieproof.installed import __version__
from tieproof.judge.assembly import Assembled
from tieproof.judge.contests import Contest
from tieproof.results.judgments import Judgment, Repeats, Seal
from tieproof.results.records import EXTENSION, load
from tieproof.results.results import Result
from tieproof.ties import Array
from tieproof.whole_files import atomic_write

FORMAT, VERSION = "tieproof judgment", 1
LOG_ENDING = ".judgment.json"


class Run(NamedTuple):
    """One run of a system.

    found : the answers, the refusals, and the questions that were asked twice
    answers : all embeddings, or all distances
    said : the message of the system's first error, if there was one
    """

    result: Result
    found: Assembled
    answers: Array
    said: str


def write_judgment(
    held: Contest,
    name: str,
    spelled: str,
    seal: Seal,
    runs: Sequence[Run],
    plan: Mapping[str, Any],
    folder: Path,
) -> Judgment:
    """Write all files of a judgment, the log last; each file is written whole or not at all."""
    names = [f"{name}.run-{number}" for number in range(1, len(runs) + 1)]
    for stem, run in zip(names, runs, strict=True):
        with atomic_write(folder / f"{stem}.npy") as unfinished:
            np.save(unfinished, run.answers)
        run.result.save(folder / f"{stem}{EXTENSION}")
    refused = tuple({reason: len(items) for reason, items in run.found.refused.items()} for run in runs)
    judgment = Judgment(
        name=name,
        title=held.competition.title,
        results=tuple(run.result for run in runs),
        refused=refused,
        repeats=tuple(run.found.repeats for run in runs),
        questions=len(runs[0].found.answers) + sum(refused[0].values()),
        said=next((run.said for run in runs if run.said), ""),
        disqualified=held.competition.judge.refused == DISQUALIFIED and any(refused),
        seal=seal,
        records=tuple(f"{stem}{EXTENSION}" for stem in names),
        log=f"{name}{LOG_ENDING}",
    )
    log = {
        "format": FORMAT,
        "version": VERSION,
        "tieproof": __version__,
        "system": spelled,
        "rules": rules_of(held),
        "digests": dict(plan),
        **judgment.to_dict(),
    }
    for entry, run in zip(log["runs"], runs, strict=True):
        entry |= {
            "answers": f"{Path(entry['record']).stem}.npy",
            "refused": {reason: [list(asked) for asked in items] for reason, items in run.found.refused.items()},
            "unknown_names": run.found.unknown,
        }
    with atomic_write(folder / judgment.log) as unfinished:
        unfinished.write_text(json.dumps(log, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return judgment


def rules_of(held: Contest) -> dict[str, Any]:
    """The rules of the competition for every system."""
    found, judging = held.competition, held.competition.judge
    return {
        "phase": held.phase.name,
        "task": found.task,
        "measures": list(found.measures),
        "distance": found.distance,
        "symmetric": judging.symmetric,
        "batch": judging.batch,
        "repeats": judging.repeats,
        "limits": held.limits._asdict(),
        "refused": judging.refused,
    }


def read_judgment(log: Path) -> Judgment:
    """The judgment of a log, with results from the records in the same folder; InputError if anything is invalid."""
    try:
        given = json.loads(log.read_text(encoding="utf-8"))
        if given["format"] != FORMAT or given["version"] != VERSION:
            raise ValueError("another format")
        records = [str(run["record"]) for run in given["runs"]]
        if not records or any(Path(record).name != record for record in records):
            raise ValueError("a record elsewhere")
        runs = given["runs"]
        judgment = Judgment(
            name=str(given["name"]),
            title=str(given["competition"]),
            results=(),
            refused=tuple({str(reason): len(items) for reason, items in run["refused"].items()} for run in runs),
            repeats=tuple(Repeats(**run["asked_twice"]) for run in runs),
            questions=int(given["questions"]),
            said=str(given["said"]),
            disqualified=bool(given["disqualified"]),
            seal=Seal(str(given["sealed_by"]), tuple(map(str, given["not_sealed"]))),
            records=tuple(records),
            log=log.name,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{log} is not a log of tieproof judge ({type(error).__name__}: {error}). Remove it, or judge again."
        ) from None
    results = tuple(load(log.with_name(record)) for record in judgment.records)
    return replace(judgment, results=results)
