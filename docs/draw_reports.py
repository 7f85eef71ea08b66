"""Runs the examples of exports.md that write pages, and keeps two pictures of the first one, for that section.

Needs the extra `browser` and Debian's Chromium.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

from draw_plots import run, section
from PIL import Image
from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


def take_pictures(page: Path) -> None:
    """The top of a page in the light, and its worst queries in the dark."""
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for name, scheme, anchor in (("report", "light", "body"), ("report_queries", "dark", "#worst")):
            opened = browser.new_page(viewport={"width": 1120, "height": 1080}, color_scheme=scheme)
            opened.goto(page.absolute().as_uri())
            opened.locator(anchor).evaluate("node => window.scrollTo(0, node.offsetTop - 24)")
            opened.screenshot(path=f"{name}.png")
            Image.open(f"{name}.png").quantize(200, dither=Image.Dither.NONE).save(f"{name}.png", optimize=True)
        browser.close()


def main() -> None:
    """Write the pages in a folder of their own, and copy what is shown."""
    text = section("Pages")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(text)
        take_pictures(Path("report.html"))
        for name in re.findall(r"!\[.*?\]\((.*?)\)", text):
            shutil.copy(name, FOLDER / name)
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
