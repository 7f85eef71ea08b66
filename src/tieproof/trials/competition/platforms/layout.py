"""The writer of bundles: the table of a platform names the files, and its template the settings; both are in texts/.

A template is JSON. A text that is only `$name` becomes the value of that name, of any type, and a key whose value is
`ABSENT` is left out; in other texts and in paths, each `$name` is replaced. {"for each of": …, "write": …} is a list.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from html import escape
from io import BytesIO
from pathlib import Path, PurePath
from string import Template
from typing import Any, NamedTuple
from zipfile import ZipFile, ZipInfo

import numpy as np

from tieproof import __version__
from tieproof.data import load_digits
from tieproof.errors import InputError, import_extra
from tieproof.evaluation.result import flat_name
from tieproof.kit import Array
from tieproof.trials.competition.hosting import Hosted, HostedPhase
from tieproof.trials.competition.scoring import SHOWN, TRUTH, Scoring
from tieproof.trials.competition.truth import Truth, read_judgments, table

TAKEN = {"embeddings": ".npz, .npy, .csv", "run": ".txt"}  # the extensions of submissions, by task
LOGO = "logo.png"
TEXTS = Path(__file__).parents[1] / "texts"  # the folder of the templates of pages and programs
ABSENT = object()
SAMPLE_ITEMS = 100  # of the starting kit
WIDTH = 16  # the number of dimensions of random vectors
LISTED = 100  # the number of documents that a random run lists for each query
Files = dict[str, bytes | Path]  # the files of a bundle: for each path its content, or a file or folder to copy there


def text(name: str) -> str:
    """The text of a file in texts/."""
    return (TEXTS / name).read_text(encoding="utf-8")


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
            "logo": f"logo{(platform.logo or TEXTS / LOGO).suffix.lower()}",
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
    plan = BundlePlan(settings, platform, json.loads(text(f"{platform}.json")))
    makers, values = {**MAKERS, **(own or {})}, plan.values
    tables = [(phase, plan.content["files of a phase"]) for phase in settings.phases]
    made: Files = {}
    for phase, paths in [(settings.phases[0], plan.content["files"]), *tables]:
        for template, what in paths.items():
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
    yaml = import_extra("yaml", "Writing a bundle", "competition")
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
    return text.encode()


def _page(plan: BundlePlan, phase: HostedPhase, path: str, word: str) -> bytes | Path:
    """A page of a platform; the organizer's own terms replace ours."""
    name = PurePath(path).stem
    if name == "terms" and plan.settings.platform.terms is not None:
        return plan.settings.platform.terms
    return _filled_page(name, _fillings(plan))


def _program(plan: BundlePlan, phase: HostedPhase, path: str, name: str) -> bytes:
    return _filled(name, _fillings(plan))


def _package(plan: BundlePlan, phase: HostedPhase, path: str, name: str) -> bytes:
    """An archive of a program and its requirements; the same files give the same bytes."""
    written = BytesIO()
    with ZipFile(written, "w") as archive:
        archive.writestr(ZipInfo("__init__.py"), _program(plan, phase, path, name))
        archive.writestr(ZipInfo("requirements.txt"), f"{_requirement()}\n")
    return written.getvalue()


def _fillings(plan: BundlePlan) -> dict[str, str]:
    """The values of the names in the templates of pages and programs."""
    settings, scoring, said = plan.settings, plan.settings.scoring, tomllib.loads(text("sentences.toml"))
    names, truth = scoring._asdict(), settings.phases[0].truth
    kind = "gallery" if truth and truth.roles else scoring.task
    groups = said["groups"] if truth and truth.groups else ""
    file = said["files"][scoring.task].format(**names)
    return {
        "title": settings.title,
        "description": settings.platform.description or settings.title,
        "organizer": settings.platform.organizer or "the organizer of this page",
        "contact": settings.platform.contact or "the forum of the competition",
        "phases": "; ".join(
            f"{phase.name}, {phase.start:%Y-%m-%d %H:%M} to {phase.end:%Y-%m-%d %H:%M}" for phase in settings.phases
        ),
        "measures": ", ".join(scoring.measures),
        "first": scoring.measures[0],
        "submissions": f"{settings.platform.submissions:,}",
        "per_day": f"{settings.platform.submissions_per_day:,}",
        "seconds": f"{settings.platform.seconds:,}",
        "digits": str(scoring.digits),
        "requirement": _requirement(),
        "asked": said["asked"][kind],
        "how": said["how"][kind].format(**names) + groups,
        "hand_in": said["hand_in"][plan.platform][scoring.task].format(**names, file=file),
        "refused": said["refused"][scoring.task],
        "kit": said["kit"][scoring.task],
        "title_in_python": repr(settings.title),
        # a line for each argument
        "scoring": "Scoring(\n" + "".join(f"    {name}={value!r},\n" for name, value in names.items()) + ")",
        "extension": Path(TRUTH[scoring.task]).suffix,
        "version": __version__,
    }


def _requirement() -> str:
    """The requirement for pip: this version of tieproof if it is a published one, otherwise any version."""
    return f"tieproof=={__version__}" if re.fullmatch(r"[\d.]+", __version__) else "tieproof"


