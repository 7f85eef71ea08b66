"""Codabench: a bundle for it, and its bundles run as its worker runs them."""

import json
import shlex
import shutil
import zipfile
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from tieproof.competition import texts
from tieproof.competition.hosting import Hosted, HostedPhase
from tieproof.competition.inspection.process import Ended, Layout, refuse_fixed_names
from tieproof.competition.inspection.tasks import Numbers, Task, as_numbers, files_by_name, part_of, written_text
from tieproof.competition.kit import Files, baseline_of, fillings, handed_out, kit_files, program_values
from tieproof.competition.platforms.files import as_yaml, columns_of, logo, logo_name, read_yaml
from tieproof.competition.programs import TRUTH
from tieproof.errors import InputError

PAGES = ("overview", "evaluation", "data")
COMMAND = "python3 /app/program/score.py /app/input /app/output"


def files(settings: Hosted) -> Files:
    """All files of the bundle, by their paths in it."""
    if not settings.platform.image:
        raise InputError(
            "Codabench runs the scoring program in a container image: build one from image/Dockerfile, push it, and "
            "give its name as the key image, such as image = 'docker.io/you/scoring:1'.",
            "image",
        )
    values = fillings(settings, "codabench")
    found: Files = {
        "competition.yaml": as_yaml(competition(settings)),
        logo_name(settings.platform.logo): settings.platform.logo or logo(),
        "pages/terms.html": settings.platform.terms or texts.page("terms", values),
        "scoring_program/score.py": texts.filled("codabench.py.txt", program_values(settings)),
        "scoring_program/metadata.yaml": as_yaml({"command": COMMAND}),
        "image/Dockerfile": texts.filled("Dockerfile.txt", program_values(settings)),
    }
    found |= {f"pages/{name}.html": texts.page(name, values) for name in PAGES}
    found |= kit_files(settings, "starting_kit", "codabench")
    for phase in settings.phases:
        name, content = baseline_of(settings.scoring, phase)
        found[f"baseline_{phase.codename}/{name}"] = content
        found[f"reference_data_{phase.codename}/{TRUTH[settings.scoring.task]}"] = phase.content
        found |= handed_out(phase, f"public_data_{phase.codename}")
    return found


def competition(settings: Hosted) -> dict[str, Any]:
    """The content of competition.yaml."""
    places = list(enumerate(settings.phases))
    return {
        "version": 2,
        "title": settings.title,
        "description": settings.platform.description,
        "image": logo_name(settings.platform.logo),
        "terms": "pages/terms.html",
        "docker_image": settings.platform.image,
        "registration_auto_approve": False,
        "enable_detailed_results": True,
        "make_programs_available": False,
        "make_input_data_available": False,
        "contact_email": settings.platform.contact or None,
        "pages": [{"title": name.title(), "file": f"pages/{name}.html"} for name in PAGES],
        "tasks": [
            {
                "index": at,
                "name": phase.name,
                "scoring_program": "scoring_program/",
                "reference_data": f"reference_data_{phase.codename}/",
            }
            for at, phase in places
        ],
        "solutions": [
            {"index": at, "name": f"Baseline, {phase.name}", "path": f"baseline_{phase.codename}/", "tasks": [at]}
            for at, phase in places
        ],
        "phases": [phase_of(settings, at, phase) for at, phase in places],
        "leaderboards": [
            {
                "title": "Results",
                "key": "main",
                "submission_rule": "Force_Last",
                "columns": [
                    {"title": title, "key": key, "index": at, "sorting": "desc", "precision": settings.scoring.digits}
                    for at, (title, key) in enumerate(columns_of(settings.scoring))
                ],
            }
        ],
    }


def phase_of(settings: Hosted, at: int, phase: HostedPhase) -> dict[str, Any]:
    """A phase with its task. Times are texts, because Codabench drops the hours of YAML timestamps."""
    found = {
        "index": at,
        "name": phase.name,
        "start": moment(phase.start),
        "end": moment(phase.end),
        "max_submissions": settings.platform.submissions,
        "max_submissions_per_day": settings.platform.submissions_per_day,
        "execution_time_limit": settings.platform.seconds,
        "starting_kit": "starting_kit/",
        "tasks": [at],
    }
    return found | ({"public_data": f"public_data_{phase.codename}/"} if phase.public else {})


