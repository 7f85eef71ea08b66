"""The names of systems: those of their files, without folders and without the extensions of known formats."""

import re
from collections.abc import Mapping, Sequence

from tieproof.errors import InputError
from tieproof.inputs.readers import FILE_FORMATS
from tieproof.inputs.readers.location import STANDARD_INPUT, STANDARD_INPUT_IN_WORDS, split

_EXTENSIONS = (
    *FILE_FORMATS,
    *(".tieproof", ".run", ".runs", ".trec", ".txt", ".tsv", ".res", ".results", ".out", ".dat", ".json", ".jsonl"),
    *(".gz", ".xz", ".bz2", ".zst", ".tar", ".tgz", ".zip"),
)
_ENDING = re.compile(rf"(?<=.)({'|'.join(map(re.escape, _EXTENSIONS))})+$", re.IGNORECASE)
"""What is no part of a name; the end of any other file name may be the tag of a run, as in input.TAG."""


def named(files: Sequence[str], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return a dict from the name of each system to its file.

    A name is the chosen one of the file, or that of the file without folder and known extensions; where two names
    would be the same, all that nobody chose are the paths as given.

    >>> named(["runs/base.run", "runs/ours.run.gz", "data.npz:small"], {})
    {'base': 'runs/base.run', 'ours': 'runs/ours.run.gz', 'data:small': 'data.npz:small'}
    """
    names = []
    for file in files:
        path, entry = split(file)
        name = _ENDING.sub("", path.name)
        own = STANDARD_INPUT_IN_WORDS if file == STANDARD_INPUT else f"{name}:{entry}" if entry else name
        names.append(chosen.get(file, own))
    if len(set(files)) < len(files):
        twice = next(file for file in files if files.count(file) > 1)
        raise InputError(f"{twice} is given twice, but a system cannot be compared with itself; leave one out.")
    if len(set(names)) < len(names):
        names = [chosen.get(file, file) for file in files]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{twice} is the name of two systems; give each another name as NAME=FILE.")
    return dict(zip(names, files, strict=True))
