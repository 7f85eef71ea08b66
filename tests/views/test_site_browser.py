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
    "docs/exports",
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

    def page_of(name: str, suffix: str = ".html", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": WIDE, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("request", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{address}/{name}{suffix}")
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
    assert page.locator(".sidebar-tree > ul > li:visible").count() <= 25
    page.locator(".sidebar-tree").get_by_role("link", name="Guides").click()
    page.locator("article").get_by_role("link", name="Hashing and quantization").click()
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


FIRST_PAGES = {
    "install": "docs/installation",
    "extras": "docs/installation",
    "ties": "docs/ties",
    "ndcg": "docs/measures",
    "significance": "docs/compare",
    "confidence": "docs/confidence",
    "distribution": "docs/uncertainty",
    "glossary": "docs/ties",
    "noise": "docs/guides/reproducible",
    "reproducible": "docs/guides/reproducible",
    "hamming": "docs/guides/hashing",
    "float16": "docs/guides/hashing",
    "knn": "docs/guides/knn_classification",
    "cmc": "docs/guides/reidentification",
    "reidentification": "docs/guides/reidentification",
    "junk cameras": "docs/guides/reidentification",
    "training": "docs/guides/training_loop",
    "beir": "docs/guides/text_retrieval",
    "faiss": "docs/guides/vector_search",
    "recall": "docs/guides/vector_search",
    "memory": "docs/guides/large_data",
    "duplicates": "docs/collisions",
    "latex": "docs/exports",
    "plot": "docs/exports",
    "competition": "docs/guides/competitions",
    "lightning": "docs/guides/training_loop",
    "shards": "docs/guides/large_data",
    "parquet": "docs/files",
    "ray": "docs/cluster",
    "audit": "docs/audit",
    "leaderboard": "docs/judge",
    "mteb": "docs/guides/text_retrieval",
    "sklearn": "docs/integrations/scikit_learn",
    "torchmetrics": "docs/migration/torchmetrics",
    "trec_eval": "docs/migration/trec_eval",
}
"""Words that newcomers look for, and a page that must be among the first three that the search finds."""


def test_search(opened: Any) -> None:
    page = opened("docs/index")
    page.locator(".sidebar-search").fill("hamming")
    page.locator(".sidebar-search").press("Enter")
    page.wait_for_url("**/search.html?q=hamming*")
    missed = {}
    for words, wanted in FIRST_PAGES.items():
        page = opened(f"search.html?q={words}", suffix="")
        page.wait_for_function(
            "document.querySelector('#search-results .search-summary')?.innerText.includes('found')"
        )
        links = page.locator("#search-results li > a").all()[:3]
        found = [(link.get_attribute("href") or "").split(".html")[0] for link in links]
        if wanted not in found:
            missed[words] = found
    assert missed == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_have_the_ground_of_the_page(opened: Any, scheme: str) -> None:
    page = opened("studies/quantization/report", color_scheme=scheme)
    look = page.locator("article img").first.evaluate("image => getComputedStyle(image).filter")
    assert look == ("none" if scheme == "light" else "invert(1) hue-rotate(180deg)")


@pytest.mark.parametrize("width", [1024, 1600])
def test_nothing_is_cut_on_a_desktop(opened: Any, width: int) -> None:
    for name in PAGES:
        page = opened(name, viewport={"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        blocks = "[...document.querySelectorAll('article pre')]"
        assert page.evaluate(f"{blocks}.filter(each => each.scrollWidth > each.clientWidth + 1).length") == 0, name


def test_the_gallery_leads_to_each_picture(opened: Any) -> None:
    page = opened("docs/exports")
    links = [link.get_attribute("href") or "" for link in page.locator("article .sd-card a").all()]
    sections = [link for link in links if link.startswith("#")]
    assert len(sections) >= 10
    assert all(page.locator(section).locator("img").count() >= 1 for section in sections)


def test_code_can_be_copied(opened: Any) -> None:
    page = opened("docs/index")
    assert page.locator("button.copybtn").count() >= 2


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
    beyond = "[...document.querySelectorAll('article *')].filter(each => each.scrollWidth > each.clientWidth + 1"
    scrolls = f"{beyond} && getComputedStyle(each).overflowX === 'auto')"
    looks = page.evaluate(f"{scrolls}.map(each => getComputedStyle(each).backgroundImage)")
    assert all("gradient" in look for look in looks)  # it shows that it goes on
    page.locator("label[for=__navigation]:visible").first.click()
    page.wait_for_function("document.querySelector('.sidebar-drawer').getBoundingClientRect().x >= 0")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation(opened: Any, name: str, scheme: str) -> None:
    found = axe.Axe().run(opened(name, color_scheme=scheme)).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []
