"""Bundles for Grand Challenge, run as in its container, from /input/predictions.json to /output/metrics.json."""

import json
import re
import shutil
from functools import partial
from pathlib import Path

from tieproof.competition.inspection.process import Layout, read_written, refuse_fixed_names
from tieproof.competition.inspection.tasks import Numbers, Task, as_numbers, files_by_name
from tieproof.errors import InputError

TRUTH = "/opt/ml/input/data/ground_truth"
PLAIN = "ground_truth"
OURS = "on_grand_challenge"
"""The function that the program of a bundle calls if `new` made the bundle."""


def tasks(bundle: Path, room: Path) -> list[Task]:
    """A task for each folder of ground truth."""
    truths = sorted(path for path in bundle.glob(f"{PLAIN}*") if path.is_dir())
    if not truths:
        raise InputError(f"{bundle} has no folder {PLAIN} next to its Dockerfile. Put the truth there.")
    within, command = entry_of((bundle / "Dockerfile").read_text(encoding="utf-8"))
    if OURS in (bundle / "evaluate.py").read_text(encoding="utf-8"):
        command += ["/input", "/output", TRUTH]  # replaced by other folders if bubblewrap is missing
    else:
        refuse_fixed_names(bundle, ("/input", "/output", TRUTH))
    return [
        Task(
            truth.name.removeprefix(PLAIN).strip("_") or "all",
            sample_of(bundle, truth.name.removeprefix(PLAIN).strip("_")),
            partial(lay, bundle, truth, within, command),
            numbers,
            key_of(bundle),
            True,
            files_by_name([bundle / f"archive{truth.name.removeprefix(PLAIN)}"]),
        )
        for truth in truths
    ]


def entry_of(dockerfile: str) -> tuple[str, list[str]]:
    r"""The folder and the command of a container.

    >>> entry_of('WORKDIR /opt/app\nENTRYPOINT ["python", "evaluate.py"]')
    ('/opt/app', ['python', 'evaluate.py'])
    """
    folders = re.findall(r"^WORKDIR\s+(\S+)", dockerfile, re.MULTILINE)
    commands = re.findall(r"^(?:ENTRYPOINT|CMD)\s+(\[.*\])", dockerfile, re.MULTILINE)
    if not commands:
        raise InputError('The Dockerfile has no ENTRYPOINT such as ["python", "evaluate.py"]. Add one in this form.')
    return (folders or ["/opt/app"])[-1], json.loads(commands[0])


def sample_of(bundle: Path, name: str) -> Path | None:
    """A sample of an algorithm's outputs, if the bundle has one."""
    places = (bundle / "test" / name / "input", bundle / "test" / "input")
    return next((place for place in places if (place / "predictions.json").is_file()), None)


def key_of(bundle: Path) -> str | None:
    """The name of the number by which submissions are ranked; None if the bundle has no settings of the phase."""
    path = bundle / "phase_settings.json"
    return str(json.loads(path.read_text(encoding="utf-8"))["score_jsonpath"]) if path.is_file() else None


def lay(
    bundle: Path, truth: Path, within: str, command: list[str], room: Path, submission: Path, place: str
) -> Layout:
    """The folders of the container."""
    (room / "program").mkdir()
    for path in bundle.iterdir():
        if path.is_file() and path.suffix in (".py", ".json", ".txt"):
            shutil.copyfile(path, room / "program" / path.name)
    shutil.copytree(truth, room / "truth")
    shutil.move(submission, room / "input")
    (room / "output").mkdir()
    folders = {"/input": room / "input", "/output": room / "output", within: room / "program", TRUTH: room / "truth"}
    return Layout(command, folders, within)


def numbers(layout: Layout, out: str) -> Numbers:
    """The numbers in metrics.json, by their path."""
    return as_numbers(json.loads(read_written(layout.here("/output") / "metrics.json")))
