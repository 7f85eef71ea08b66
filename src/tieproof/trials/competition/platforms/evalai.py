"""EvalAI: a bundle for it, and its bundles run as its workers run them."""

import shutil
from functools import partial
from pathlib import Path

from tieproof.trials.competition.inspection.tasks import (
    Program,
    Task,
    Unpacker,
    files_by_name,
    most_submissions,
    part_of,
)
from tieproof.trials.competition.platforms.files import printed_numbers, read_yaml

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
