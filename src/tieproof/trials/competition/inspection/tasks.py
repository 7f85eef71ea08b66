"""The task of a bundle: the program that a platform runs for a submission to one phase, its files, and its score.

The program runs in a separate process, in the folders of its platform, and without network if possible. With
bubblewrap, the folders have the same names as on the platform, and the program can write to no others. Without
bubblewrap, the folders have other names, which replace the platform's names in the command, and the program is free
to write elsewhere and to use the network.
"""

import json
import math
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.errors import InputError, import_extra
from tieproof.kit import reading
from tieproof.trials.sandbox import bubblewrap, folders
from tieproof.trials.sandbox.bubblewrap import SealedRoom, environment, sealed
from tieproof.trials.sandbox.limits import FILES, ProgramLimits, run_program
from tieproof.trials.sandbox.processes import how

MOST_LETTERS = 1_000_000
MOST_MEMORY = 16 * 2**30
MOST_WRITTEN = 2**30  # the most bytes of memory that a program may use, and that it may write into one file
_PYTHON = re.compile(r"(/usr/bin/|/usr/local/bin/)?python(3(\.\d+)?)?")  # a word that names any Python


class Program(NamedTuple):
    """A program and its folders."""

    command: Sequence[str]  # the command, as on the platform
    folders: Mapping[str, Path]  # the folders on this machine, by their names on the platform
    within: str  # the folder in which the program runs, by its name on the platform

    def here(self, name: str) -> Path:
        """The path on this machine of a file or folder with this name on the platform."""
        folder = max((each for each in self.folders if f"{name}/".startswith(f"{each}/")), key=len)
        return self.folders[folder] / name[len(folder) :].lstrip("/")


class ProgramRun(NamedTuple):
    """How a program ended, and what it printed; `status` is None if it exceeded a limit."""

    status: int | None
    out: str
    err: str


def run(program: Program, seconds: float) -> ProgramRun:
    """Run the program until it ends or exceeds a limit; all processes that it started are ended with it."""
    if any("\0" in word for word in program.command):
        raise InputError(f"The command {[*program.command]} has a null character. Remove it.", "bundle")
    words = [sys.executable if _PYTHON.fullmatch(word) else word for word in program.command]
    variables, within = environment("/tmp"), None
    if bubblewrap.works():
        for folder in program.folders.values():
            folders.hand_over(folder)
        shown = {str(place): place for place in folders.outermost(folders.python_folders())}
        words = sealed(words, SealedRoom(program.within, shown, program.folders), variables, MOST_WRITTEN)
    else:
        words, within = _replaced(words, program), program.here(program.within)
        variables["HOME"] = variables["TMPDIR"] = tempfile.gettempdir()
    size, count = _on_disk(program)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:

        def too_much(used: float) -> bool:
            size_now, count_now = _on_disk(program)
            printed = max(folders.size_by(os.fstat(each.fileno())) for each in (out, err))
            return printed > MOST_LETTERS or max(used, size_now - size) > MOST_WRITTEN or count_now - count > FILES

        limits, scratch = ProgramLimits(MOST_MEMORY, MOST_WRITTEN), bubblewrap.SCRATCH if bubblewrap.works() else ()
        status, exceeded = run_program(
            words, variables, limits, seconds, too_much, scratch, cwd=within, stdout=out, stderr=err
        )
        printed = []
        for stream in (out, err):
            stream.seek(0)
            printed.append(stream.read(MOST_LETTERS).decode(errors="replace"))
    if not exceeded and status is not None and status < 0:
        printed[1] += f"\nit ended {how(status)}"
    return ProgramRun(None if exceeded else status, *printed)


