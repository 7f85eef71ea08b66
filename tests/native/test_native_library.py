"""The library of kernels: its compiler flags, instructions and processor levels, and its agreement with the stubs."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import tieproof
from kernel_levels import LEVELS
from tieproof.errors import TieproofError
from tieproof.native import calls
from tieproof.native.building import FLAGS, SOURCES, compiler, library_file, this_machine
from tieproof.native.calls import NAMES
from tieproof.native.conversions import element_of, is_array, is_named_tuple, paths_to_generic, without_none

Patch = pytest.MonkeyPatch
ROOT = Path(tieproof.__file__).parent
NO_STUB = {"made_of", "flags", "processor_level", "dots_of_bytes", "sums_by_vectors"}
"""Functions that are called without stubs, since they say what a processor is."""


@pytest.mark.parametrize("level", LEVELS)
def test_flags_keep_every_bit(level: str) -> None:
    flags = calls.load(level).flags().decode().split()
    assert "-ffp-contract=off" in flags
    assert not {"-Ofast", "-ffast-math", "-funsafe-math-optimizations", "-fassociative-math"} & set(flags)
    assert {flag for flag in flags if flag.startswith("-f")} <= {*FLAGS, "-fno-omit-frame-pointer"} | {
        flag for flag in flags if "sanitize" in flag
    }


FUSED = re.compile(r"\tv?f(?:n?m(?:add|sub|addsub|subadd)|ml[as]|nml[as])\w*\s")
"""Instructions of x86-64 and of ARM that multiply and add with a single rounding."""


MAY_FUSE = {"sum_by_256_bits", "sum_by_512_bits"}
"""The functions whose sums have a bound, and are not the same on every processor."""


@pytest.mark.parametrize("level", LEVELS)
def test_no_instruction_multiplies_and_adds_at_once(level: str) -> None:
    if shutil.which("objdump") is None:
        pytest.skip("objdump is not installed")
    file = library_file(level, this_machine().suffix)
    code = subprocess.run(["objdump", "-d", file], capture_output=True, text=True, check=True).stdout
    functions = dict(re.findall(r"^[0-9a-f]+ <(\S+)>:\n((?:.+\n?)*)", code, re.MULTILINE))
    assert len(functions) > 100
    assert len(code.splitlines()) > 500
    assert {name for name, body in functions.items() if FUSED.search(body)} <= MAY_FUSE


def test_a_fused_instruction_would_be_found() -> None:
    assert FUSED.search("  10:\tc4 e2 f1 b8 c2 \tvfmadd231sd %xmm2,%xmm1,%xmm0")
    assert FUSED.search("  10:\t1f420820 \tfmadd\td0, d1, d2, d2")
    assert FUSED.search("  10:\t4e62cc20 \tfmla\tv0.2d, v1.2d, v2.2d")
    assert not FUSED.search("  10:\tc5 fb 58 c1 \tvaddsd %xmm1,%xmm0,%xmm0")


PROGRAM = """
import numpy as np
import tieproof as tp
x = np.random.default_rng(0).normal(size=(60, 5)).round(1)
result = tp.evaluate(x, np.arange(60) % 4, measures=["AP", "AP@R", "P@5", "nDCG"])
print(*(estimate.hex() for measure in ("AP", "AP@R", "P@5", "nDCG") for estimate in
    (result[measure].lower, result[measure].expected, result[measure].upper, result[measure].std)))
