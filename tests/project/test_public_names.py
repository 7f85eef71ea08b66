"""All names in the documentation can be imported from the public packages as it says."""

import ast
import importlib
import importlib.util
import py_compile
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import tieproof
from tieproof import measures
from tieproof.measures import diversity

ROOT = Path(__file__).parents[2]
SOURCE = Path(tieproof.__file__).parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

DOORS = [
    "tieproof",
    "tieproof.trials.audit",
    "tieproof.compat.beir",
    "tieproof.compat.oml",
    "tieproof.compat.pml",
    "tieproof.compat.torchmetrics",
    "tieproof.trials.competition",
    "tieproof.measures.confidence",
    "tieproof.data",
    "tieproof.integrations.sklearn",
    "tieproof.integrations.sentence_transformers",
    "tieproof.integrations.mteb",
    "tieproof.integrations.ir_measures",
    "tieproof.trials.judge",
    "tieproof.measures",
]

INNER = {"tieproof.trials.audit.examples", "tieproof.measures.confidence.pictures"}
"""Modules inside a package that a page names: example evaluators for an audit, and a picture that no result draws."""

DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef
"""Nodes of the syntax tree that have docstrings."""

pytestmark = pytest.mark.skipif(not PAGES[0].exists(), reason="no documents beside the tests")


def statements(module: str) -> list[ast.stmt]:
    """The statements of an `__init__.py`, read from the file, because some packages need another library."""
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    return ast.parse(Path(found.origin).read_text(encoding="utf-8")).body


