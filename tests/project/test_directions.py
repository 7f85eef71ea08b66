"""Packages import each other in one direction only, and files do not import each other in a circle."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import tieproof

SOURCE = Path(tieproof.__file__).parent

MAY_IMPORT = {
    "lazy": "",
    "installed": "",
    "errors": "",
    "whole_files": "errors",
    "data": "",
    "ties": "errors",
    "native": "errors ties",
    "inputs": "errors ties native",
    "distances.exact": "errors ties native inputs",
    "distances": "errors ties native inputs distances.exact",
    "show": "installed errors whole_files ties distances",
    "measures": "lazy errors ties native distances.exact",
    "measures.distribution": "errors ties show measures",
    "measures.statistics": "errors ties",
    "measures.confidence": "lazy errors ties inputs distances.exact show measures",
    "engine.problem": "ties inputs distances",
    "engine": "lazy ties native inputs distances.exact distances engine.problem",
    "evaluation.cluster": "installed errors whole_files ties native inputs distances engine.problem engine",
    "evaluation": "installed errors whole_files ties native inputs distances.exact distances show measures "
    "measures.distribution measures.statistics measures.confidence engine.problem engine evaluation.cluster",
    "evaluation.records": "installed errors ties inputs show measures evaluation",
    "analyses": "",
    "analyses.collisions": "errors ties inputs distances.exact distances show measures engine.problem engine "
    "evaluation",
    "analyses.neighbors": "installed errors whole_files ties inputs distances.exact distances show engine.problem "
    "engine evaluation.cluster evaluation",
    "analyses.rates": "errors ties native inputs distances.exact distances show measures measures.statistics "
    "engine.problem evaluation analyses.neighbors",
    "analyses.recall": "errors ties inputs distances show measures engine.problem engine evaluation "
    "analyses.neighbors",
    "analyses.compare": "errors ties inputs distances show measures measures.distribution measures.statistics "
    "measures.confidence evaluation",
    # What it lends is imported only when it is used, and only for types before.
    "kit": "lazy whole_files ties inputs distances show evaluation analyses.compare",
    "analyses.leaderboard": "errors ties inputs show measures measures.statistics evaluation analyses.compare",
    "trials": "",
    "trials.sandbox": "errors",
    "trials.findings": "errors show",
    "trials.audit": "lazy errors data show measures trials.sandbox trials.findings",
    "trials.competition": "lazy errors whole_files data inputs distances evaluation trials.sandbox trials.findings "
    "trials.audit",
    # A judge runs programs as an audit does, writes records and logs, and reads competition files.
    "trials.judge": "errors inputs show measures evaluation evaluation.records analyses.compare trials.sandbox "
    "trials.audit trials.competition",
    "compat": "errors inputs show evaluation",
    "integrations": "errors inputs distances measures evaluation",
    "tieproof": "lazy installed errors ties inputs measures measures.distribution measures.confidence evaluation "
    "evaluation.records analyses.rates analyses.collisions analyses.neighbors analyses.recall analyses.compare "
    "analyses.leaderboard trials.audit trials.judge",
    "cli": "errors data inputs distances show measures evaluation evaluation.records analyses.collisions "
    "analyses.neighbors analyses.compare analyses.leaderboard trials.sandbox trials.audit trials.competition "
    "trials.judge tieproof",
    "__main__": "cli",
}
"""The packages from the lowest up, each with those that it may import, also inside functions or only for types."""

OUTSIDE = ("trials", "compat", "integrations")
"""Rooms that could be packages of their own: they stand on the public names and on `tieproof.kit`."""

PUBLIC = ("tieproof", "errors", "measures", "measures.confidence", "data", "kit", "lazy")

ALONE = {
    "analyses.compare.same_queries": "common_measures differing_settings",
    "distances": "DISTANCES reported",
    "evaluation.answers": "Unanswered",
    "evaluation.evaluated": "NOT_JUDGED mean mean_of_means",
    "evaluation.intervals": "check_confidence",
    "evaluation.pictures": "plot_measures",
    "evaluation.problems": "relevance_among unwatched",
    "evaluation.records.verify": "verified_by_name",
    "evaluation.result": "flat_name",
    "inputs.arrays": "as_numbers",
    "inputs.identities": "as_int64",
    "inputs.labels": "check_code_points check_types",
    "inputs.options": "as_shares parse_memory",
    "inputs.readers": "entries_of read_labels trec",
    "inputs.readers.json_lists": "read_dictionary",
    "inputs.readers.location": "Location split",
    "inputs.readers.mteb": "MODEL contents of_split",
    "inputs.readers.npy": "read_header",
    "inputs.relevance": "RelevantBlock",
    "show.pages.page": "Axis",
    "show.parts": "percent",
    "show.printable": "printable",
    "show.shown": "AsJson EXPLAINED markdown",
    "show.style": "columns cut families",
    "whole_files": "naming",
}
"""Other names that these rooms import, each of them in one file only, by their modules. This list only shrinks."""

DOORS = {"engine"}
"""Packages of which other packages import only the names that `__init__.py` exports."""


class Import(NamedTuple):
    """An import of a module of tieproof by another one.

    at_once : whether it runs when the importer is imported
    runs : whether it ever runs; imports only for types do not
    """

    importer: str
    imported: str
    at_once: bool
    runs: bool

    @property
    def packages(self) -> tuple[str, str]:
        return package_of(self.importer), package_of(self.imported)


@cache
def package_of(module: str) -> str:
    """The entry of the table to which a module belongs."""
    within = module.removeprefix("tieproof.")
    return max((name for name in MAY_IMPORT if f"{within}.".startswith(f"{name}.")), key=len)


@cache
def modules() -> dict[str, Path]:
    """Every module of tieproof, by its name."""
    parts = {path: path.relative_to(SOURCE.parent).with_suffix("").parts for path in SOURCE.rglob("*.py")}
    return {".".join(names[:-1] if names[-1] == "__init__" else names): path for path, names in parts.items()}


@cache
def imports() -> list[Import]:
    """All imports of tieproof's modules by tieproof's modules."""
    return [each for name, path in modules().items() for each in imports_of(name, ast.parse(path.read_text("utf-8")))]


def imports_of(name: str, tree: ast.Module) -> Iterator[Import]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    late = {inner for function in functions for inner in ast.walk(function)}
    choices = [node for node in tree.body if isinstance(node, ast.If)]
    late |= {inner for node in choices for inner in ast.walk(node)}
    types = {
        inner
        for node in choices
        if ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        for imported in imported_by(node):
            if imported != name:
                yield Import(name, imported, node not in late, node not in types)


def imported_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules())
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, "imports name the whole module"
        named = (f"{node.module}.{alias.name}" for alias in node.names)
        yield from (full if full in modules() else node.module for full in named if node.module in modules())


def test_the_table_has_one_direction() -> None:
    assert list(TopologicalSorter({name: allowed.split() for name, allowed in MAY_IMPORT.items()}).static_order())
    assert {package_of(name) for name in modules()} == set(MAY_IMPORT)


def test_rooms_have_one_direction() -> None:
    """Each room with all that is in it; what a room lends to a lower one would have to move down."""
    graph: dict[str, set[str]] = {}
    for name, allowed in MAY_IMPORT.items():
        graph.setdefault(room_of(name), set()).update(map(room_of, allowed.split()))
    assert list(TopologicalSorter({room: below - {room} for room, below in graph.items()}).static_order())


def room_of(package: str) -> str:
    return package.partition(".")[0]


@pytest.mark.long
def test_packages_import_what_stands_below_them() -> None:
    wrong = [
        f"{each.importer} imports {each.imported}"
        for each in imports()
        if each.packages[0] != each.packages[1]
        and each.packages[1] not in MAY_IMPORT[each.packages[0]].split()
        and not (room_of(each.packages[0]) in OUTSIDE and each.packages[1] in {"tieproof", "kit", "lazy"})
    ]
    assert not wrong


def test_rooms_outside_stand_on_public_names_and_the_kit() -> None:
    users: dict[tuple[str, str], set[str]] = {}
    for name, path in modules().items():
        room = room_of(name.removeprefix("tieproof."))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))) if room in OUTSIDE else ():
            module = node.module.removeprefix("tieproof.") if isinstance(node, ast.ImportFrom) and node.module else ""
            if isinstance(node, ast.ImportFrom) and f"tieproof.{module}" in modules() and module not in PUBLIC:
                for alias in node.names if room_of(module) != room else ():
                    users.setdefault((module, alias.name), set()).add(name)
    assert set(users) == {(module, each) for module, names in ALONE.items() for each in names.split()}
    assert [used for used, by in users.items() if len(by) > 1] == []


def test_doors_are_used() -> None:
    behind = {
        f"{each.importer} imports {each.imported}"
        for each in imports()
        if each.packages[1] in DOORS
        and each.packages[0] != each.packages[1]
        and each.imported != f"tieproof.{each.packages[1]}"
    }
    assert not behind


@pytest.mark.parametrize("also_late", [False, True], ids=["when imported", "ever"])
def test_no_files_import_each_other(also_late: bool) -> None:
    """Imports inside functions do not hide a circle, either."""
    graph: dict[str, set[str]] = {name: set() for name in modules()}
    for each in imports():
        if each.at_once or (also_late and each.runs):
            graph[each.importer].add(each.imported)
    assert list(TopologicalSorter(graph).static_order())


def test_no_name_hides_a_module() -> None:
    named = [f"{package}.{name}" for package in modules() for name in names_of_door(package)]
    assert not [name for name in named if name in modules()]


def names_of_door(package: str) -> Iterator[str]:
    """The names that a package defines or re-exports, except for modules."""
    for node in ast.parse(modules()[package].read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            named = [alias for alias in node.names if f"{node.module}.{alias.name}" not in modules()]
            yield from (alias.asname or alias.name for alias in named)
