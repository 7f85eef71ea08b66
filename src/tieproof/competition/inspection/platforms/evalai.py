"""Bundles for EvalAI, run as its workers run them.

As in the submission worker of https://github.com/Cloud-CV/EvalAI (commit 0f040392), the archive of the script becomes
a package, whose `evaluate` is called with the paths of the truth and of the submitted file.
"""

import json
import shutil
import zipfile
from functools import partial
from pathlib import Path

from tieproof.competition.inspection.platforms.drivers import EVALAI, last_line
from tieproof.competition.inspection.platforms.yaml_files import read_yaml
from tieproof.competition.inspection.process import Ended, Layout
from tieproof.competition.inspection.tasks import Numbers, Task, as_numbers, files_by_name, part_of
from tieproof.errors import InputError

PACKAGES = "/challenge_data"
TRUTH, SUBMISSION = "/challenge_truth", "/challenge_submission"


def tasks(bundle: Path, room: Path) -> list[Task]:
    """The phases of challenge_config.yaml."""
    config = bundle / "challenge_config.yaml"
    found = read_yaml(config)
    try:
        package = room / "challenge_1"
        with zipfile.ZipFile(part_of(bundle, found["evaluation_script"])) as archive:
            archive.extractall(package)
        (package / "__init__.py").touch()
        schema = found["leaderboard"][0]["schema"]
        larger = all(split["is_leaderboard_order_descending"] for split in found["challenge_phase_splits"])
        return [
            Task(
                str(phase["name"]),
                sample_of(bundle, phase["codename"]),
                partial(lay, package, part_of(bundle, phase["test_annotation_file"]), phase["codename"]),
                numbers,
                str(schema["default_order_by"]),
                larger,
                files_by_name([part_of(bundle, f"public_data_{phase['codename']}")]),
                TRUTH,
                shown,
                phase.get("max_submissions"),
            )
            for phase in found["challenge_phases"]
        ]
    except (KeyError, IndexError, TypeError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{config} is not as EvalAI expects it: {error!r}.") from error


def sample_of(bundle: Path, codename: str) -> Path | None:
    """The baseline that `new` writes; None if the bundle has none."""
    sample = part_of(bundle, f"baseline_{codename}")
    return sample if sample.is_dir() else None


def lay(package: Path, truth: Path, codename: str, room: Path, submission: Path, place: str) -> Layout:
    """The folders of a run; the submission is in a separate folder."""
    shutil.copytree(package, room / "packages" / "challenge_1")
    (room / "truth").mkdir()
    shutil.copyfile(truth, room / "truth" / truth.name)
    shutil.move(submission, room / "submission")
    (room / "work").mkdir()
    command = ["python3", "-c", EVALAI, f"{TRUTH}/{truth.name}", f"{SUBMISSION}/{place}", codename, PACKAGES]
    folders = {
        PACKAGES: room / "packages",
        TRUTH: room / "truth",
        SUBMISSION: room / "submission",
        "/challenge_work": room / "work",
    }
    return Layout(command, folders, "/challenge_work")


def shown(layout: Layout, ended: Ended) -> str:
    """The result, and what the script printed; EvalAI shows `submission_metadata` to the organiser alone."""
    return f"{ended.out}\n{ended.err}"


def numbers(layout: Layout, out: str) -> Numbers:
    """The numbers of the first split."""
    return as_numbers(json.loads(last_line(out)))
