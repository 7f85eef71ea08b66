"""The writer of bundles: the table of a platform names the files, and its template the settings; both are in texts/.

A template is JSON. A text that is only `$name` becomes the value of that name, of any type, and a key whose value is
`ABSENT` is left out; in other texts and in paths, each `$name` is replaced. {"for each of": …, "write": …} is a list.
"""

import json
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path, PurePath
from string import Template
from typing import Any, NamedTuple
from zipfile import ZipFile, ZipInfo

from tieproof.errors import library
from tieproof.trials.competition import texts
from tieproof.trials.competition.hosting import Hosted, HostedPhase
from tieproof.trials.competition.platforms.files import Files, baseline_of, columns_of, starting_kit
from tieproof.trials.competition.scoring import TRUTH

TAKEN = {"embeddings": ".npz, .npy, .csv", "run": ".txt"}  # the extensions of submissions, by task
LOGO = "logo.png"
ABSENT = object()


class BundlePlan(NamedTuple):
    """A bundle to write: the settings, the platform, and its tables and templates."""

    settings: Hosted
    platform: str
    content: Mapping[str, Any]

    @property
    def values(self) -> dict[str, Any]:
        """The values of the names in paths and templates."""
        hosted, platform = self.settings, self.settings.platform
        truth = TRUTH[hosted.scoring.task]
        return platform._asdict() | {
            "title": hosted.title,
            "short_description": platform.description or hosted.title,
            "contact": platform.contact or None,
            "logo": f"logo{(platform.logo or texts.path(LOGO)).suffix.lower()}",
            "truth": truth,
            "extension": PurePath(truth).suffix,
            "taken": TAKEN[hosted.scoring.task],
            "first_time": hosted.phases[0].start.replace(tzinfo=None),
            "last_time": hosted.phases[-1].end.replace(tzinfo=None),
            "phases": [_values_of(at, phase) for at, phase in enumerate(hosted.phases)],
        }


# Makes what is at a path: content, a file or folder to copy, or the files of a folder; the last argument is the word
# after the maker's name. Only the files of a phase read the phase.
Maker = Callable[[BundlePlan, HostedPhase, str, str], bytes | Path | Files]


def bundle_of(platform: str, settings: Hosted, own: Mapping[str, Maker] | None = None) -> Files:
    """All files of a bundle, by their paths in it; `own` makes those that only this platform has."""
    plan = BundlePlan(settings, platform, json.loads(texts.read(f"{platform}.json")))
    makers, values = {**MAKERS, **(own or {})}, plan.values
    tables = [(phase, plan.content["files of a phase"]) for phase in settings.phases]
    made: Files = {}
    for phase, table in [(settings.phases[0], plan.content["files"]), *tables]:
        for template, what in table.items():
            path = Template(template).substitute(values, codename=phase.codename)
            name, _, word = what.partition(" ")
            content = makers[name](plan, phase, path, word)
            if isinstance(content, dict):
                made |= {f"{path}/{each}": one for each, one in content.items()}
            else:
                made[path] = content
    return made


def _values_of(at: int, phase: HostedPhase) -> dict[str, Any]:
    """The values of a phase; EvalAI reads times without a zone, and Codabench texts: it drops their hours in YAML."""
    return {
        "at": at,
        "number": at + 1,
        "phase": phase.name,
        "codename": phase.codename,
        "start": f"{phase.start:%Y-%m-%d %H:%M:%S}",
        "end": f"{phase.end:%Y-%m-%d %H:%M:%S}",
        "start_time": phase.start.replace(tzinfo=None),
        "end_time": phase.end.replace(tzinfo=None),
        "public_data": f"public_data_{phase.codename}/" if phase.public else ABSENT,
    }


def _laid_out(template: Any, values: Mapping[str, Any]) -> Any:
    """A template with values in place of names."""
    match template:
        case str() if template[:1] == "$" and template[1:] in values:
            return values[template[1:]]
        case str():
            return Template(template).substitute(values)
        case {"for each of": str(name), "write": one}:
            return [_laid_out(one, {**values, **each}) for each in values[name]]
        case dict():
            pairs = {key: _laid_out(value, values) for key, value in template.items()}
            return {key: value for key, value in pairs.items() if value is not ABSENT}
        case list():
            return [_laid_out(each, values) for each in template]
    return template


def _written(plan: BundlePlan, phase: HostedPhase, path: str, key: str) -> bytes:
    """A template of the platform as YAML or JSON."""
    named = columns_of(plan.settings.scoring)
    columns = [{"at": at, "column": title, "key": name} for at, (title, name) in enumerate(named)]
    first = {"first_column": columns[0]["column"], "first_key": columns[0]["key"]}
    values = plan.values | first | {"columns": columns, "further_columns": columns[1:]}
    content = _laid_out(plan.content[key], values)
    if not path.endswith(".yaml"):
        return json.dumps(content, indent=4).encode()
    yaml = library("yaml", "Writing a bundle", "competition")
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
    return text.encode()


def _page(plan: BundlePlan, phase: HostedPhase, path: str, word: str) -> bytes | Path:
    """A page of a platform; the organizer's own terms replace ours."""
    name = PurePath(path).stem
    if name == "terms" and plan.settings.platform.terms is not None:
        return plan.settings.platform.terms
    return texts.page(name, texts.fillings(plan.settings, plan.platform))


def _program(plan: BundlePlan, phase: HostedPhase, path: str, name: str) -> bytes:
    return texts.filled(name, texts.fillings(plan.settings, plan.platform))


def _package(plan: BundlePlan, phase: HostedPhase, path: str, name: str) -> bytes:
    """An archive of a program and its requirements; the same files give the same bytes."""
    written = BytesIO()
    with ZipFile(written, "w") as archive:
        archive.writestr(ZipInfo("__init__.py"), _program(plan, phase, path, name))
        archive.writestr(ZipInfo("requirements.txt"), f"{texts.requirement()}\n")
    return written.getvalue()


MAKERS: dict[str, Maker] = {
    "written": _written,
    "page": _page,
    "program": _program,
    "package": _package,
    "logo": lambda plan, *_: plan.settings.platform.logo or texts.path(LOGO),
    "kit": lambda plan, *_: starting_kit(plan.settings, plan.platform),
    "truth": lambda plan, phase, *_: phase.content,
    "baseline": lambda plan, phase, *_: dict([baseline_of(plan.settings.scoring, phase)]),
    "public": lambda plan, phase, *_: {place.name: place for place in phase.public},
}
"""What makes the files of several platforms."""
