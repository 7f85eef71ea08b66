"""Codabench: a bundle for it, and its bundles run as its worker runs them."""

import json
import shlex
import zipfile
from pathlib import Path
from typing import Any

from tieproof.errors import InputError
from tieproof.trials.competition.hosting import Hosted
from tieproof.trials.competition.inspection import tasks
from tieproof.trials.competition.platforms.layout import Files, bundle_of


def files(settings: Hosted) -> Files:
    """All files of the bundle, by their paths in it."""
    if not settings.platform.image:
        raise InputError(
            "Codabench runs the scoring program in a container image: build one from image/Dockerfile, push it, and "
            "give its name as the key image, such as image = 'docker.io/you/scoring:1'.",
            "image",
        )
    return bundle_of("codabench", settings)


OLD_NAMES = {
    "$input": "/app/input",
    "$output": "/app/output",
    "$program": "/app/program",
    "$hidden": "/app/input/ref",
    "$shared": "/app/shared",
    "$tmp": "/app/output",
    "$predictions": "/app/input/res",
}
"""The names of folders in the commands of older bundles."""

METADATA = ("metadata.yaml", "metadata")


def tasks_in(bundle: Path, unpack: tasks.Unpacker) -> list[tasks.Task]:
    """The tasks of competition.yaml, each with the name of the first phase that has it."""
    settings = tasks.read_yaml(bundle / "competition.yaml")
    board = settings["leaderboards"][0]
    columns = sorted(board["columns"], key=lambda column: column["index"])
    first = board.get("primary_index", 0)
    column = next((column for column in columns if column["index"] == first), columns[0])
    return [_task_of(bundle, unpack, settings, task, column) for task in settings["tasks"]]


def _task_of(
    bundle: Path, unpack: tasks.Unpacker, settings: dict[str, Any], task: dict[str, Any], column: dict[str, Any]
) -> tasks.Task:
    def folder_of(name: str) -> Path:
        """A folder of the bundle; an archive is unpacked."""
        place = tasks.part_of(bundle, name)
        if not place.exists():
            raise InputError(f"{place} is named in competition.yaml, but does not exist. Add it to the bundle.")
        return unpack(place) if place.is_file() and zipfile.is_zipfile(place) else place

    index = task["index"]
    phases = [phase for phase in settings["phases"] if index in phase["tasks"]]
    name = str(phases[0]["name"] if phases else task.get("name", index))
    program = folder_of(task["scoring_program"])
    tasks.refuse_fixed_names(program, ("/app/",))
    reference = task.get("reference_data")
    truth = folder_of(reference) if reference else None
    samples = [each["path"] for each in settings.get("solutions") or () if index in each["tasks"] and "path" in each]
    sample = folder_of(samples[0]) if samples else None
    public = [folder_of(phase["public_data"]) for phase in phases if "public_data" in phase]
    content = {"/app/program": program, "/app/input": None, "/app/output": None, "/app/shared": None}
    return tasks.Task(
        name,
        sample,
        _command_of(program),
        "/app/program",
        content if truth is None else content | {"/app/input/ref": truth},
        "/app/input/res",
        _numbers,
        str(column["key"]),
        column.get("sorting", "desc") == "desc",
        tasks.files_by_name(public),
        "/app/input/ref",
        shown,
        tasks.most_submissions(phases[0]) if phases else None,
    )


def _command_of(program: Path) -> list[str]:
    for name in METADATA:
        if (program / name).is_file():
            command = str(tasks.read_yaml(program / name).get("command", ""))
            for old, new in OLD_NAMES.items():
                command = command.replace(old, new)
            if command:
                return shlex.split(command)
    raise InputError(f"{program} has no metadata.yaml with a command. Add it, or Codabench runs nothing.")


def shown(program: tasks.Program, run: tasks.ProgramRun) -> str:
    """What the program printed, and the files in its output folder, all of which participants can download."""
    return "\n".join([run.out, run.err, *tasks.written_texts(program.here("/app/output"))])


def _numbers(program: tasks.Program, out: str) -> tasks.Numbers:
    """The scores that the program wrote, in scores.json or as lines of scores.txt."""
    output = program.here("/app/output")
    if (output / "scores.json").is_file():
        return tasks.as_numbers(json.loads(tasks.written_text(output / "scores.json")))
    lines = tasks.written_text(output / "scores.txt").splitlines()
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {key.strip(): float(value) for key, _, value in pairs}
