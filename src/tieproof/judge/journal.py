"""The files of a judgment: the journal of answers, from which it resumes, the records, and the log."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.competition.settings import DISQUALIFIED
from tieproof.errors import InputError
from tieproof.evaluation.result import Result
from tieproof.installed import __version__
from tieproof.judge.assembly import Assembled
from tieproof.judge.items import Contest
from tieproof.judge.judgment import Judgment, Repeats, Seal
from tieproof.judge.protocol import NOTHING, Answers
from tieproof.judge.running import Ran
from tieproof.records.record import EXTENSION, load
from tieproof.sandbox.folders import remove
from tieproof.ties import Array
from tieproof.whole_files import atomic_write

ENDING = ".judging"
PLAN, LOCK = "plan.json", "lock"


class Journal:
    """The answers of one system so far, in a separate folder; `opened` creates it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def clean(self) -> None:
        """Remove the unfinished files that a killed judge left behind."""
        for left in self.folder.glob(".tieproof-*"):
            os.unlink(left)

    def place(self, run: int, number: int) -> Path:
        """The path of the answers to a batch."""
        return self.folder / f"run-{run}-batch-{number}.npz"

    def has(self, run: int, number: int) -> bool:
        """Whether a batch is done."""
        return self.place(run, number).exists()

    def write(self, run: int, number: int, ran: Ran) -> None:
        """Save the outcome of a batch."""
        vectors, refused, unknown = ran.answers
        with atomic_write(self.place(run, number)) as unfinished:
            np.savez(
                unfinished,
                lengths=np.array([len(vector) for vector in vectors], dtype=np.int64),
                numbers=np.concatenate([NOTHING, *vectors]),
                refused=np.array(refused),
                unknown=np.int64(unknown),
                seconds=np.float64(ran.seconds),
                said=np.array(ran.said),
            )

    def read(self, run: int, number: int) -> Ran:
        """Load the outcome of a batch."""
        with np.load(self.place(run, number), allow_pickle=False) as kept:
            ends = np.cumsum(kept["lengths"])
            vectors = np.split(kept["numbers"], ends[:-1])
            refused = [str(reason) for reason in kept["refused"]]
            return Ran(Answers(vectors, refused, int(kept["unknown"])), float(kept["seconds"]), str(kept["said"]))

    def remove(self) -> None:
        """Remove the journal, after the records have been written."""
        remove(self.folder)


@contextmanager
def opened(folder: Path, plan: Mapping[str, Any]) -> Iterator[Journal]:
    """Open the journal of a judgment, a new or an unfinished one, and lock it.

    plan : everything that decides what is asked; InputError if the folder has a journal with another plan
    """
    import fcntl  # not available on every system

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"Another judge is running in {folder}; wait for it, or take another name.") from None
        place, text = folder / PLAN, json.dumps(plan, indent=1)
        if not place.exists():
            with atomic_write(place) as unfinished:
                unfinished.write_text(text, encoding="utf-8")
        elif place.read_text(encoding="utf-8") != text:
            old = json.loads(place.read_text(encoding="utf-8"))
            other = next(name for name in plan if old.get(name) != plan[name])
            raise InputError(
                f"{folder} was begun with another '{other}'. Judge with the same one to continue, or remove the "
                "folder to start again."
            )
        journal = Journal(folder)
        journal.clean()
        yield journal


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
