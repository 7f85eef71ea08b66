"""The progress bar: hidden at first, then shown even without progress, and removed at the end."""

import io
import sys
import threading
import time

import pytest

from tieproof.evaluation import progress
from tieproof.evaluation.problems import watched
from tieproof.evaluation.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, steps: int) -> str:
    """The output on a terminal of work that takes a third of a second."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar(3_000_000) as advance:
        for _ in range(steps):
            advance(1_000_000)
        time.sleep(0.3)
    assert sys.stderr is stream
    return stream.getvalue()


@pytest.mark.parametrize("steps", [0, 2])
def test_it_appears_by_itself(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.1)
    text = shown(monkeypatch, steps)
    assert "million pairs" in text
    assert f"{steps}/3" in text


def test_short_work_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 3) == ""


def test_no_bar_without_progress(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    with watched(False)(3_000_000) as advance:
        advance(1_000_000)
        time.sleep(0.3)
    assert capfd.readouterr() == ("", "")


def test_threads_advance_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar(4000, "things", 1.0) as advance:
        threads = [threading.Thread(target=lambda: [advance(1) for _ in range(500)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(0.2)
    assert "4000/4000" in stream.getvalue()


def test_the_bar_is_removed_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    stream, threads = Terminal(), threading.active_count()
    monkeypatch.setattr(sys, "stderr", stream)

    def work() -> None:
        with progress_bar(9):
            time.sleep(0.1)
            raise KeyError("mine")

    with pytest.raises(KeyError):
        work()
    assert sys.stderr is stream
    for _ in range(100):  # its threads, and those of tests before this one, need a moment to end
        if threading.active_count() <= threads:
            break
        time.sleep(0.02)
    assert threading.active_count() <= threads