def door(module: str) -> list[str]:
    """The names in a package's `__all__`; without it, those that it imports as themselves, and those it defines."""
    for node in statements(module):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            assert isinstance(node.value, ast.List)
            return [name for each in node.value.elts for name in written(each)]
    here = [node.name for node in statements(module) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [name for name in [*exported(module), *here] if not name.startswith("_")]


def written(name: ast.expr) -> list[str]:
    """A name in `__all__`; `*provider.ALL` are the measures that the plug-in of ir_measures has."""
    if isinstance(name, ast.Constant):
        return [str(name.value)]
    spelled = {"AP(trapezoid)": "AP_TRAPEZOID", "bpref": "Bpref"}
    return [spelled.get(each, each) for each in (*measures.REGISTRY, *diversity.NAMES)]


def is_package(module: str) -> bool:
    return (SOURCE.parent / module.replace(".", "/")).is_dir()


def exported(module: str) -> dict[str, str]:
    """The module of each name that a package imports as itself."""
    lines = [line for node in statements(module) for line in (node.body if isinstance(node, ast.If) else [node])]
    return {
        alias.name: node.module or ""
        for node in lines
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == alias.asname
    }


@cache
def trees() -> dict[str, ast.Module]:
    """Every module by its path."""
    return {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


@cache
def docstrings() -> dict[str, str]:
    """The docstrings of every module and of its functions and classes, by its path."""
    return {
        path: "\n".join(ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, DOCUMENTED))
        for path, tree in trees().items()
    }


def pages() -> dict[str, str]:
    """The pages by their paths, which are relative to `docs` for pages in it."""
    return {str(page.relative_to(ROOT)).removeprefix("docs/"): page.read_text(encoding="utf-8") for page in PAGES}


def imported_names(texts: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """The page, the module and the name of each `from tieproof... import name`."""
    for place, text in texts.items():
        for module, several, one in re.findall(r"from (tieproof[\w.]*) import (?:\(([^)]*)\)|([\w, ]+))", text):
            for name in re.findall(r"\w+", several or one):
                yield place, module, name


def dotted_names(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The page, and the name after the dot, of each `tp...` or `tieproof...` that is not an import."""
    for place, text in texts.items():
        rest = re.sub(r"from tieproof[\w.]* import", "", text).replace("\\_", "_")  # Markdown's escaped underscore
        for name in re.findall(r"(?<![\w./])(?:tp|tieproof)((?:\.[A-Za-z_]\w*)+)", rest):
            yield place, name.removeprefix(".")


def is_module(name: str) -> bool:
    """Whether tieproof has a module of this name; nothing is imported, because its package may need an extra."""
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def resolves(name: str) -> bool:
    """Whether `tieproof.name` exists after tieproof is imported, or is the name of a module."""
    found: object = tieproof
    for attribute in name.split("."):
        if not hasattr(found, attribute):
            return is_module(f"tieproof.{name}")
        found = getattr(found, attribute)
    return True


def test_all_that_pages_import() -> None:
    shown = set(imported_names(pages()))
    assert ("audit.md", "tieproof.trials.audit", "ATTACKS") in shown
    assert ("migration/open_metric_learning.md", "tieproof.compat.oml", "EmbeddingMetrics") in shown
    for page, module, name in shown:
        assert module in DOORS or module in INNER, page
        assert name in door(module) if module in DOORS else hasattr(importlib.import_module(module), name), page


@pytest.mark.long
def test_all_that_docstrings_import() -> None:
    shown = set(imported_names(docstrings()))
    assert ("trials/audit/__init__.py", "tieproof.trials.audit", "ATTACKS") in shown
    for place, module, name in shown:
        assert name in door(module) if module in DOORS else hasattr(importlib.import_module(module), name), place


def test_all_that_has_a_dot() -> None:
    known_ones = ("collisions.md", "collisions"), ("evaluation/explained_variance.py", "pcf")
    for texts, known in zip((pages(), docstrings()), known_ones, strict=True):
        shown = set(dotted_names(texts))
        assert known in shown
        assert [f"{place} names tieproof.{name}" for place, name in shown if not resolves(name)] == []


def test_names_that_do_not_exist_are_noticed() -> None:
    assert resolves("Result.per_query")
    assert resolves("compat.oml")
    assert resolves("trials.audit.examination")
    assert not any(map(resolves, ("audit.ATTACKS", "Result.nothing", "evaluate.nothing", "nothing")))


def test_pages_name_by_a_dot_what_is_at_the_door() -> None:
    for page, name in dotted_names(pages()):
        assert is_module(f"tieproof.{name}") or name.partition(".")[0] in door("tieproof"), page


@cache
def said_names() -> frozenset[str]:
    """The words of the pages, of docstrings of other objects, and of the types of other objects and of results."""
    said = set(re.findall(r"\w+", " ".join(pages().values())))
    said |= {name for name, measure in vars(measures).items() if str(measure) in measures.REGISTRY}
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED):
                said |= set(re.findall(r"\w+", ast.get_docstring(node) or "")) - {getattr(node, "name", "")}
            type_named = node.annotation if isinstance(node, ast.AnnAssign) else getattr(node, "returns", None)
            said |= set(re.findall(r"\w+", ast.unparse(type_named))) if type_named else set()
    return frozenset(said)


@pytest.mark.parametrize("module", DOORS)
def test_doors_are_shown(module: str) -> None:
    assert [name for name in door(module) if name not in said_names()] == []


@pytest.mark.parametrize("module", [name for name in DOORS if is_package(name)])
def test_doors_hold_nothing_else(module: str) -> None:
    """A package exports all names that its `__init__.py` imports, except for modules and private names."""
    taken = {
        alias.asname or alias.name
        for node in statements(module)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tieproof")
        if node.module != "tieproof.lazy"
        for alias in node.names
        if not is_module(f"{node.module}.{alias.name}")
    }
    assert taken - set(door(module)) == set()


@pytest.mark.parametrize("module", [name for name in DOORS if not re.search(r"\.(compat|integrations)\.", name)])
def test_doors_hold_what_they_promise(module: str) -> None:
    there = importlib.import_module(module)
    assert [name for name in door(module) if not hasattr(there, name)] == []


LAZY = [
    "tieproof",
    "tieproof.trials.audit",
    "tieproof.trials.competition",
    "tieproof.measures.confidence",
    "tieproof.measures",
    "tieproof.engine",
]


@pytest.mark.parametrize("module", LAZY)
def test_names_imported_lazily_are_those_that_type_checkers_see(module: str) -> None:
    there = importlib.import_module(module)
    assert len(exported(module)) >= 6
    for name, place in exported(module).items():
        value = getattr(there, name)
        assert getattr(importlib.import_module(place), name) is value
    assert set(exported(module)) <= set(dir(there))
    assert not hasattr(there, "nothing")


@pytest.mark.parametrize("module", [name for name in LAZY if name in DOORS])
def test_a_star_imports_what_type_checkers_see(module: str) -> None:
    taken: dict[str, object] = {}
    exec(f"from {module} import *", taken)
    assert set(door(module)) == set(taken) - {"__builtins__"} == set(importlib.import_module(module).__all__)


@pytest.mark.parametrize("only", ["bytecode", "memory"])
def test_names_of_a_package_without_its_source_are_refused(
    only: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs that bundle Python, such as PyInstaller, leave out source files unless they are told otherwise."""
    folder = tmp_path / f"only_in_{only}"
    folder.mkdir()
    source = folder / "__init__.py"
    source.write_text("from tieproof.lazy import exports\n\n__getattr__, __dir__ = exports(__name__)\n")
    monkeypatch.syspath_prepend(tmp_path)
    if only == "bytecode":
        py_compile.compile(str(source), cfile=str(folder / "__init__.pyc"))
        source.unlink()
    there = importlib.import_module(folder.name)
    source.unlink(missing_ok=True)
    with pytest.raises(ImportError, match=rf"^The names of {folder.name} are read from its source.* 'pyz\+py'"):
        there.anything  # noqa: B018


@pytest.mark.long
@pytest.mark.parametrize(
    "code",
    [
        "tp.audit; from tieproof.trials.audit import ATTACKS",
        "from tieproof.trials.audit import ATTACKS; from tieproof.trials.audit.report import AuditReport",
        "import tieproof.trials.audit; import tieproof.trials.audit.driver",
        "tp.AuditReport; tp.measures.AP; tp.confidence.Cap; from tieproof import *",
        "from tieproof import audit; from tieproof.trials.audit import audit",
    ],
)
def test_the_audit_is_a_function_in_whatever_order(code: str) -> None:
    code = f"import tieproof as tp; {code}; assert tp.audit.__name__ == 'audit'; assert callable(tp.audit)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_import_loads_next_to_nothing() -> None:
    code = "import sys; before = set(sys.modules); import tieproof; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in loaded if "tieproof" in name} == {"tieproof", "tieproof.lazy"}
    assert "numpy" not in loaded


def test_an_interpreter_completes_only_public_names() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", "import tieproof as tp; print(*dir(tp))"], capture_output=True, text=True, check=True
    )
    assert [name for name in shown.stdout.split() if not name.startswith("__")] == [
        name for name in importlib.import_module("tieproof").__all__ if not name.startswith("__")
    ]
