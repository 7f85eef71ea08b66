"""A plugin of pytest that prints where the processor's time goes: `pytest -p processor_time`, or `make test-times`.

The time of a test includes that of its setup and of the processes that it started and waited for.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

SECONDS: dict[str, float] = defaultdict(float)
TESTS: Counter[str] = Counter()


def spent() -> float:
    """The seconds of processor time of this process, and of those that it started and that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = spent()
    result = yield
    folder = "/".join(item.nodeid.split("/")[:2])
    SECONDS[folder] += spent() - before
    TESTS[folder] += 1
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    total = spent()
    rest = "collecting tests, imports, pytest itself"
    SECONDS[rest] = total - sum(SECONDS.values())
    terminalreporter.write_line("\n| tests of | tests | seconds of processor |\n|---|--:|--:|")
    for folder, seconds in sorted(SECONDS.items(), key=lambda entry: -entry[1]):
        tests = f"{TESTS[folder]:,}" if folder in TESTS else ""
        terminalreporter.write_line(f"| {folder} | {tests} | {seconds:.0f} |")
    terminalreporter.write_line(f"| all | {TESTS.total():,} | {total:.0f} |")
