"""Products of codes by a matrix unit: by one that plain C emulates, and by that of this processor if it has one."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernel_levels import LEVELS
from kernels import codes as reference
from tieproof.distances import codes
from tieproof.native.building import FLAGS, SOURCES, compile_kernels, compiler, this_machine
from tieproof.native.calls import ELSEWHERE, load, resolved

TESTS = Path(__file__).parents[1]
EMULATED = Path(__file__).with_name("emulated_panels.h")
OF_CODES = [f"native/test_kernels_{name}.py" for name in ("codes", "sifting", "keeping", "maxima")]


@pytest.fixture(scope="module", params=["emulated", "of this processor"])
def unit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if request.param != "emulated":
        library = load(LEVELS[-1])
        if library.dots_of_bytes() != codes.MATRIX_UNIT:
            pytest.skip("this processor has no matrix unit (AMX), or the process may not use it")
        return library
    file = tmp_path_factory.mktemp("emulated") / "emulated.so"
    source = Path(__file__).with_name("emulated_panels.c")
    checked = ["-O1", "-DCHECKED", f"-I{SOURCES}"]
    subprocess.run([*compiler(this_machine()), *FLAGS, *checked, "-shared", str(source), "-o", str(file)], check=True)
    return ctypes.CDLL(str(file))


def test_the_unit_agrees_with_the_loop(unit: ctypes.CDLL) -> None:
    assert unit.dots_of_bytes() == codes.MATRIX_UNIT


@pytest.mark.parametrize(
    ("width", "slices"), [(64, 1), (128, 1), (192, 1), (512, 1), (6144, 1), (64, 2), (192, 2), (64, 3), (2048, 3)]
)
def test_products(width: int, slices: int, unit: ctypes.CDLL) -> None:
    """Of rows and items around the 32 that are multiplied together, the largest codes among them."""
    stubs: tuple[Any, ...] = codes.multiply_codes, codes.arrange_codes
    multiply, arrange = (resolved(stub.__wrapped__, unit) for stub in stubs)
    random = np.random.default_rng(width)
    for height, count, first in ((1, 1, 0), (15, 16, 3), (16, 31, 16), (17, 33, 5), (32, 64, 0), (33, 65, 31)):
        rows, items = (
            random.integers(-127, 128, (n, slices * width)).astype(np.int8) for n in (height, first + count + 2)
        )
        rows[-1], items[first] = -127, 127
        total = rows.reshape(height, slices, width).sum(axis=2, dtype=np.int32)
        row_scale, scale = random.random(height).astype(np.float32), random.random(count).astype(np.float32)
        backwards = np.ascontiguousarray(items.reshape(-1, slices, width)[:, ::-1]).reshape(items.shape)
        blocks = np.empty((-(-len(items) // 16), 16 * slices * width), dtype=np.uint8)
        arrange((backwards, codes.EXCESS, blocks))
        expected, found = np.empty((2, height, count), dtype=np.float32)
        reference.multiply_codes(rows, row_scale, items[first : first + count], scale, expected, slices)
        multiply((rows, total, row_scale, blocks, scale, first, codes.MATRIX_UNIT, found))
        assert found.tobytes() == expected.tobytes()


@pytest.mark.heavy
def test_whole_evaluations_by_an_emulated_unit(tmp_path: Path) -> None:
    """The tests of all that multiplies codes pass with libraries in which plain C stands for the unit."""
    compile_kernels(str(tmp_path), this_machine(), ["-O0", "-include", str(EMULATED)])
    tests = [str(TESTS / name) for name in [*OF_CODES, "engine/test_codes.py"]]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    ended = subprocess.run(command, env={**os.environ, ELSEWHERE: str(tmp_path)}, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout
    assert "passed" in ended.stdout
