"""The platforms' requirements on bundles, as data from their sources, and the faults of a bundle by these rules."""

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

# https://github.com/codalab/codabench, commit c7dbc756:
# src/apps/competitions/unpackers/v2.py (keys that are read), base_unpacker.py (order of phases, files),
# utils.py (times, folders that are packed), src/apps/api/serializers/leaderboards.py (columns),
# src/apps/competitions/models.py and src/apps/leaderboards/models.py (lengths and choices).
CODABENCH_KEYS = {
    "": "version title logo image terms queue registration_auto_approve docker_image enable_detailed_results "
    "show_detailed_results_in_submission_panel show_detailed_results_in_leaderboard auto_run_submissions "
    "can_participants_make_submissions_public make_programs_available make_input_data_available description "
    "competition_type fact_sheet reward contact_email forum_enabled pages tasks solutions phases leaderboards",
    "pages": "title file",
    "tasks": "index key name description ingestion_only_during_scoring ingestion_program input_data scoring_program "
    "reference_data",
    "solutions": "index key path name description tasks",
    "phases": "index name description start end max_submissions_per_day max_submissions auto_migrate_to_this_phase "
    "hide_output hide_prediction_output hide_score_output tasks execution_time_limit public_data starting_kit",
    "leaderboards": "title key primary_index columns hidden submission_rule",
    "columns": "title key index sorting computation computation_indexes precision hidden",
}
CODABENCH_LENGTHS = {"title": 256, "docker_image": 128}
CODABENCH_COLUMN = 36
CODABENCH_RULES = {
    "Add",
    "Add_And_Delete",
    "Add_And_Delete_Multiple",
    "Force_Last",
    "Force_Latest_Multiple",
    "Force_Best",
}


def codabench_faults(bundle: Path) -> list[str]:
    """The parts of a bundle that Codabench would refuse, overlook or misread."""
    found = yaml.safe_load((bundle / "competition.yaml").read_text(encoding="utf-8"))
    return [*unknown_keys(found), *wrong_files(bundle, found), *wrong_phases(found), *wrong_boards(found)]


def unknown_keys(found: dict[str, Any]) -> Iterator[str]:
    """Keys that the platform does not read."""
    tables = [("", found)] + [
        (name, each) for name in CODABENCH_KEYS for each in found.get(name, ()) if name and name != "columns"
    ]
    tables += [("columns", column) for board in found["leaderboards"] for column in board["columns"]]
    for name, each in tables:
        yield from (f"{name}: unknown {key}" for key in set(each) - set(CODABENCH_KEYS[name].split()))
    if str(found.get("version")) != "2":
        yield "version"
    for key, most in CODABENCH_LENGTHS.items():
        if not 0 < len(found[key]) <= most:
            yield f"{key} is too long or empty"


def wrong_files(bundle: Path, found: dict[str, Any]) -> Iterator[str]:
    """Files and folders that are missing or empty; a folder is packed under the name before its last slash."""
    for place in (found["terms"], *(page["file"] for page in found["pages"])):
        if not (bundle / place).is_file() or not (bundle / place).read_text(encoding="utf-8"):
            yield f"{place} is missing or empty"
    if not (bundle / found["image"]).read_bytes():
        yield "image"
    folders = [task[key] for task in found["tasks"] for key in ("scoring_program", "reference_data")]
    folders += [each["path"] for each in found["solutions"]]
    folders += [phase[key] for phase in found["phases"] for key in ("starting_kit", "public_data") if key in phase]
    for place in folders:
        if not (bundle / place).is_dir() or not any((bundle / place).iterdir()):
            yield f"{place} is missing or empty"
        if not place.endswith("/"):
            yield f"{place} would be packed beside the bundle"
    for task in found["tasks"]:
        metadata = yaml.safe_load((bundle / task["scoring_program"] / "metadata.yaml").read_text(encoding="utf-8"))
        if not metadata["command"]:
            yield "no command"
    if len({task["index"] for task in found["tasks"]}) < len(found["tasks"]):
        yield "two tasks with one index"


def wrong_phases(found: dict[str, Any]) -> Iterator[str]:
    """Phases must follow each other; a time that YAML parses as a time is cut down to its date."""
    phases = sorted(found["phases"], key=lambda phase: int(phase["index"]))
    for phase in phases:
        for key in ("start", "end"):
            if not isinstance(phase[key], str) or not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", phase[key]):
                yield f"{key} of {phase['name']} is read as {phase[key]!r}"
        if not set(phase["tasks"]) <= {task["index"] for task in found["tasks"]}:
            yield "a phase of an unknown task"
    for before, after in pairwise(phases):
        if not str(before["end"]) < str(after["start"]):
            yield "phases overlap"


