"""EvalAI: a bundle for it, and its bundles run as its workers run them."""

from pathlib import Path

from tieproof.trials.competition.inspection import tasks
from tieproof.trials.competition.platforms.layout import text

PACKAGES = "/challenge_data"
TRUTH_FOLDER = "/challenge_truth"


def tasks_in(bundle: Path, unpack: tasks.Unpacker) -> list[tasks.Task]:
    """The phases of challenge_config.yaml."""
    settings = tasks.read_yaml(bundle / "challenge_config.yaml")
    package = unpack(tasks.part_of(bundle, settings["evaluation_script"]))
    (package / "__init__.py").touch()
    schema = settings["leaderboard"][0]["schema"]
    larger = all(split["is_leaderboard_order_descending"] for split in settings["challenge_phase_splits"])
    driver, phases = text("evalai_driver.py.txt"), settings["challenge_phases"]
    truths = [tasks.part_of(bundle, phase["test_annotation_file"]) for phase in phases]
    folders: dict[str, Path | None] = {PACKAGES: None, TRUTH_FOLDER: None, "/challenge_work": None}
    return [
        tasks.Task(
            str(phase["name"]),
            _sample_of(bundle, phase["codename"]),
            ["python3", "-c", driver, f"{TRUTH_FOLDER}/{truth.name}", tasks.HANDED_IN, phase["codename"], PACKAGES],
            "/challenge_work",
            folders | {f"{PACKAGES}/challenge_1": package, f"{TRUTH_FOLDER}/{truth.name}": truth},
            "/challenge_submission",
            tasks.printed_numbers,
            str(schema["default_order_by"]),
            larger,
            tasks.files_by_name([tasks.part_of(bundle, f"public_data_{phase['codename']}")]),
            TRUTH_FOLDER,
            # It shows the result and what the script printed, but `submission_metadata` to the organizer alone.
            lambda program, run: f"{run.out}\n{run.err}",
            tasks.most_submissions(phase),
        )
        for phase, truth in zip(phases, truths, strict=True)
    ]


def _sample_of(bundle: Path, codename: str) -> Path | None:
    """The baseline that `new` writes; None if the bundle has none."""
    sample = tasks.part_of(bundle, f"baseline_{codename}")
    return sample if sample.is_dir() else None