def moment(when: datetime) -> str:
    """A time in UTC as Codabench reads it."""
    return f"{when:%Y-%m-%d %H:%M:%S}"


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


def tasks(bundle: Path, room: Path) -> list[Task]:
    """The tasks of competition.yaml, each with the name of the first phase that has it."""
    found = read_yaml(bundle / "competition.yaml")
    try:
        column = ranking(found)
        return [task_of(bundle, room, found, task, column) for task in found["tasks"]]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError(f"{bundle}/competition.yaml is not as Codabench expects it: {error!r}.") from error


def ranking(found: dict[str, Any]) -> dict[str, Any]:
    """The column by which submissions are ranked."""
    board = found["leaderboards"][0]
    columns = sorted(board["columns"], key=lambda column: column["index"])
    first = board.get("primary_index", 0)
    return next((column for column in columns if column["index"] == first), columns[0])


def task_of(bundle: Path, room: Path, found: dict[str, Any], task: dict[str, Any], column: dict[str, Any]) -> Task:
    """A task of competition.yaml."""
    index = task["index"]
    phases = [phase for phase in found["phases"] if index in phase["tasks"]]
    name = str(phases[0]["name"] if phases else task.get("name", index))
    program = unpacked(part_of(bundle, task["scoring_program"]), room / f"program_{index}")
    refuse_fixed_names(program, ("/app/",))
    reference = task.get("reference_data")
    truth = unpacked(part_of(bundle, reference), room / f"truth_{index}") if reference else None
    samples = [each["path"] for each in found.get("solutions") or () if index in each["tasks"] and "path" in each]
    sample = unpacked(part_of(bundle, samples[0]), room / f"sample_{index}") if samples else None
    handed = [part_of(bundle, phase["public_data"]) for phase in phases if "public_data" in phase]
    public = [unpacked(each, room / f"public_{index}") for each in handed]
    return Task(
        name,
        sample,
        partial(lay, program, truth, command_of(program)),
        numbers,
        str(column["key"]),
        column.get("sorting", "desc") == "desc",
        files_by_name(public),
        "/app/input/ref",
        shown,
        phases[0].get("max_submissions") if phases else None,
    )


def unpacked(place: Path, folder: Path) -> Path:
    """A folder of the bundle; an archive is unpacked into `folder`."""
    if not place.exists():
        raise InputError(f"{place} is named in competition.yaml, but does not exist. Add it to the bundle.")
    if place.is_file() and zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as archive:
            archive.extractall(folder)
        return folder
    return place


def command_of(program: Path) -> list[str]:
    """The command of a scoring program."""
    for name in METADATA:
        if (program / name).is_file():
            command = str(read_yaml(program / name).get("command", ""))
            for old, new in OLD_NAMES.items():
                command = command.replace(old, new)
            if command:
                return shlex.split(command)
    raise InputError(f"{program} has no metadata.yaml with a command. Add it, or Codabench runs nothing.")


def lay(program: Path, truth: Path | None, command: list[str], room: Path, submission: Path, place: str) -> Layout:
    """The folders of a scoring run; an archive that was handed in as a file is not unpacked."""
    shutil.copytree(program, room / "program")
    shutil.copytree(submission, room / "input" / "res", copy_function=linked)
    if truth is not None:
        shutil.copytree(truth, room / "input" / "ref")
    for name in ("output", "shared"):
        (room / name).mkdir()
    folders = {f"/app/{name}": room / name for name in ("program", "input", "output", "shared")}
    return Layout(command, folders, "/app/program")


def linked(source: str, target: str) -> None:
    """Move a file, because copying a giant file would use its whole size."""
    shutil.move(source, target)


def shown(layout: Layout, ended: Ended) -> str:
    """What the program printed, and the files in its output folder, all of which participants can download.

    Links are left out: the program cannot read what they lead to here.
    """
    found = layout.here("/app/output").rglob("*")
    files = sorted(path for path in found if path.is_file() and not path.is_symlink())
    return "\n".join([ended.out, ended.err, *(path.read_text("utf-8", "replace") for path in files)])


def numbers(layout: Layout, out: str) -> Numbers:
    """The scores that the program wrote, in scores.json or as lines of scores.txt."""
    output = layout.here("/app/output")
    if (output / "scores.json").is_file():
        return as_numbers(json.loads(written_text(output / "scores.json")))
    lines = written_text(output / "scores.txt").splitlines()
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {key.strip(): float(value) for key, _, value in pairs}