def wrong_boards(found: dict[str, Any]) -> Iterator[str]:
    """Columns must have different keys and indices, of at most the length that Codabench stores."""
    for board in found["leaderboards"]:
        columns = board["columns"]
        if not columns:
            yield "no columns"
        for key in ("key", "index"):
            if len({column[key] for column in columns}) < len(columns):
                yield f"two columns with one {key}"
        for column in columns:
            if max(len(column["key"]), len(column["title"])) > CODABENCH_COLUMN:
                yield "a column with too long a name"
            if column["sorting"] not in ("asc", "desc"):
                yield "sorting"
        if board["submission_rule"] not in CODABENCH_RULES:
            yield "submission_rule"


# https://github.com/Cloud-CV/EvalAI, commit 0f040392: apps/challenges/challenge_config_utils.py (what is validated),
# apps/challenges/models.py (lengths); scripts/workers/submission_worker.py imports the unpacked archive as a package.
EVALAI_PAGES = ("description", "evaluation_details", "terms_and_conditions", "submission_guidelines")
EVALAI_SPLIT = {
    "is_leaderboard_order_descending",
    "leaderboard_decimal_precision",
    "visibility",
    "dataset_split_id",
    "leaderboard_id",
    "challenge_phase_id",
}
EVALAI_TITLE = 100


def evalai_faults(bundle: Path) -> list[str]:
    """The parts of a bundle that EvalAI would refuse."""
    found = yaml.safe_load((bundle / "challenge_config.yaml").read_text(encoding="utf-8"))
    return [*wrong_challenge(bundle, found), *wrong_challenge_phases(bundle, found), *wrong_splits(found)]


def wrong_challenge(bundle: Path, found: dict[str, Any]) -> Iterator[str]:
    if not 0 < len(found.get("title", "")) <= EVALAI_TITLE:
        yield "title"
    for key in EVALAI_PAGES:
        place = found.get(key) or ""
        if not place.endswith(".html") or not (bundle / place).is_file():
            yield f"{key} is no page"
    script = bundle / str(found.get("evaluation_script"))
    if script.suffix != ".zip" or not zipfile.is_zipfile(script):
        yield "evaluation_script"
    else:
        with zipfile.ZipFile(script) as archive:
            if "__init__.py" not in archive.namelist():
                yield "the package defines nothing"
    if not isinstance(found.get("start_date"), datetime) or not found["start_date"] < found["end_date"]:
        yield "dates"
    if not str(found.get("image")).endswith((".jpg", ".jpeg", ".png")) or not (bundle / found["image"]).is_file():
        yield "image"
    for board in found.get("leaderboard") or [{}]:
        schema = board.get("schema", {})
        if "id" not in board or schema.get("default_order_by") not in schema.get("labels", ()):
            yield "leaderboard"


def wrong_challenge_phases(bundle: Path, found: dict[str, Any]) -> Iterator[str]:
    phases = found.get("challenge_phases") or []
    if not phases or len({phase.get("codename") for phase in phases}) < len(phases):
        yield "codenames"
    for phase in phases:
        if not (bundle / str(phase.get("test_annotation_file"))).is_file():
            yield "test_annotation_file"
        if not phase.get("description") or not phase["start_date"] < phase["end_date"]:
            yield "description or dates"
        if not isinstance(phase.get("max_submissions_per_month"), int):
            yield "max_submissions_per_month"


def wrong_splits(found: dict[str, Any]) -> Iterator[str]:
    splits = found.get("dataset_splits") or []
    if not splits or len({split.get("codename") for split in splits}) < len(splits):
        yield "codenames of splits"
    known = {
        "challenge_phase_id": {phase["id"] for phase in found["challenge_phases"]},
        "leaderboard_id": {board["id"] for board in found["leaderboard"]},
        "dataset_split_id": {split["id"] for split in splits},
    }
    for mapping in found.get("challenge_phase_splits") or [{}]:
        if not set(mapping) >= EVALAI_SPLIT:
            yield "a mapping lacks keys"
        elif any(mapping[key] not in ids for key, ids in known.items()):
            yield "a mapping to what is not there"


# https://github.com/comic/grand-challenge.org, commit 9957bfc2: app/grandchallenge/evaluation/models.py.
GRAND_CHALLENGE_SETTINGS = {
    "score_title",
    "score_jsonpath",
    "score_default_sort",
    "score_decimal_places",
    "extra_results_columns",
    "display_all_metrics",
}
"""Settings of a phase that are entered by hand."""

GRAND_CHALLENGE_COLUMN = {"path", "order", "title", "error_path", "exclude_from_ranking"}
