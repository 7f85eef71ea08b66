"""Files of competitions, and bundles, that are refused before anything is written or run."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from refusals.case import Case
from tieproof.trials.competition import check, new

GOOD = {
    "title": '"Letters"',
    "task": '"embeddings"',
    "platform.image": '"docker.io/jane/scoring:1"',
    "phases": '[{name = "Final", start = 2027-01-10, end = 2027-02-10, labels = "labels.csv"}]',
}
LABELS = "id,label\na,1\nb,1\nc,2\n"


def settings(labels: Any = LABELS, platform: Any = "codabench", **changed: Any) -> Callable[[Path], object]:
    """Make a bundle from a file with other keys; None leaves one out."""

    def call(folder: Path) -> object:
        (folder / "labels.csv").write_text(labels)
        (folder / "more.csv").write_text("id,label\nd,1\ne,2\n")
        (folder / "grouped.csv").write_text("id,label,group\nd,1,x\ne,2,y\n")
        for name in ("public", "linked"):
            (folder / name).mkdir(exist_ok=True)
        for place in ("public/x", "x"):
            (folder / place).touch()
        if not (folder / "linked" / "item").is_symlink():
            (folder / "linked" / "item").symlink_to(folder / "labels.csv")
        keys = {name: value for name, value in {**GOOD, **changed}.items() if value is not None}
        (folder / "competition.toml").write_text("".join(f"{name} = {value}\n" for name, value in keys.items()))
        return new(folder / "competition.toml", folder / "bundle", platform=platform)

    return call


def phase(**changed: str) -> str:
    """A list with one phase."""
    given = {"name": '"Final"', "start": "2027-01-10", "end": "2027-02-10", "labels": '"labels.csv"', **changed}
    return "[{" + ", ".join(f"{name} = {value}" for name, value in given.items()) + "}]"


LATER = [
    phase(name='"B"', start="2027-03-01", end="2027-04-01"),
    phase(name='"C"', start="2027-05-01", end="2027-06-01"),
    phase(name='"B"', start="2027-03-01", end="2027-04-01", gallery_labels='"more.csv"'),
]


def no_toml(folder: Path) -> object:
    """Make a bundle from a file that is not valid TOML."""
    (folder / "competition.toml").write_text("title: Letters\n")
    return new(folder / "competition.toml", folder / "bundle")


def twice(folder: Path) -> object:
    """Make a bundle where one exists already."""
    settings()(folder)
    return settings()(folder)


def bundle(files: dict[str, str], **options: object) -> Callable[[Path], object]:
    """Check a bundle of these files."""

    def call(folder: Path) -> object:
        for name, text in files.items():
            place = folder / "bundle" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        (folder / "bundle").mkdir(exist_ok=True)
        return check(folder / "bundle", **options)  # type: ignore[arg-type]

    return call


def linked_bundle(folder: Path) -> object:
    """Check a bundle with a link to a file beside it."""
    (folder / "bundle").mkdir()
    (folder / "bundle" / "labels.csv").symlink_to(folder / "labels.csv")
    return bundle(PROGRAM)(folder)


def bundle_with_a_linked_folder(folder: Path) -> object:
    """Check a bundle with a link to its own folder."""
    (folder / "bundle").mkdir()
    (folder / "bundle" / "again").symlink_to(".")
    return bundle(PROGRAM)(folder)


def deep_bundle(folder: Path) -> object:
    """Check a bundle with a folder in a folder, 102 times."""
    (folder / "bundle" / "/".join("a" * 102)).mkdir(parents=True)
    return bundle(PROGRAM)(folder)


def bundle_with_a_pipe(folder: Path) -> object:
    """Check a bundle with a named pipe."""
    (folder / "bundle").mkdir()
    os.mkfifo(folder / "bundle" / "pipe")
    return bundle(PROGRAM)(folder)


def null_in_a_command(folder: Path) -> object:
    """Check a bundle whose program has an argument that no program can be given."""
    made = settings(platform="grand-challenge")(folder)
    assert isinstance(made, Path)
    (made / "Dockerfile").write_text('ENTRYPOINT ["python", "\\u0000"]')
    return check(made)


def archive_of_many_files(folder: Path) -> object:
    """Check an archive with more files than any bundle has."""
    with ZipFile(folder / "bundle.zip", "w") as archive:
        for number in range(100_001):
            archive.writestr(ZipInfo(f"{number}"), "")
    return check(folder / "bundle.zip")


def damaged_archive(folder: Path) -> object:
    """Check an archive that was cut short."""
    with ZipFile(folder / "bundle.zip", "w") as archive:
        archive.writestr("competition.yaml", "version: 2")
    whole = (folder / "bundle.zip").read_bytes()
    (folder / "bundle.zip").write_bytes(whole[:-10])
    return check(folder / "bundle.zip")


YAML = (
    "tasks: [{index: 0, name: Only, scoring_program: program/}]\nphases: [{name: Only, tasks: [0]}]\n"
    "leaderboards: [{columns: [{key: map, index: 0}]}]\n"
)
PROGRAM = {"competition.yaml": YAML, "program/metadata.yaml": "command: python3 /app/program/score.py\n"}

CASES: dict[str, Case] = {
    "a bundle with a link to a file outside of it": Case(
        linked_bundle, r"labels\.csv leads to .*, outside of the bundle, whose program must not read it\. Put", True
    ),
    "a bundle with a link to a folder": Case(
        bundle_with_a_linked_folder, r"bundle/again is a link to a folder\. Put the folder itself there", True
    ),
    "a bundle archive with more than 100,000 files": Case(
        archive_of_many_files,
        r"bundle\.zip holds more than 100,000 files or 8 GiB\. Unpack it and give the folder",
        True,
    ),
    "a bundle made from a file that is not valid TOML": Case(
        no_toml, r"competition\.toml is not valid TOML: .* Correct it there", True
    ),
    "an unknown key in a competition file": Case(
        settings(measure='["AP"]'), r"has the unknown key measure\. Did you mean measures\?", True
    ),
    "a competition without a title": Case(settings(title=None), r"lacks the key title\. Give a text", True),
    "a competition with an empty title": Case(settings(title='""'), r"has title = ''\. Give a text", True),
    "a title of more than 100 characters": Case(
        settings(title=f'"{"a" * 101}"'), r"a title of 101 characters\. Give at most 100", True
    ),
    "a number as title": Case(settings(title="7"), r"has title = 7\. Give a text", True),
    "a competition with an unknown task": Case(
        settings(task='"images"'), r"has task = 'images'\. Give one of embeddings, distances, run", True
    ),
    "a competition with an empty list of measures": Case(
        settings(measures="[]"), r"has measures = \[\]\. Give a list such as \['AP', 'P@1'\]", True
    ),
    "a competition with the Hamming distance": Case(
        settings(distance='"hamming"'), r"has the distance hamming, which needs packed bits\. Let participants", True
    ),
    "a competition that allows no submissions": Case(
        settings(**{"platform.submissions": "0"}),
        r"has platform\.submissions = 0\. Give a whole number of at least 1",
        True,
    ),
    "a CSV file as logo": Case(
        settings(**{"platform.logo": '"labels.csv"'}),
        r"has platform\.logo = 'labels\.csv'\. Give a picture: \.png, \.jpg, \.jpeg",
        True,
    ),
    "a number as phase": Case(settings(phases="[7]"), r"has phases\[1\] = 7\. Give a table with name", True),
    "a phase without an end": Case(
        settings(phases='[{name = "x", start = 2027-01-10, labels = "labels.csv"}]'),
        r"lacks the key phases\[1\]\.end\. Give a date or a time",
        True,
    ),
    "a phase that ends before it starts": Case(
        settings(phases=phase(end="2026-01-10")), r"phase Final, which ends before it starts\. Give a later end", True
    ),
    "phases that overlap": Case(
        settings(phases=phase()[:-1] + ", " + phase(name='"Last"')[1:]),
        r"phase Last, which starts before Final is over\. Let it start after",
        True,
    ),
    "two phases with the same name": Case(
        settings(phases=phase()[:-1] + ", " + phase(start="2027-03-01", end="2027-04-01")[1:]),
        r"two phases whose names have the same letters and digits\. Rename",
        True,
    ),
    "a phase name without ASCII letters or digits": Case(
        settings(phases=phase(name='"最終"')), r"has no ASCII letter or digit\. Add one", True
    ),
    "a truth file that does not exist": Case(
        settings(phases=phase(labels='"truth.csv"')), r"names .*truth\.csv, which does not exist", True
    ),
    "a truth file in the folder given to participants": Case(
        settings(phases=phase(items='"public"', labels='"public/x"')),
        r"gives participants .*public, but .*public/x in it is secret\. Move the secret file",
        True,
    ),
    "a truth file without the column label": Case(
        settings(labels="id,class\na,1\n"), r"has the columns id, class; a table", True
    ),
    "a truth file with rows of different lengths": Case(
        settings(labels="id,label\na\n"), r"has rows of different lengths", True
    ),
    "a truth file in which no two labels are equal": Case(
        settings(labels="id,label\na,1\nb,2\n"), r"No query has a relevant item", True
    ),
    "a baseline that is not a valid submission": Case(
        settings(phases=phase(baseline='"competition.toml"')),
        r"baseline of the phase Final would be refused: The submission has no file that can be scored at",
        True,
    ),
    "a platform bundle for the task distances": Case(
        settings(task='"distances"'), r"for which systems must be run\. Use tieproof judge", True
    ),
    "the task run with labels in place of qrels": Case(
        settings(task='"run"'), r"has phases\[1\] without qrels\. The task run needs this truth file", True
    ),
    "the task run with both labels and qrels": Case(
        settings(task='"run"', phases=phase(qrels='"labels.csv"')),
        r"has phases\[1\]\.labels, which the task run does not have\. Leave it out",
        True,
    ),
    "items and a gallery with the same file name": Case(
        settings(phases=phase(items='"public/x"', gallery='"x"', gallery_labels='"more.csv"')),
        r"items and a gallery that are both called x\. Rename one",
        True,
    ),
    "a gallery that contains the id of a query": Case(
        settings(phases=phase(gallery_labels='"labels.csv"')), r"The phase Final has the id 'a' more than once", True
    ),
    "groups for the gallery but not for the queries": Case(
        settings(phases=phase(gallery_labels='"grouped.csv"')),
        r"has groups of the queries or of the gallery only\. Give both a column group",
        True,
    ),
    "a gallery in only one of two phases": Case(
        settings(phases=f"{phase()[:-1]}, {LATER[2][1:]}"),
        r"has a gallery only in some phases\. Give all phases one",
        True,
    ),
    "a link to the labels in the folder given to participants": Case(
        settings(phases=phase(items='"linked"')), r"gives participants .*linked, but .* in it is secret", True
    ),
    "a truth file with an empty label": Case(settings(labels="id,label\na,\n"), r"a row with an empty label", True),
    "a truth file with an id twice": Case(
        settings(labels="id,label\na,1\na,2\n"), r"has the id 'a' more than once", True
    ),
    "a truth file without rows": Case(settings(labels="id,label\n"), r"has no items\. Give a row", True),
    "a Codabench competition without a container image": Case(
        settings(**{"platform.image": None}),
        r"in a container image: build one from image/Dockerfile, push it, and give its name as the key image",
        True,
    ),
    "a measure whose name is too long for Codabench": Case(
        settings(measures='["nDCG(gain=exp,ideal=list)@1000000"]'), r"is longer than the 36 characters", True
    ),
    "three phases for Kaggle": Case(
        settings(platform="kaggle", phases=f"{phase()[:-1]}, {LATER[0][1:-1]}, {LATER[1][1:]}"),
        r"Kaggle has a public and a private part, but there are 3 phases\. Give one or two",
        True,
    ),
    "the same id in two phases for Kaggle": Case(
        settings(
            platform="kaggle",
            phases=phase()[:-1] + ", " + phase(name='"B"', start="2027-03-01", end="2027-04-01")[1:],
        ),
        r"An id occurs in two phases, but Kaggle has one table for all",
        True,
    ),
    "an unknown platform": Case(settings(platform="codalab"), r"Unknown platform='codalab'\. Known: codabench", True),
    "the path of a bundle that exists already": Case(
        twice, r"bundle exists already\. Give another folder or \.zip", True
    ),
    "the path of a bundle in a folder that does not exist": Case(
        lambda folder: new(folder / "x.toml", folder / "no" / "bundle"), r"cannot be created: the folder", True
    ),
    "an empty folder as a bundle": Case(bundle({}), r"is not a bundle of a known platform", True),
    "a bundle archive that was cut short": Case(damaged_archive, r"cannot be read as a bundle \(\.zip\)", True),
    "a bundle whose competition.yaml is not valid YAML": Case(
        bundle({"competition.yaml": "a: [b"}), r"competition\.yaml cannot be read as YAML", True
    ),
    "a bundle whose competition.yaml is a list": Case(
        bundle({"competition.yaml": "[]"}), r"is not a YAML mapping", True
    ),
    "a bundle whose competition.yaml has only a title": Case(
        bundle({"competition.yaml": "title: x"}), r"is not as Codabench expects it: KeyError\('leaderboards'\)", True
    ),
    "a bundle without its scoring program": Case(
        bundle({"competition.yaml": YAML}), r"program is named in competition\.yaml, but does not exist", True
    ),
    "a scoring program without a command in metadata.yaml": Case(
        bundle({**PROGRAM, "program/metadata.yaml": "description: x\n"}),
        r"has no metadata\.yaml with a command",
        True,
    ),
    "a bundle without a sample submission": Case(
        bundle(PROGRAM), r"has no sample of a submission for 'Only'\. Pass one", True
    ),
    "a sample submission that does not exist": Case(
        bundle(PROGRAM, submission="none.npy"), r"none\.npy does not exist", True
    ),
    "an EvalAI bundle without evaluation_script": Case(
        bundle({"challenge_config.yaml": "title: x"}),
        r"is not as EvalAI expects it: KeyError\('evaluation_script'\)",
        True,
    ),
    "a container bundle without the folder ground_truth": Case(
        bundle({"Dockerfile": "", "evaluate.py": ""}), r"has no folder ground_truth next to its Dockerfile", True
    ),
    "a bundle with folders in folders, 102 levels deep": Case(
        deep_bundle, r"bundle has folders below more than 100 others\. Flatten it", True
    ),
    "a bundle with a named pipe": Case(bundle_with_a_pipe, r"pipe is a pipe, a socket or a device\. Remove it", True),
    "a competition.yaml with more than 100,000 values": Case(
        bundle({**PROGRAM, "competition.yaml": f"a: [{'1, ' * 100_000}]\n"}),
        r"competition\.yaml has more than 100,000 keys and values\. Shorten it",
        True,
    ),
    "a command with a null character": Case(
        null_in_a_command, r"The command \['python', '\\x00',.* has a null character\. Remove it", True
    ),
    "a Dockerfile whose ENTRYPOINT is a number": Case(
        bundle({"Dockerfile": "ENTRYPOINT [1]", "evaluate.py": "", "ground_truth/x": ""}),
        r"The ENTRYPOINT of the Dockerfile is no list of words",
        True,
    ),
    "a solution.csv of Kaggle with a row that has no Usage": Case(
        bundle({"metric.py": "", "solution.csv": "id,Usage\na\n"}),
        r"solution\.csv has a row without Usage\. Give each row one",
        True,
    ),
    "a Dockerfile without an ENTRYPOINT": Case(
        bundle({"Dockerfile": "FROM x", "evaluate.py": "", "ground_truth/x": ""}), r"has no ENTRYPOINT such as", True
    ),
    "a bundle check with an unknown attack": Case(
        bundle({}, attacks=["zero"]), r"Unknown attack 'zero'\. Known: zeros, constant", True
    ),
    "a bundle check with a time limit of 0": Case(
        bundle({}, time_limit=0.0), r"time_limit must be a number of seconds above 0, not 0\.0", True
    ),
}
