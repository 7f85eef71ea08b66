"""Grand Challenge: a bundle for it, and its bundles run as in its container."""

import gzip
import json
import re
import shutil
import tarfile
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.schemas import fits
from tieproof.trials.competition import texts
from tieproof.trials.competition.hosting import Hosted, HostedPhase
from tieproof.trials.competition.inspection.tasks import (
    Program,
    Task,
    Unpacker,
    as_numbers,
    files_by_name,
    refuse_fixed_names,
    written_text,
)
from tieproof.trials.competition.platforms.files import (
    WIDTH,
    Files,
    columns_of,
    json_of,
    pages,
    public_files,
    starting_kit,
    text_of,
)
from tieproof.trials.competition.scoring import TRUTH
from tieproof.trials.competition.truth import read_judgments

PAGES = ("overview", "evaluation", "data", "terms")
OUTPUT = {"embeddings": "embedding", "run": "ranking"}
"""The name of an algorithm's output socket, by task."""


def files(settings: Hosted) -> Files:
    """All files of the bundle, by their paths in it."""
    name = TRUTH[settings.scoring.task]
    made: Files = {
        "Dockerfile": texts.filled("grand_challenge_Dockerfile.txt", texts.program_values(settings)),
        "evaluate.py": texts.filled("grand_challenge.py.txt", texts.program_values(settings)),
        "phase_settings.json": json.dumps(_phase_settings(settings), indent=4).encode(),
        **pages(settings, "grand-challenge", PAGES),
        **starting_kit(settings, "starting_kit", "grand-challenge"),
    }
    for phase in settings.phases:
        codename, truth = phase.codename, phase.content
        made[f"ground_truth_{codename}/{name}"] = truth
        made[f"ground_truth_{codename}.tar.gz"] = _packed(name, truth)
        made |= {f"test/{codename}/input/{path}": content for path, content in _jobs_of(settings, phase).items()}
        made |= public_files(phase, f"archive_{codename}")
    return made


def _phase_settings(settings: Hosted) -> dict[str, Any]:
    """The values to enter in the settings of each phase, by the platform's names."""
    first, *further = columns_of(settings.scoring)
    return {
        "score_title": first.title,
        "score_jsonpath": f"aggregates.{first.key}",
        "score_default_sort": "desc",
        "score_decimal_places": settings.scoring.digits,
        "extra_results_columns": [
            {"path": f"aggregates.{key}", "order": "desc", "title": title, "exclude_from_ranking": True}
            for title, key in further
        ],
        "display_all_metrics": False,
    }


def _jobs_of(settings: Hosted, phase: HostedPhase) -> dict[str, bytes]:
    """The container's input if an algorithm answered at random, to try the container, and for `check`."""
    random, output = np.random.default_rng(0), OUTPUT[settings.scoring.task]
    answers: dict[str, Any]
    if settings.scoring.task == "run":
        judged = read_judgments(phase.judged)
        documents = sorted({document for grades in judged.values() for document in grades})
        answers = {
            query: dict(zip(documents, random.random(len(documents)).tolist(), strict=True)) for query in judged
        }
    else:
        rows = random.normal(size=(len(phase.ids), WIDTH)).tolist()
        answers = dict(zip(phase.ids, rows, strict=True))
    outputs, jobs = {}, []
    for number, (name, answer) in enumerate(answers.items()):
        pk = f"job-{number:05}"
        jobs.append(_job(pk, name, output))
        outputs[f"{pk}/output/{output}.json"] = json.dumps(answer).encode()
    return {"predictions.json": json.dumps(jobs, indent=4).encode(), **outputs}


def _job(pk: str, name: str, output: str) -> dict[str, Any]:
    """A job in predictions.json, with only the keys that an evaluation reads."""
    return {
        "pk": pk,
        "inputs": [{"interface": {"slug": "item"}, "file": None, "image": {"name": f"{name}.mha"}, "value": None}],
        "outputs": [{"interface": {"slug": output, "relative_path": f"{output}.json"}, "file": None, "image": None}],
        "status": "Succeeded",
    }


def _packed(name: str, content: bytes) -> bytes:
    """A compressed tarball of one file; the same content gives the same bytes."""
    written = BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, BytesIO(content))
    return gzip.compress(written.getvalue(), mtime=0)


TRUTH_FOLDER = "/opt/ml/input/data/ground_truth"
PLAIN = "ground_truth"
OURS = "on_grand_challenge"
"""The function that the program of a bundle calls if `new` made the bundle."""


def tasks(bundle: Path, unpack: Unpacker) -> list[Task]:
    """A task for each folder of ground truth."""
    truths = sorted(path for path in bundle.glob(f"{PLAIN}*") if path.is_dir())
    if not truths:
        raise InputError(f"{bundle} has no folder {PLAIN} next to its Dockerfile. Put the truth there.")
    within, command = _entry_of(text_of(bundle / "Dockerfile"))
    if OURS in text_of(bundle / "evaluate.py"):
        command += ["/input", "/output", TRUTH_FOLDER]  # replaced by other folders if bubblewrap is missing
    else:
        refuse_fixed_names(bundle, ("/input", "/output", TRUTH_FOLDER))
    path = bundle / "phase_settings.json"
    key = str(json_of(path)["score_jsonpath"]) if path.is_file() else None
    return [
        Task(
            truth.name.removeprefix(PLAIN).strip("_") or "all",
            _sample_of(bundle, truth.name.removeprefix(PLAIN).strip("_")),
            partial(_lay, bundle, truth, within, command),
            lambda program, out: as_numbers(json.loads(_metrics_of(program))),
            key,
            True,
            files_by_name([bundle / f"archive{truth.name.removeprefix(PLAIN)}"]),
            TRUTH_FOLDER,
            lambda program, run: _metrics_of(program),  # printed text is shown to the organizer alone
        )
        for truth in truths
    ]


def _entry_of(dockerfile: str) -> tuple[str, list[str]]:
    r"""The folder and the command of a container.

    >>> _entry_of('WORKDIR /opt/app\nENTRYPOINT ["python", "evaluate.py"]')
    ('/opt/app', ['python', 'evaluate.py'])
    """
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


def _lay(
    bundle: Path, truth: Path, within: str, command: list[str], room: Path, submission: Path, place: str
) -> Program:
    (room / "program").mkdir()
    for path in bundle.iterdir():
        if path.is_file() and path.suffix in (".py", ".json", ".txt"):
            shutil.copyfile(path, room / "program" / path.name)
    shutil.copytree(truth, room / "truth")
    shutil.move(submission, room / "input")
    (room / "output").mkdir()
    folders = {
        "/input": room / "input",
        "/output": room / "output",
        within: room / "program",
        TRUTH_FOLDER: room / "truth",
    }
    return Program(command, folders, within)


def _metrics_of(program: Program) -> str:
    return written_text(program.here("/output") / "metrics.json")
