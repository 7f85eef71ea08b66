"""The wall: how large the source, the documents and the tests may be, counted as they are written.

A number may be lowered at any time. It is raised only in a commit that says which issue needs it, and what went
instead.
"""

from pathlib import Path

import pytest
from test_public_names import door

import tieproof

ROOT = Path(__file__).parents[2]
SOURCE = Path(tieproof.__file__).parent

pytestmark = pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="no documents beside the tests")

ROOMS = {
    "inputs": 9_131,
    "distances": 4_640,
    "engine": 4_733,
    "native": 830,
    "measures": 6_205,
    "show": 1_481,
    "evaluation": 7_627,
    "analyses": 9_188,
    "trials": 11_485,
    "compat": 2_688,
    "integrations": 2_406,
    "cli": 2_966,
    "data": 22,
    "tieproof": 878,
}
"""The lines of Python in each folder of the source; the files beside these folders are the room `tieproof`."""

LINES_OF_SOURCE = 64_280
LINES_OF_KERNELS = 7_983
WORDS_OF_DOCS = 55_000
PUBLIC_NAMES = 123
LINES_OF_TESTS = 68_102


def lines_in(folder: Path, *endings: str) -> int:
    return sum(path.read_text("utf-8").count("\n") for end in endings for path in folder.rglob(f"*.{end}"))


def lines_of_rooms() -> dict[str, int]:
    rooms = {folder.name: lines_in(folder, "py") for folder in SOURCE.iterdir() if folder.is_dir()}
    rooms["tieproof"] = lines_in(SOURCE, "py") - sum(rooms.values())
    return {room: lines for room, lines in rooms.items() if lines}


def test_every_room_keeps_its_budget() -> None:
    found = lines_of_rooms()
    assert found.keys() == ROOMS.keys()
    assert {room: lines for room, lines in found.items() if lines > ROOMS[room]} == {}


def test_the_source_keeps_its_budget() -> None:
    assert lines_in(SOURCE, "py") <= LINES_OF_SOURCE
    assert lines_in(ROOT / "src" / "tieproof" / "native" / "kernels", "c", "h", "inc") <= LINES_OF_KERNELS


def test_documents_and_tests_keep_their_budget() -> None:
    assert sum(len(page.read_text("utf-8").split()) for page in (ROOT / "docs").rglob("*.md")) <= WORDS_OF_DOCS
    assert lines_in(ROOT / "tests", "py") <= LINES_OF_TESTS


def test_the_public_names_keep_their_budget() -> None:
    assert len(door("tieproof")) <= PUBLIC_NAMES
