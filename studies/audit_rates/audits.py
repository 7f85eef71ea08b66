"""What is audited, and what each audit said, in a file that a later run goes on with."""

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import tieproof as tp
from studies.audit_rates import blind_spots, guilty, honest, recalls, shapes  # noqa: F401 (each registers its families)
from studies.audit_rates.families import FAMILIES, Family, name_of
from tieproof.evaluation.progress import progress_bar
from tieproof.trials.audit import ATTACKS
from tieproof.whole_files import atomic_write

WORKERS = 2

SIZE, SIZE_OF_RUNS, USUAL = 80, 60, 240
"""Items and queries of an audit: fewer than usual, so that hundreds of audits take minutes; runs are slow. Faults
that only special data shows need as many as usual."""

SKIPPED = [attack.name for attack in ATTACKS.values() if attack.kind in ("order", "must not matter")]
"""Attacks that never call an evaluator exploitable."""


CHANGE_NO_AUDIT = ("study.py", "rates.py", "proofs.py", "shape_proofs.py")


class Audit(NamedTuple):
    """What an audit said.

    family, strength, seed : whose
    exploitable, held : as the report has it
    verdicts : for each verdict that is not harmless, the attacks that came to it
    """

    family: str
    strength: int
    seed: int
    exploitable: bool
    held: bool
    verdicts: dict[str, list[str]]


class Task(NamedTuple):
    """An audit to be made."""

    family: str
    strength: int
    seed: int


WHOLE_SEEDS = 4
"""The most seeds of an honest family on which all attacks are made, which is slow."""


def tasks(seeds: int, guilty_seeds: int) -> list[Task]:
    """So many seeds of each honest family and of each strength of a guilty one; a fifth for runs, which are slow."""
    found = []
    for family in FAMILIES.values():
        count = guilty_seeds if family.kind in ("guilty", "changes") else seeds
        count = min(count, WHOLE_SEEDS) if family.whole else count
        count = -(-count // 5) if family.takes == "run" else count
        found += [Task(family.name, strength, seed) for strength in family.strengths for seed in range(count)]
    return sorted(found, key=lambda task: task.seed)  # so that whoever stops early has some of each


def audit(task: Task) -> Audit:
    """Audit one evaluator, with all attacks that could convict it."""
    family = FAMILIES[task.family]
    name = name_of(family, task.strength, task.seed)
    size = SIZE_OF_RUNS if family.takes == "run" else USUAL if family.whole else SIZE
    skip = [] if family.whole else SKIPPED
    report = tp.audit(
        name, takes=family.takes, seed=task.seed, items=size, queries=size, skip=skip, thorough=family.thorough
    )
    verdicts: dict[str, list[str]] = {}
    for finding in report.findings:
        if not finding.verdict.harmless:
            verdicts.setdefault(str(finding.verdict), []).append(finding.attack)
    return Audit(*task, report.exploitable, report.held, verdicts)


def version() -> str:
    """What the sources of the audit and of the families are; results of another version are of no use."""
    digest = hashlib.sha256()
    for folder in (Path(tp.__file__).parent / "trials" / "audit", Path(__file__).parent):
        for path in sorted(folder.glob("*.py")):
            if path.name not in CHANGE_NO_AUDIT:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def read(path: Path) -> list[Audit]:
    """The audits of a file, if there is one."""
    if not path.is_file():
        return []
    return [Audit(*each) for each in json.loads(path.read_text(encoding="utf-8"))["audits"]]


def version_of(path: Path) -> str:
    """The version whose audits a file holds, if there is one."""
    return str(json.loads(path.read_text(encoding="utf-8"))["version"]) if path.is_file() else ""


def write(path: Path, of: str, audits: Sequence[Audit]) -> None:
    """Write the audits of a version, one a line."""
    lines = ",\n".join(json.dumps(audit) for audit in sorted(audits))
    with atomic_write(path) as file:
        file.write_text(f'{{"version": "{of}", "audits": [\n{lines}\n]}}\n', encoding="utf-8")


def make(wanted: Sequence[Task], path: Path) -> list[Audit]:
    """All audits; those that the file has are not made again, and each is written as soon as it is there."""
    now = version()
    done = {Task(*audit[:3]): audit for audit in read(path)} if version_of(path) == now else {}
    missing = [task for task in wanted if task not in done]
    os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
    with (
        progress_bar(len(missing), "audits", 1) as advance,
        ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool,
    ):
        try:
            for future in as_completed([pool.submit(audit, task) for task in missing]):
                found = future.result()
                done[Task(*found[:3])] = found
                write(path, now, [*done.values()])
                advance(1)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # or all others would be made first
            raise
    return [done[task] for task in wanted]


def of(audits: Sequence[Audit], family: Family, strength: int) -> list[Audit]:
    """The audits of a family with this strength."""
    return [audit for audit in audits if (audit.family, audit.strength) == (family.name, strength)]
