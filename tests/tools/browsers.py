"""Debian's Chromium without a screen, driven by playwright; tests that import this are skipped where it is absent."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: extra browser")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed: extra browser")

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
NEEDED = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser with a folder of its own, which is new."""
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()
