"""Evaluators that close files, fork, hang, print much or end their process if all numbers given are equal."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from zoo import on_constants

NUMBERS = "UNRULY_NUMBERS"
"""The environment variable with the path of a file, to which processes add their numbers."""

FOREVER = 600


def note(number: int) -> None:
    with Path(os.environ[NUMBERS]).open("a") as file:
        file.write(f"{number}\n")


def written() -> int:
    """The size of the file."""
    return Path(os.environ[NUMBERS]).stat().st_size


def wait_for_more_than(before: int) -> None:
    while written() == before:
        time.sleep(0.01)


def stay() -> None:
    note(os.getpid())
    time.sleep(FOREVER)


@on_constants
def sleeps() -> Any:
    stay()


@on_constants
def closes_and_sleeps() -> Any:
    os.closerange(3, 64)
    stay()


@on_constants
def closes_and_returns() -> float:
    os.closerange(3, 64)
    return 1.0


@on_constants
def leaves_a_fork_and_exits() -> Any:
    """The forked process keeps the files that it inherited."""
    before = written()
    if os.fork() == 0:
        stay()
    wait_for_more_than(before)
    os._exit(7)


@on_constants
def stops() -> Any:
    note(os.getpid())
    os.kill(os.getpid(), signal.SIGSTOP)


@on_constants
def leaves_a_program() -> float:
    note(subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOREVER})"]).pid)
    return 0.25


@on_constants
def leaves_a_daemon() -> float:
    """Forks twice, and starts a session of its own."""
    before = written()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            stay()
        os._exit(0)
    wait_for_more_than(before)
    return 0.25


@on_constants
def leaves_a_program_without_environment() -> float:
    """Starts a program in a session of its own, while its parent continues."""
    words = [sys.executable, "-c", f"import time; time.sleep({FOREVER})"]
    note(subprocess.Popen(words, start_new_session=True, env={}).pid)
    return 0.25


@on_constants
def comes_back_twice() -> float:
    os.fork()
    return 0.25


SPOOFED = b'{"values": {"score": 1.0}, "problem": null, "message": ""}\n'


@on_constants
def writes_answers() -> float:
    """Writes answers to every file descriptor that may exist."""
    for descriptor in range(3, 64):
        for text in (SPOOFED, b'"ready"\n', 32 * b"0" + SPOOFED, b"\n\0\xff{"):
            try:
                os.write(descriptor, text)
            except OSError:
                break
    return 0.25


@on_constants
def floods_descriptors() -> Any:
    while True:
        for descriptor in range(3, 64):
            with suppress(OSError):
                os.write(descriptor, 65536 * b"x")


@on_constants
def prints_much() -> float:
    """Prints nearly as much as a call may, bypassing Python's streams."""
    os.write(1, 600_000 * b"x")
    time.sleep(0.3)
    return 0.25


@on_constants
def prints_too_much() -> float:
    os.write(1, 1_200_000 * b"x")
    return 0.25


@on_constants
def cancels() -> Any:
    raise asyncio.CancelledError("the task was cancelled")


class Speechless(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError("no words")


@on_constants
def fails_without_words() -> Any:
    raise Speechless


@on_constants
def returns_long_names() -> dict[str, float]:
    return {2_000_000 * "x": 0.5}


@on_constants
def holds_on() -> Any:
    """Catches every exception, as loops that try again do."""
    while True:
        try:  # noqa: SIM105
            time.sleep(0.01)
        except:  # noqa: E722
            pass


@on_constants
def hides_the_alarm() -> float:
    try:
        time.sleep(FOREVER)
    except:  # noqa: E722
        return 1.0
    return 0.0


@on_constants
def kills_itself() -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@on_constants
def exits_without_words() -> Any:
    raise SystemExit(Silent())
