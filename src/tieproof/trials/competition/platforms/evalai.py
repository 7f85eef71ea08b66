"""EvalAI: a bundle for it, and its bundles run as its workers run them."""

import shutil
from datetime import datetime
from functools import partial
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any
from zipfile import ZipFile, ZipInfo

from tieproof.trials.competition import texts
from tieproof.trials.competition.hosting import Hosted, HostedPhase
from tieproof.trials.competition.inspection.tasks import (
    Program,
    Task,
    Unpacker,
    files_by_name,
    most_submissions,
    part_of,
)
from tieproof.trials.competition.platforms.files import (
    Files,
    as_yaml,
    baseline_of,
    columns_of,
    logo,
    logo_name,
    pages,
    printed_numbers,
    public_files,
    read_yaml,
    starting_kit,
)
from tieproof.trials.competition.scoring import TRUTH

PAGES = {
    "description": "overview",
    "evaluation_details": "evaluation",
    "submission_guidelines": "data",
    "terms_and_conditions": "terms",
}
"""The pages, by their keys in the configuration."""

TAKEN = {"embeddings": ".npz, .npy, .csv", "run": ".txt"}
PUBLIC = 3
"""The code for a leaderboard that is visible to everybody."""


def files(settings: Hosted) -> Files:
    """All files of the bundle, by their paths in it."""
    extension = PurePath(TRUTH[settings.scoring.task]).suffix
    requirements = f"{texts.requirement()}\n"
    script = texts.filled("evalai.py.txt", texts.program_values(settings))
    made: Files = {
        "challenge_config.yaml": as_yaml(_challenge(settings)),
        logo_name(settings.platform.logo): settings.platform.logo or logo(),
        "evaluation_script.zip": _zipped({"__init__.py": script, "requirements.txt": requirements.encode()}),
        "remote/evaluate.py": texts.filled("evalai_remote.py.txt", {"extension": extension}),
        "remote/evaluation_script.py": script,
        **pages(settings, "evalai", PAGES.values()),
        **starting_kit(settings, "starting_kit", "evalai"),
    }
    for phase in settings.phases:
        codename = phase.codename
        name, content = baseline_of(settings.scoring, phase)
        made |= {
            f"annotations/{codename}{extension}": phase.content,
            f"remote/annotations/{codename}{extension}": phase.content,
            f"baseline_{codename}/{name}": content,
        }
        made |= public_files(phase, f"public_data_{codename}")
    return made


def _challenge(settings: Hosted) -> dict[str, Any]:
    labels = [key for _, key in columns_of(settings.scoring)]
    places = list(enumerate(settings.phases, 1))
    extension = PurePath(TRUTH[settings.scoring.task]).suffix
    return {
        "title": settings.title,
        "short_description": settings.platform.description or settings.title,
        "image": logo_name(settings.platform.logo),
        **{key: f"pages/{page}.html" for key, page in PAGES.items()},
        "evaluation_script": "evaluation_script.zip",
        "remote_evaluation": True,
        "start_date": _naive(settings.phases[0].start),
        "end_date": _naive(settings.phases[-1].end),
        "published": False,
        "leaderboard": [{"id": 1, "schema": {"labels": labels, "default_order_by": labels[0]}}],
        "challenge_phases": [
            _phase_of(settings, number, phase, f"annotations/{phase.codename}{extension}") for number, phase in places
        ],
        "dataset_splits": [
            {"id": number, "name": phase.name, "codename": phase.codename} for number, phase in places
        ],
        "challenge_phase_splits": [
            {
                "challenge_phase_id": number,
                "leaderboard_id": 1,
                "dataset_split_id": number,
                "visibility": PUBLIC,
                "leaderboard_decimal_precision": settings.scoring.digits,
                "is_leaderboard_order_descending": True,
            }
            for number, _ in places
        ],
    }


def _phase_of(settings: Hosted, number: int, phase: HostedPhase, truth: str) -> dict[str, Any]:
    return {
        "id": number,
        "name": phase.name,
        "description": "pages/overview.html",
        "leaderboard_public": True,
        "is_public": True,
        "is_submission_public": False,
        "start_date": _naive(phase.start),
        "end_date": _naive(phase.end),
        "test_annotation_file": truth,
        "codename": phase.codename,
        "max_submissions_per_day": settings.platform.submissions_per_day,
        "max_submissions_per_month": settings.platform.submissions,
        "max_submissions": settings.platform.submissions,
        "allowed_submission_file_types": TAKEN[settings.scoring.task],
    }


def _naive(when: datetime) -> datetime:
    """A time in UTC as EvalAI reads it, without a zone."""
    return when.replace(tzinfo=None)


def _zipped(files: dict[str, bytes]) -> bytes:
    """An archive of files; the same files give the same bytes."""
    written = BytesIO()
    with ZipFile(written, "w") as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name), content)
    return written.getvalue()


DRIVER = """
import importlib, json, sys
truth, submission, codename, packages = sys.argv[1:]
sys.path.insert(0, packages)
evaluate = importlib.import_module("challenge_1").evaluate
found = evaluate(truth, submission, codename, submission_metadata={})
print()
print(found.get("submission_result"))
print(json.dumps(list(found["result"][0].values())[0], default=float))
"""
"""Calls evaluate(truth, submission, codename, submission_metadata=…) of challenge_1; prints what participants see of
its answer, the numbers in the last line."""

PACKAGES = "/challenge_data"
TRUTH_FOLDER, SUBMISSION = "/challenge_truth", "/challenge_submission"


def tasks(bundle: Path, unpack: Unpacker) -> list[Task]:
    """The phases of challenge_config.yaml."""
    settings = read_yaml(bundle / "challenge_config.yaml")
    package = unpack(part_of(bundle, settings["evaluation_script"]))
    (package / "__init__.py").touch()
    schema = settings["leaderboard"][0]["schema"]
    larger = all(split["is_leaderboard_order_descending"] for split in settings["challenge_phase_splits"])
    return [
        Task(
            str(phase["name"]),
            _sample_of(bundle, phase["codename"]),
            partial(_lay, package, part_of(bundle, phase["test_annotation_file"]), phase["codename"]),
            printed_numbers,
            str(schema["default_order_by"]),
            larger,
            files_by_name([part_of(bundle, f"public_data_{phase['codename']}")]),
            TRUTH_FOLDER,
            # It shows the result and what the script printed, but `submission_metadata` to the organizer alone.
            lambda program, run: f"{run.out}\n{run.err}",
            most_submissions(phase),
        )
        for phase in settings["challenge_phases"]
    ]


def _sample_of(bundle: Path, codename: str) -> Path | None:
    """The baseline that `new` writes; None if the bundle has none."""
    sample = part_of(bundle, f"baseline_{codename}")
    return sample if sample.is_dir() else None


def _lay(package: Path, truth: Path, codename: str, room: Path, submission: Path, place: str) -> Program:
    """The folders of a run; the submission is in a separate folder."""
    shutil.copytree(package, room / "packages" / "challenge_1")
    (room / "truth").mkdir()
    shutil.copyfile(truth, room / "truth" / truth.name)
    shutil.move(submission, room / "submission")
    (room / "work").mkdir()
    command = ["python3", "-c", DRIVER, f"{TRUTH_FOLDER}/{truth.name}", f"{SUBMISSION}/{place}", codename, PACKAGES]
    folders = {
        PACKAGES: room / "packages",
        TRUTH_FOLDER: room / "truth",
        SUBMISSION: room / "submission",
        "/challenge_work": room / "work",
    }
    return Program(command, folders, "/challenge_work")