def _on_disk(program: Program) -> tuple[int, float]:
    """The bytes on disk, without the holes of sparse files, and the number of files in the folders of a program."""
    size, count = 0, 0.0

    def give_up(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # it was removed meanwhile
            raise error

    with suppress(OSError):
        for folder in program.folders.values():
            for entry, _ in folders.entries(folder, give_up):
                count += 1
                if not entry.is_dir(follow_symlinks=False):
                    with suppress(FileNotFoundError):
                        size += 512 * entry.stat(follow_symlinks=False).st_blocks
        return size, count
    return size, math.inf  # a folder cannot be listed, because of its mode or the length of its path


def _replaced(words: Sequence[str], program: Program) -> list[str]:
    """A command in which the platform's names of folders are replaced by their paths on this machine."""
    names = sorted(program.folders, key=len, reverse=True)
    pattern = re.compile("|".join(f"{re.escape(name)}(?=/|$)" for name in names))
    return [pattern.sub(lambda name: str(program.folders[name[0]]), word) for word in words]


def refuse_fixed_names(program: Path, names: Sequence[str]) -> None:
    """Raise InputError if bubblewrap is missing and a program contains fixed names of the platform's folders."""
    if bubblewrap.works():
        return
    for path in sorted(program.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        for name in names:
            if f'"{name}' in text or f"'{name}" in text:
                raise InputError(
                    f"{path} reads or writes {name}, a folder that only bubblewrap (bwrap) can provide here. Install "
                    "bubblewrap, or let the program take its folders from the command line."
                )


Numbers = dict[str, float]

MOST_BYTES = 2**20  # the most bytes of a file of scores
MOST_SHOWN = 2**25  # the most bytes of all files that a platform shows to participants
HANDED_IN = "\0the file that was handed in"  # a word of a command that is replaced by the path of a submission's file


class Task(NamedTuple):
    """A phase as its platform scores it."""

    name: str  # of the phase
    sample: Path | None  # a valid submission, a file or a folder; None if the bundle has none
    command: Sequence[str]  # as on the platform; `HANDED_IN` in it is the path of the submission's file
    within: str  # the folder in which it runs, as on the platform
    content: Mapping[str, Path | None]  # what is in the folders by path there; None for an empty folder
    given: str  # the platform's folder for a submission
    numbers: Callable[[Program, str], Numbers]  # reads all numbers that a run has left, by name
    key: str | None  # the name of the number by which submissions are ranked; None for the first one
    larger: bool  # whether larger is better
    public: Mapping[str, Path]  # the files that participants get, by name without extension
    truth: str  # the folder of the truth, by its name on the platform
    shown: Callable[[Program, ProgramRun], str]  # all text of a run that a participant sees, printed or in files
    submissions: int | None = None  # the most submissions of a participant; None if the bundle does not say

    def lay(self, room: Path, submission: Path, place: str) -> Program:
        """The program, whose folders are made in a room, as its platform would make them.

        submission, place : the folder of a submission, which is moved, because a copy of a giant file is large; and
            the path of its file within
        """
        made: dict[str, Path] = {}
        for name, source in {**self.content, self.given: submission}.items():
            here = room / os.path.normpath(f"/{name}").strip("/")  # a path of a stranger, which may lead up
            here.parent.mkdir(parents=True, exist_ok=True)
            if source is None:
                here.mkdir(exist_ok=True)
            elif source == submission:
                shutil.move(source, here)
            else:
                (shutil.copytree if source.is_dir() else shutil.copyfile)(source, here)
            if not any(name.startswith(f"{folder}/") for folder in made):
                made[name] = here
        words = [f"{self.given}/{place}" if word == HANDED_IN else word for word in self.command]
        return Program(words, made, self.within)


def part_of(bundle: Path, name: str) -> Path:
    """A file or folder of a bundle; InputError if its path or a link leads out of the bundle."""
    target = Path(os.path.realpath(bundle / name))
    if not target.is_relative_to(os.path.realpath(bundle)):
        raise InputError(
            f"{bundle / name} leads to {target}, outside of the bundle, whose program must not read it. Put a copy "
            "into the bundle."
        )
    return bundle / name


class Unpacker:
    """Unpacks the archives of a bundle into new folders of a room, and counts what may still be unpacked."""

    def __init__(self, room: Path, most_bytes: int, most_files: int) -> None:
        self.room, self.bytes, self.files = room, most_bytes, most_files
        self.most = f"{most_files:,} files or {most_bytes / 2**30:.3g} GiB"

    def __call__(self, archive: Path) -> Path:
        """The folder with the content of an archive; InputError if it is damaged, or too large or deep."""
        folder = Path(tempfile.mkdtemp(dir=self.room))
        with reading(archive, "a bundle (.zip)"), zipfile.ZipFile(archive) as file:
            members = file.infolist()
            self.files -= sum(member.filename.count("/") + 1 for member in members)
            self.bytes -= sum(member.file_size for member in members)
            if self.files < 0 or self.bytes < 0:
                raise InputError(
                    f"{archive} holds more than {self.most}. Unpack it and give the folder. All archives of a bundle "
                    "count together."
                )
            if any(member.filename.count("/") > folders.DEEPEST for member in members):
                raise InputError(f"{archive} has folders below more than {folders.DEEPEST} others. Flatten it.")
            file.extractall(folder)
        return folder


MOST_TEXT = 2**24  # the most bytes of a file of settings or of a program
MOST_NODES = 100_000  # the most keys and values of a YAML file, counted each time that an alias repeats them


def text_of(path: Path) -> str:
    """The text of a file of a bundle; InputError if it is too long, or not UTF-8."""
    with reading(path, "UTF-8 text"):
        if path.stat().st_size > MOST_TEXT:
            raise InputError(f"{path} has more than {MOST_TEXT:,} bytes. Shorten it.")
        return path.read_text(encoding="utf-8")


def json_of(path: Path) -> Any:
    """What a JSON file of a bundle contains."""
    text = text_of(path)
    with reading(path, "JSON"):
        return json.loads(text)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file."""
    yaml = import_extra("yaml", f"Reading {path}", "competition")
    text = text_of(path)
    with reading(path, "YAML"):
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        _check_nodes(node, path)
        content = None if node is None else loader.construct_document(node)
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a YAML mapping. Write keys and values, as the platform documents them.")
    return content


def _check_nodes(node: Any, path: Path) -> None:
    """Raise InputError if a node of YAML, or its copies by aliases, contain too many others."""
    left, count = [node], 0
    while left:
        value = getattr(left.pop(), "value", None)
        if isinstance(value, list):
            inner = [each for item in value for each in (item if isinstance(item, tuple) else (item,))]
            count += len(inner)
            left += inner
        if count > MOST_NODES:
            raise InputError(f"{path} has more than {MOST_NODES:,} keys and values. Shorten it.")


def most_submissions(phase: Mapping[str, Any]) -> int | None:
    """The most submissions of a participant that a phase tells, if it tells any."""
    most = phase.get("max_submissions")
    if most is not None and type(most) is not int:
        raise InputError(f"max_submissions must be a whole number, not {most!r:.100}.")
    return most


def files_by_name(places: list[Path]) -> dict[str, Path]:
    """All files below some folders, by name without extension; empty if two files have the same name."""
    files: dict[str, Path] = {}
    paths = [path for place in places for path in sorted(place.rglob("*")) if path.is_file()]
    for path in paths:
        files[path.stem] = path
    return files if len(files) == len(paths) else {}


def written_text(path: Path) -> str:
    """The text of a file that a scoring program wrote; OSError unless it is a regular file, not a link, and short."""
    file = folders.opened_file(path, MOST_BYTES)
    if file is None:
        raise OSError(f"{path.name} is not a regular file of at most {MOST_BYTES:,} bytes")
    with file:
        return file.read().decode("utf-8")


def written_texts(folder: Path) -> Iterator[str]:
    """The texts of all files in a folder that a program wrote; OSError if they are long, or no plain files."""
    left = MOST_SHOWN
    # Links are left out: the program cannot read what they lead to here.
    for path in sorted(path for path in folders.below(folder) if not path.is_symlink() and not path.is_dir()):
        file = folders.opened_file(path, left)
        if file is None:
            raise OSError(f"{path.name} has another name, or the files have more than {MOST_SHOWN:,} bytes")
        with file:
            content = file.read(left)
        left -= len(content)
        yield content.decode("utf-8", "replace")


def as_numbers(content: object, prefix: str = "") -> Numbers:
    """The numbers in nested dicts, by their path, such as `aggregates.ap`."""
    if isinstance(content, dict):
        parts = [as_numbers(value, f"{prefix}.{key}" if prefix else str(key)) for key, value in content.items()]
        return {key: value for part in parts for key, value in part.items()}
    return {prefix: float(content)} if isinstance(content, int | float) and not isinstance(content, bool) else {}


def last_line(out: str) -> str:
    """The last line that a driver printed."""
    return out.strip().rpartition("\n")[2]


def printed_numbers(program: Program, out: str) -> Numbers:
    """The numbers in the last line that a driver printed."""
    return as_numbers(json.loads(last_line(out)))
