"""A bundle for Codabench: competition.yaml, and the files that it names.

Interface: documentation and unpackers of https://github.com/codalab/codabench (commit c7dbc756).
"""

from datetime import datetime
from typing import Any

from tieproof.competition import texts
from tieproof.competition.bundles.columns import columns_of
from tieproof.competition.bundles.yaml_text import as_yaml
from tieproof.competition.hosting import Hosted, HostedPhase
from tieproof.competition.kit import Files, baseline_of, handed_out, kit_files
from tieproof.competition.logo import logo, logo_name
from tieproof.competition.programs import TRUTH
from tieproof.competition.words import fillings, program_values
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
