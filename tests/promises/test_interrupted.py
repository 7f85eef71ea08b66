"""Evaluations that are interrupted, run in forked processes, or run in threads of the caller."""

import multiprocessing
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import tieproof as tp

RANDOM = np.random.default_rng(0)
DATA, LABELS = RANDOM.normal(size=(400, 6)).round(1), np.arange(400) % 9

CALLS: dict[str, Any] = {
    "evaluate": partial(tp.evaluate, DATA, LABELS, measures=["AP", "nDCG"]),
    "hamming": partial(tp.evaluate, DATA > 0, LABELS, distance="hamming"),
    "precision": partial(tp.evaluate, DATA, LABELS, precision="bfloat16"),
    "collisions": partial(tp.collisions, DATA, LABELS, distance="euclidean"),
    "fnmr_at_fmr": partial(tp.fnmr_at_fmr, DATA, LABELS, fmr=(0.1, 0.5)),
}


@pytest.mark.long
def test_an_interruption_leaves_nothing_behind() -> None:
    result = subprocess.run(
        [sys.executable, str(Path(__file__).parents[1] / "tools" / "interruptions.py")],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 10


def evaluated(name: str, threads: int = 2) -> str:
    return str(CALLS[name](threads=threads).to_json())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork there")
@pytest.mark.parametrize("name", CALLS)
def test_a_process_that_is_split_off_after_use(name: str) -> None:
    expected = evaluated(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's warning about threads and fork
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(evaluated, [name] * 4).get(timeout=120)
    assert found == [expected] * 4


@pytest.mark.parametrize("name", CALLS)
def test_several_threads_of_the_caller(name: str) -> None:
    before = [pool["num_threads"] for pool in threadpool_info()]
    expected = evaluated(name)
    with ThreadPoolExecutor(4) as pool:
        found = [task.result() for task in [pool.submit(evaluated, name, 1 + i % 3) for i in range(12)]]
    assert found == [expected] * 12
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_threads_of_the_caller_do_different_things() -> None:
    expected = {name: evaluated(name) for name in CALLS}
    with ThreadPoolExecutor(len(CALLS)) as pool:
        tasks = [(name, pool.submit(evaluated, name)) for _ in range(3) for name in CALLS]
        assert all(task.result() == expected[name] for name, task in tasks)
