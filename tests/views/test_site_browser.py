"""The site of the documentation, as `make docs` built it, in a real browser: Debian's Chromium by playwright."""

import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from browsers import NARROW, NEEDED, WIDE, axe, chromium
from pages import ROOT

SITE = Path(os.environ.get("TIEPROOF_SITE", ROOT / ".venv" / "site"))

pytestmark = [
    NEEDED,
    pytest.mark.skipif(not (SITE / "docs" / "index.html").exists(), reason="the site is not built: make docs"),
]

PAGES = [
    "docs/index",
    "docs/ties",
    "docs/guides/hashing",
    "docs/files",
    "docs/command_line",
    "docs/reference/confidence",
    "studies/quantization/report",
]
"""One of each kind."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without log messages."""

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address where the site is served. Its search reads pages, which a browser forbids for local files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Any]:
    """Opens a page of the site; an error in it, and what it asks for elsewhere, fails the test at its end."""
    contexts, complaints = [], []

    def note(request: Any) -> None:
        if not request.url.startswith((address, "data:")):
            complaints.append(request.url)

    def page_of(name: str, **options: Any) -> Any:
        context = browser.new_context(**{"viewport": WIDE, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("request", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{address}/{name}.html")
        return page

    yield page_of
    for context in contexts:
        context.close()
    assert complaints == []


def test_the_root_leads_to_the_contents(opened: Any) -> None:
    page = opened("index")
    page.wait_for_url("**/docs/index.html")
    assert page.locator("h1").inner_text().startswith("tieproof")


def test_navigation(opened: Any) -> None:
    page = opened("docs/index", viewport={"width": 1600, "height": 900})  # room for the contents of the page, too
    page.locator(".sidebar-tree").get_by_role("link", name="Hashing and quantization").click()
    assert page.url.endswith("docs/guides/hashing.html")
    assert page.locator(".sidebar-tree .current-page").inner_text() == "Hashing and quantization"
    page.locator(".toc-tree").get_by_role("link", name="What to report in a paper").click()
    assert page.url.endswith("#what-to-report-in-a-paper")
    page.locator(".related-pages").get_by_role("link").first.click()
    assert page.url.endswith("docs/guides/text_retrieval.html")


def test_the_reference_shows_docstrings_as_they_are_written(opened: Any) -> None:
    measures, results, others = (
        " ".join(opened(f"docs/reference/{page}").locator("article").inner_text().split())
        for page in ("measures", "results", "other_libraries")
    )
    assert "Average precision: the mean over the relevant items" in measures
    assert "For each of query_ids: the ties" in results
    assert " ambiguous_ties ties that hold both" in results
    assert "Type:" not in measures + results
    assert "TieproofEvaluator(queries=None, corpus=None, " in others


def test_links_between_pages_and_reports(opened: Any) -> None:
    page = opened("docs/guides/hashing")
    page.locator("article").get_by_role("link", name="The study on quantization").click()
    assert page.url.endswith("studies/quantization/report.html")
    page.wait_for_load_state("load")  # pictures come after the page
    pictures = page.locator("article img")
    assert pictures.count() >= 1
    assert pictures.first.evaluate("image => image.naturalWidth") > 0


@pytest.mark.parametrize(
    ("words", "found"), [("Evaluator", "docs/guides/training_loop"), ("junk cameras", "docs/guides/reidentification")]
)
def test_search(opened: Any, words: str, found: str) -> None:
    page = opened("docs/index")
    page.locator(".sidebar-search").fill(words)
    page.locator(".sidebar-search").press("Enter")
    page.wait_for_selector("#search-results li a")
    page.wait_for_function("document.querySelector('#search-results .search-summary').innerText.includes('found')")
    named = [link.get_attribute("href") for link in page.locator("#search-results li a").all()]
    assert any(name and found in name for name in named)


def test_light_and_dark(opened: Any) -> None:
    behind = "getComputedStyle(document.body).backgroundColor"
    light, dark = (opened("docs/ties", color_scheme=scheme).evaluate(behind) for scheme in ("light", "dark"))
    assert light != dark
    page = opened("docs/ties", color_scheme="light")
    chosen = {page.evaluate(behind)}
    for _ in range(2):
        page.locator(".theme-toggle:visible").first.click()
        chosen.add(page.evaluate(behind))
    assert chosen == {light, dark}


@pytest.mark.parametrize("name", PAGES)
def test_narrow_pages_do_not_scroll_sideways(opened: Any, name: str) -> None:
    page = opened(name, viewport=NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.locator("label[for=__navigation]:visible").first.click()
    page.wait_for_function("document.querySelector('.sidebar-drawer').getBoundingClientRect().x >= 0")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation(opened: Any, name: str, scheme: str) -> None:
    found = axe.Axe().run(opened(name, color_scheme=scheme)).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []
