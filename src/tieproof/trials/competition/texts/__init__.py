"""The texts of a bundle: sentences and templates of pages and programs, made from the settings of a competition."""

import re
import tomllib
from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template

from tieproof import __version__
from tieproof.trials.competition.hosting import Hosted
from tieproof.trials.competition.scoring import TRUTH, Scoring


def fillings(settings: Hosted, platform: str) -> dict[str, str]:
    """The values of the names in the templates of pages and programs, for a platform."""
    scoring, names, said = settings.scoring, settings.scoring._asdict(), tomllib.loads(read("sentences.toml"))
    truth = settings.phases[0].truth
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
        "requirement": requirement(),
        "asked": said["asked"][kind],
        "how": said["how"][kind].format(**names) + groups,
        "hand_in": said["hand_in"][platform][scoring.task].format(**names, file=file),
        "refused": said["refused"][scoring.task],
        "kit": said["kit"][scoring.task],
        "title_in_python": repr(settings.title),
        "scoring": _written(scoring),
        "extension": Path(TRUTH[scoring.task]).suffix,
        "version": __version__,
    }


def _written(scoring: Scoring) -> str:
    """The Python expression that makes this scoring, with one line for each argument."""
    arguments = "".join(f"    {name}={value!r},\n" for name, value in scoring._asdict().items())
    return f"Scoring(\n{arguments})"


def requirement() -> str:
    """The requirement for pip: this version of tieproof if it is a published one, otherwise any version."""
    return f"tieproof=={__version__}" if re.fullmatch(r"[\d.]+", __version__) else "tieproof"


def page(name: str, values: Mapping[str, str]) -> bytes:
    """A page in HTML; all values are escaped, so that a browser shows them as text."""
    return filled(f"{name}.html", {key: escape(value) for key, value in values.items()})


def filled(name: str, values: Mapping[str, str]) -> bytes:
    """The text of a template in this folder, with its `$names` replaced by values."""
    return Template(read(name)).substitute(values).encode()


def read(name: str) -> str:
    """The text of a file in this folder."""
    return path(name).read_text(encoding="utf-8")


def path(name: str) -> Path:
    """The path of a file in this folder."""
    return Path(__file__).with_name(name)
