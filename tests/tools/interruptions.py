"""Interrupts evaluations at many moments; run by test_interrupted.py in a process of its own."""

import _thread
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_info

import tieproof as tp

RANDOM = np.random.default_rng(0)
LARGE, SMALL = RANDOM.normal(size=(2000, 32)).astype(np.float32), RANDOM.integers(0, 3, size=(300, 3))

CALLS: dict[str, tuple[Callable[..., Any], npt.NDArray[Any]]] = {
    "evaluate": (tp.evaluate, LARGE),
    "many relevant": (partial(tp.evaluate, memory="8MiB"), LARGE[:1200]),
    "cityblock": (partial(tp.evaluate, distance="cityblock"), LARGE[:900]),
    "precision": (partial(tp.evaluate, precision="float32"), LARGE[:700]),
    "collisions": (partial(tp.collisions, epsilon=1e-3), SMALL),
    "fnmr_at_fmr": (tp.fnmr_at_fmr, LARGE[:900]),
}


def state() -> tuple[list[int], int]:
    """The threads of libraries and of Python."""
    return [pool["num_threads"] for pool in threadpool_info()], threading.active_count()


def interrupted(call: Callable[[], Any], delay: float) -> float | None:
    """Seconds from an interruption to the end of the call; None if the call ended before."""
    rung: list[float] = []

    def ring() -> None:
        rung.append(time.monotonic())
        _thread.interrupt_main()

    timer = threading.Timer(delay, ring)
    try:
        try:
            timer.start()
            call()
        finally:
            timer.cancel()
            if timer.is_alive():
                timer.join()
            time.sleep(0.05)  # if the alarm rang at the end
    except KeyboardInterrupt:
        return time.monotonic() - rung[0]
    return None


def main() -> None:
    """Try all moments; the last line states how often the interruption came before the end."""
    met = 0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
    tp.evaluate(SMALL, np.arange(300) % 5)  # loads libraries
    before = state()
    for name, (function, data) in CALLS.items():
        call = partial(function, data, np.arange(len(data)) % 5, threads=3, progress=True)
        expected = call().to_json()
        began = time.monotonic()
        call()
        long = time.monotonic() - began
        for share in (0.02, 0.15, 0.3, 0.5, 0.7, 0.9):
            seconds = interrupted(call, share * long)
            met += seconds is not None
            deadline = time.monotonic() + 60
            while state() != before and time.monotonic() < deadline:
                time.sleep(0.01)
            assert state() == before, (name, share, state(), before, threading.enumerate())
            assert seconds is None or seconds < 60 + long, (name, share, seconds)
        assert call().to_json() == expected, name
    print(met)


if __name__ == "__main__":
    main()
