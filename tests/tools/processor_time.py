"""A plugin of pytest that prints where the processor's time goes: `pytest -p processor_time`, or `make test-times`.

It lists the tests that take more than a second, and the time of each folder.

The time of a test includes that of its setup and of the processes that it started and waited for.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

SECONDS: dict[str, float] = defaultdict(float)
TESTS: Counter[str] = Counter()
LONG: dict[str, float] = {}
"""Tests that take more than a second: each should be crossed, share what it makes, or be marked as long."""


def spent() -> float:
    """The seconds of processor time of this process, and of those that it started and that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = spent()
    result = yield
    folder, seconds = "/".join(item.nodeid.split("/")[:2]), spent() - before
    SECONDS[folder] += seconds
    if seconds > 1:
        LONG[item.nodeid] = seconds
    TESTS[folder] += 1
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    total = spent()
    rest = "collecting tests, imports, pytest itself"
    SECONDS[rest] = total - sum(SECONDS.values())
    for name, seconds in sorted(LONG.items(), key=lambda entry: -entry[1]):
        terminalreporter.write_line(f"{seconds:6.1f}  {name}")
    terminalreporter.write_line("\n| tests of | tests | seconds of processor |\n|---|--:|--:|")
    for folder, seconds in sorted(SECONDS.items(), key=lambda entry: -entry[1]):
        tests = f"{TESTS[folder]:,}" if folder in TESTS else ""
        terminalreporter.write_line(f"| {folder} | {tests} | {seconds:.0f} |")
    terminalreporter.write_line(f"| all | {TESTS.total():,} | {total:.0f} |")