"""


def evaluated(monkeypatch: Patch, level: str) -> subprocess.CompletedProcess[str]:
    monkeypatch.setenv(calls.WANTED, level)
    return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)


@pytest.mark.long
def test_every_level_of_processor_gives_the_same_bits(monkeypatch: Patch) -> None:
    printed = {evaluated(monkeypatch, level).stdout for level in ("", *LEVELS)}
    assert len(printed) == 1
    assert printed.pop().startswith("0x")


def test_an_unknown_level_is_refused(monkeypatch: Patch) -> None:
    failed = evaluated(monkeypatch, "x86-64-v9")
    known = ", ".join(LEVELS)
    assert (
        f"TieproofError: TIEPROOF_PROCESSOR is 'x86-64-v9', but this machine has only {known}. Choose one of them."
        in failed.stderr
    )


@pytest.fixture
def fresh(monkeypatch: Patch) -> Callable[[str], Any]:
    """`calls.load` with an empty cache."""
    return calls.load.__wrapped__


def test_a_library_of_other_sources_is_refused(fresh: Callable[[str], Any], monkeypatch: Patch) -> None:
    monkeypatch.setattr(calls, "sources_digest", lambda: "0123456789abcdef")
    with pytest.raises(TieproofError, match=r"was not compiled from the sources next to it\. Run `make kernels`\."):
        fresh(LEVELS[-1])


def test_a_library_without_sources_is_taken(fresh: Callable[[str], Any], monkeypatch: Patch) -> None:
    monkeypatch.setattr(calls, "sources_digest", lambda: None)
    assert fresh(LEVELS[-1]).made_of()


def test_a_missing_library_is_refused(fresh: Callable[[str], Any], monkeypatch: Patch, tmp_path: Path) -> None:
    monkeypatch.setenv(calls.ELSEWHERE, str(tmp_path))
    with pytest.raises(TieproofError, match=r"kernels-.* does not exist\. Run `make kernels`, or install"):
        fresh(LEVELS[-1])


def test_an_old_processor_is_refused(monkeypatch: Patch) -> None:
    class Old:
        processor_level = staticmethod(lambda: 1)

    monkeypatch.setattr(calls, "load", lambda level: Old)
    if len(this_machine().levels) == 1:
        pytest.skip("there is one library for all processors of this kind")
    with pytest.raises(TieproofError, match="older than x86-64-v2, which tieproof needs"):
        calls.levels_of_this_machine.__wrapped__()


BEYOND = """
import numpy as np
from tieproof.inputs.documents import Documents, DocumentTable
one = np.ones(1, dtype=np.int32)
nothing = np.zeros(0, dtype=np.int64)
DocumentTable(Documents(np.zeros(3, dtype=np.uint8), np.zeros(1, dtype=np.int64), one, nothing), 1)
"""


def test_an_index_beyond_an_array_ends_a_checked_library() -> None:
    if "-DCHECKED" not in calls.best_library().flags().decode().split():
        pytest.skip("the library is not that of `make test-sanitized`")
    ended = subprocess.run([sys.executable, "-c", BEYOND], capture_output=True, text=True, check=False)
    assert ended.returncode < 0
    assert re.search(r"runs\.h:\d+: index 0 of documents->query is not below 0", ended.stderr)


@cache
def preprocessed() -> str:
    """The preprocessed sources of all kernels."""
    command = [*compiler(this_machine()), "-E", "-P", *FLAGS[:1], f"{SOURCES}/kernels.c"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.sub(r"\s+", " ", text.replace("_Bool", "bool"))


def fields_in_c(struct: str) -> list[tuple[str, str]]:
    """The fields of a struct, as (type, name)."""
    (body,) = re.findall(rf"typedef struct \{{([^{{}}]*)\}} {struct};", preprocessed())
    return list(declared(body))


def declared(body: str) -> Iterator[tuple[str, str]]:
    """(type, name) of the fields of a struct; several may share a type."""
    for line in body.split(";"):
        if line.strip():
            kind, names = re.fullmatch(r"\s*((?:\w+ )*\w+) (.*?)\s*", line).groups()  # type: ignore[union-attr]
            for name in names.split(","):
                yield kind + " *" * name.count("*"), name.replace("*", "").strip()


@cache
def prototypes() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """The result type and the arguments of every exported function."""
    pattern = r'__attribute__\(\(visibility\("default"\)\)\) ([\w ]*?\*? ?)\b(\w+)\(([^()]*)\) ?\{'
    return {
        name: (returned.strip(), list(declared(taken.replace("const ", "").replace(",", ";").replace("void", ""))))
        for returned, name, taken in re.findall(pattern, preprocessed())
    }


def modules_with_stubs() -> Iterator[tuple[str, list[str]]]:
    """The modules of tieproof that have stubs, and the names of these."""
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        stubs = [
            each.name
            for each in tree.body
            if isinstance(each, ast.FunctionDef) and any(ast.unparse(by) == "native" for by in each.decorator_list)
        ]
        if stubs:
            yield ".".join(path.relative_to(ROOT.parent).with_suffix("").parts), stubs


STUBS: dict[str, Any] = {
    name: getattr(import_module(module), name) for module, names in modules_with_stubs() for name in names
}


def test_no_two_stubs_have_the_same_name() -> None:
    assert len(STUBS) == sum(len(names) for _, names in modules_with_stubs())


def test_every_kernel_has_a_stub() -> None:
    endings = "|".join(sorted(set(NAMES.values())))
    assert prototypes()
    for name in prototypes().keys() - NO_STUB:
        assert name in STUBS or re.sub(f"_({endings})$", "", name) in STUBS


@pytest.mark.parametrize("stub", STUBS)
def test_a_stub_has_the_types_of_its_kernel(stub: str) -> None:
    hints = get_type_hints(STUBS[stub].__wrapped__)
    generic = any(paths_to_generic(tuple(hints.values())))
    endings = [f"_{ending}" for ending in set(NAMES.values()) if f"{stub}_{ending}" in prototypes()]
    assert endings if generic else stub in prototypes()
    for ending in endings if generic else [""]:
        returned, taken = prototypes()[stub + ending]
        assert taken == [
            (in_c(hint, ending, argument=True), name) for name, hint in hints.items() if name != "return"
        ]
        check_result(hints["return"], returned, ending)


def in_c(hint: Any, ending: str, argument: bool = False) -> str:
    """A type in C; the fields of its struct are compared."""
    hint, _ = without_none(hint)
    if hint in NUMBERS:
        return NUMBERS[hint]
    if is_array(hint):
        element = element_of(hint)
        return f"{(NAMES[element] if element else ending[1:]).capitalize()}s"
    assert is_named_tuple(hint)
    fields = get_type_hints(hint)
    name = hint.__name__ + (ending if any(paths_to_generic(tuple(fields.values()))) else "")
    assert fields_in_c(name) == [(in_c(part, ending), field) for field, part in fields.items()]
    return f"{name} *" if argument else name


NUMBERS = {int: "int64_t", float: "double", bool: "bool"}


def check_result(hint: Any, returned: str, ending: str) -> None:
    """Check that a kernel's result type is that of its stub."""
    if hint is type(None):
        assert returned == "void"
    elif hint in NUMBERS:
        assert returned == NUMBERS[hint]
    elif is_named_tuple(hint):
        assert returned == in_c(hint, ending)
    else:
        assert [kind for kind, _ in fields_in_c(returned)] == [NUMBERS[part] for part in get_args(hint)]


@pytest.mark.parametrize("file", sorted(path.name for path in Path(SOURCES).iterdir()))
def test_constants_are_the_same_in_c_and_in_python(file: str) -> None:
    text = Path(SOURCES, file).read_text("utf-8")
    for module in re.findall(r"\b([\w/]+/\w+)\.py\b", text):
        names = vars(import_module(f"tieproof.{module.replace('/', '.')}"))
        for name, value in re.findall(r"^#define (\w+) (-?[\d.]+)\b", text, re.MULTILINE):
            assert name not in names or names[name] == float(value)
