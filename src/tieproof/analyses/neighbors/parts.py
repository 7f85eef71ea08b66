"""The parts of an unfinished truth in its folder, so that a killed run is continued."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tieproof.analyses.neighbors.certificate import NAME, read_arrays, write_arrays
from tieproof.analyses.neighbors.result import Neighbors
from tieproof.analyses.neighbors.search import Part, SearchInParts
from tieproof.errors import InputError
from tieproof.whole_files import UNFINISHED, atomic_write, naming

PARTS, TITLE = "parts", "search.json"
"""The folder of the parts of an unfinished truth, and the file in it that says which search they belong to."""


class Parts:
    """The neighbors of parts of a search in a folder, each in a file that is written whole or not at all.

    The folder is created with the first part, so that input that is refused leaves nothing.

    title : what identifies the search; each property must be equal
    """

    def __init__(self, folder: Path, title: dict[str, str], search: SearchInParts) -> None:
        self.folder, self.parts, self.title, self.search = folder, folder / PARTS, title, search
        self._check()

    def __iter__(self) -> Iterator[Part]:
        """All parts that are stored."""
        for path in sorted(self.parts.glob("*.npz")):
            ends = path.stem.split("-")
            if len(ends) == 4 and all(map(str.isdecimal, ends)):
                first, last, start, stop = map(int, ends)
                yield Part((first, last), (start, stop))

    def __setitem__(self, part: Part, found: Neighbors) -> None:
        """Store a part."""
        path = self.parts / TITLE
        if not path.exists():
            with naming(self.parts):
                self.parts.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as unfinished:
                unfinished.write_text(json.dumps(self.title, indent=2), "utf-8")
        write_arrays(self._path(part), found)

    def __getitem__(self, part: Part) -> Neighbors:
        """Return a part."""
        start, stop = part.items
        called = self.search.problem.whole.called
        known = {"k": min(self.search.k, stop - start), "n_items": stop - start, "distance": called}
        return read_arrays(self._path(part), known)

    def remove(self) -> None:
        """Remove all parts; what cannot be removed does no harm."""
        with suppress(OSError):
            for path in self.parts.iterdir():
                path.unlink()
            self.parts.rmdir()

    def _path(self, part: object) -> Path:
        return self.parts / f"{part}.npz"

    def _check(self) -> None:
        """Refuse a folder with anything but an unfinished truth of the same search."""
        folder = self.folder
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file, but a truth is written to a folder. Name another one.", "out")
        names = {each.name for each in folder.iterdir()} if folder.exists() else set()
        if NAME in names:
            raise InputError(
                f"{folder} contains a finished truth already. Name another folder, or remove this one.", "out"
            )
        if PARTS not in names:
            strange = sorted(name for name in names if not name.startswith(UNFINISHED))
            if strange:
                raise InputError(
                    f"{folder} contains other files, such as {strange[0]}. Name a new folder, or an empty one.", "out"
                )
            return
        try:
            written = json.loads((self.parts / TITLE).read_text("utf-8"))
            differing = next((name for name, value in self.title.items() if written.get(name) != value), None)
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError, AttributeError):
            raise InputError(f"{self.parts / TITLE} cannot be read. Name a new folder.", "out") from None
        if differing:
            raise InputError(
                f"{folder} contains an unfinished truth of another search: it differs in the {differing}. Continue "
                "with the same data and options, or name a new folder.",
                "out",
            )