def _filled_page(name: str, values: Mapping[str, str]) -> bytes:
    """A page in HTML; all values are escaped, so that a browser shows them as text."""
    return _filled(f"{name}.html", {key: escape(value) for key, value in values.items()})


def _filled(name: str, values: Mapping[str, str]) -> bytes:
    """The text of a template in texts/, with its `$names` replaced by values."""
    return Template(text(name)).substitute(values).encode()


def _starting_kit(plan: BundlePlan) -> Files:
    """The files of the starting kit, by their paths in its folder."""
    settings, values = plan.settings, _fillings(plan)
    files: Files = {
        "score.py": _filled("codabench.py.txt", values),
        "evaluation.html": _filled_page("evaluation", values),
        "data.html": _filled_page("data", values),
    }
    files |= {f"sample/{name}": content for name, content in _sample_of(settings.scoring).items()}
    if settings.scoring.task == "embeddings":
        for phase in settings.phases:  # the ids in the order of the rows of an .npy
            files[f"ids_{phase.codename}.txt"] = "".join(f"{each}\n" for each in phase.ids).encode()
    return files


def _sample_of(scoring: Scoring) -> Mapping[str, bytes]:
    """A sample submission and its truth, in the folders of the scoring program, and the items of the sample."""
    if scoring.task == "run":
        return {
            "input/ref/qrels.txt": b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n",
            "input/res/run.txt": b"q1 Q0 d1 1 0.5 sample\nq1 Q0 d2 2 0.5 sample\nq2 Q0 d3 1 0.9 sample\n",
            "output/.keep": b"",
        }
    pixels, digits = load_digits()
    pixels = pixels[:SAMPLE_ITEMS]
    names = [sha256(f"sample {at}".encode()).hexdigest()[:12] for at in range(SAMPLE_ITEMS)]
    labels = Truth(tuple(names), tuple(map(str, digits[:SAMPLE_ITEMS].tolist()))).in_order()
    bright = (pixels > pixels.mean(axis=1, keepdims=True)).astype(np.float32)
    rows = [(name, *map(int, row)) for name, row in zip(names, pixels, strict=True)]
    return {
        "items.csv": table([("id", *range(pixels.shape[1])), *rows]).encode(),
        "input/ref/labels.csv": labels.to_csv().encode(),
        "input/res/embeddings.npz": _archive(names, bright),
        "output/.keep": b"",
    }


def _archive(ids: Sequence[str], vectors: Array) -> bytes:
    """A submission as an .npz; the same numbers give the same bytes."""
    written = BytesIO()
    np.savez(written, ids=np.array(ids, dtype=np.str_), embeddings=vectors)
    return written.getvalue()


def baseline_of(scoring: Scoring, phase: HostedPhase) -> tuple[str, bytes]:
    """The name and the content of a submission to a phase: the organizer's, or random numbers."""
    if phase.baseline is not None:
        name = "run.txt" if scoring.task == "run" else f"embeddings{phase.baseline.suffix.lower()}"
        return name, phase.baseline.read_bytes()
    random = np.random.default_rng(0)
    if scoring.task == "run":
        return "run.txt", _random_run(phase.judged, random)
    ids = phase.ids
    return "embeddings.npz", _archive(ids, random.normal(size=(len(ids), WIDTH)).astype(np.float32))


def _random_run(qrels: Path, random: np.random.Generator) -> bytes:
    """A run with random scores, for each query for at most `LISTED` of all judged documents."""
    judged = read_judgments(qrels)
    documents = sorted({document for query in judged.values() for document in query})
    lines = []
    for query in sorted(judged):
        chosen = random.permutation(len(documents))[:LISTED]
        ranked = enumerate(zip(chosen, np.sort(random.random(len(chosen)))[::-1].tolist(), strict=True), 1)
        lines += [f"{query} Q0 {documents[at]} {rank} {score} random\n" for rank, (at, score) in ranked]
    return "".join(lines).encode()


LONGEST = 36  # the most characters of a column's title and key on Codabench


def columns_of(scoring: Scoring) -> list[tuple[str, str]]:
    """The title and the key of each column in order; submissions are ranked by the first one."""
    columns = []
    for place, measure in enumerate(scoring.measures):
        for bound in SHOWN if place == 0 else SHOWN[:1]:
            column = f"{measure} {bound}", f"{flat_name(measure)}_{bound}"
            if max(map(len, column)) > LONGEST:
                raise InputError(
                    f"'{column[0]}' is longer than the {LONGEST} characters of a column's title or key. Give the "
                    "measure a shorter name, or leave it out.",
                    "measures",
                )
            columns.append(column)
    return columns


MAKERS: dict[str, Maker] = {
    "written": _written,
    "page": _page,
    "program": _program,
    "package": _package,
    "logo": lambda plan, *_: plan.settings.platform.logo or TEXTS / LOGO,
    "kit": lambda plan, *_: _starting_kit(plan),
    "truth": lambda plan, phase, *_: phase.content,
    "baseline": lambda plan, phase, *_: dict([baseline_of(plan.settings.scoring, phase)]),
    "public": lambda plan, phase, *_: {place.name: place for place in phase.public},
}
"""What makes the files of several platforms."""
