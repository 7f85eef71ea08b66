"""Grand Challenge: a bundle for it, and its bundles run as in its container."""

import gzip
import json
import re
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.kit import fits
from tieproof.trials.competition.hosting import HostedPhase
from tieproof.trials.competition.inspection import tasks
from tieproof.trials.competition.platforms.layout import WIDTH, BundlePlan, Files, Maker
from tieproof.trials.competition.scoring import TRUTH
from tieproof.trials.competition.truth import read_judgments

OUTPUT = {"embeddings": "embedding", "run": "ranking"}  # the name of an algorithm's output socket, by task


def _jobs_of(plan: BundlePlan, phase: HostedPhase, *_: str) -> Files:
    """The container's input if an algorithm answered at random, to try the container, and for `check`."""
    task, random = plan.settings.scoring.task, np.random.default_rng(0)
    output = OUTPUT[task]
    answers: dict[str, Any]
    if task == "run":
        judged = read_judgments(phase.judged)
        documents = sorted({document for grades in judged.values() for document in grades})
        scores = (random.random(len(documents)).tolist() for _ in judged)
        answers = {query: dict(zip(documents, each, strict=True)) for query, each in zip(judged, scores, strict=True)}
    else:
        answers = dict(zip(phase.ids, random.normal(size=(len(phase.ids), WIDTH)).tolist(), strict=True))
    jobs = [_job(f"job-{number:05}", name, output) for number, name in enumerate(answers)]
    files: Files = {"predictions.json": json.dumps(jobs, indent=4).encode()}
    for job, answer in zip(jobs, answers.values(), strict=True):
        files[f"{job['pk']}/output/{output}.json"] = json.dumps(answer).encode()
    return files


def _job(pk: str, name: str, output: str) -> dict[str, Any]:
    """A job in predictions.json, with only the keys that an evaluation reads."""
    return {
        "pk": pk,
        "inputs": [{"interface": {"slug": "item"}, "file": None, "image": {"name": f"{name}.mha"}, "value": None}],
        "outputs": [{"interface": {"slug": output, "relative_path": f"{output}.json"}, "file": None, "image": None}],
        "status": "Succeeded",
    }


def _packed(plan: BundlePlan, phase: HostedPhase, *_: str) -> bytes:
    """The truth as a compressed tarball of one file; the same content gives the same bytes."""
    written, entry = BytesIO(), tarfile.TarInfo(TRUTH[plan.settings.scoring.task])
    entry.size = len(phase.content)
    with tarfile.open(fileobj=written, mode="w") as archive:
        archive.addfile(entry, BytesIO(phase.content))
    return gzip.compress(written.getvalue(), mtime=0)


MAKERS: dict[str, Maker] = {"jobs": _jobs_of, "packed": _packed}  # what makes the files that only its bundles have


TRUTH_FOLDER = "/opt/ml/input/data/ground_truth"
PLAIN = "ground_truth"
OURS = "on_grand_challenge"  # the function that the program of a bundle calls if `new` made the bundle


def tasks_in(bundle: Path, unpack: tasks.Unpacker) -> list[tasks.Task]:
    """A task for each folder of ground truth."""
    truths = sorted(path for path in bundle.glob(f"{PLAIN}*") if path.is_dir())
    if not truths:
        raise InputError(f"{bundle} has no folder {PLAIN} next to its Dockerfile. Put the truth there.")
    within, command = _entry_of(tasks.text_of(bundle / "Dockerfile"))
    if OURS in tasks.text_of(bundle / "evaluate.py"):
        command += ["/input", "/output", TRUTH_FOLDER]  # replaced by other folders if bubblewrap is missing
    else:
        tasks.refuse_fixed_names(bundle, ("/input", "/output", TRUTH_FOLDER))
    parts = [path for path in bundle.iterdir() if path.is_file() and path.suffix in (".py", ".json", ".txt")]
    program = {f"{within}/{path.name}": path for path in parts}
    path = bundle / "phase_settings.json"
    key = str(tasks.json_of(path)["score_jsonpath"]) if path.is_file() else None
    return [
        tasks.Task(
            truth.name.removeprefix(PLAIN).strip("_") or "all",
            _sample_of(bundle, truth.name.removeprefix(PLAIN).strip("_")),
            command,
            within,
            {within: None, **program, "/output": None, TRUTH_FOLDER: truth},
            "/input",
            lambda program, out: tasks.as_numbers(json.loads(_metrics_of(program))),
            key,
            True,
            tasks.files_by_name([bundle / f"archive{truth.name.removeprefix(PLAIN)}"]),
            TRUTH_FOLDER,
            lambda program, run: _metrics_of(program),  # printed text is shown to the organizer alone
        )
        for truth in truths
    ]


def _entry_of(dockerfile: str) -> tuple[str, list[str]]:
    """The folder and the command of a container, such as `WORKDIR /opt/app` and `ENTRYPOINT ["python", "x.py"]`."""
    folders = re.findall(r"^WORKDIR\s+(\S+)", dockerfile, re.MULTILINE)
    commands = re.findall(r"^(?:ENTRYPOINT|CMD)\s+(\[.*\])", dockerfile, re.MULTILINE)
    if not commands:
        raise InputError('The Dockerfile has no ENTRYPOINT such as ["python", "evaluate.py"]. Add one in this form.')
    command = json.loads(commands[0])
    if not command or not fits(command, list[str]):
        raise InputError('The ENTRYPOINT of the Dockerfile is no list of words, such as ["python", "evaluate.py"].')
    return (folders or ["/opt/app"])[-1], command


def _sample_of(bundle: Path, name: str) -> Path | None:
    places = (bundle / "test" / name / "input", bundle / "test" / "input")
    return next((place for place in places if (place / "predictions.json").is_file()), None)


def _metrics_of(program: tasks.Program) -> str:
    return tasks.written_text(program.here("/output") / "metrics.json")
