"""Pages of results in a real browser: Debian's Chromium, without a screen, driven by playwright."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tieproof as tp
from browsers import NARROW, NEEDED, WIDE, axe, chromium
from page_cases import CASES, SCRIPT, WITH_TABLE, codes

pytestmark = NEEDED


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every page."""
    folder = tmp_path_factory.mktemp("pages")
    for name, write in CASES.items():
        write(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in CASES}


class Opened:
    """An open page, with its console messages and its requests."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": WIDE, **options})
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *error: object) -> None:
        self.context.close()

    @property
    def strangers(self) -> list[str]:
        """The requests for anything other than the page itself."""
        return [url for url in self.asked[1:] if not url.startswith("data:")]


def column(page: Any, place: int) -> list[str]:
    """The visible cells of a column of the table of all queries; opened rows have only one cell."""
    found: list[str] = page.locator(f"#queries tbody tr:not(.opened) td:nth-child({place + 1})").all_inner_texts()
    return found


def shown(page: Any) -> str:
    text: str = page.locator("#shown").inner_text()
    return text


@pytest.mark.parametrize("name", CASES)
def test_pages_log_and_request_nothing_and_have_the_width_of_the_screen_or_paper(
    browser: Any, files: dict[str, Path], name: str
) -> None:
    opened = Opened(browser, files[name])
    with opened as page:
        assert page.title().endswith("– tieproof")
        page.mouse.wheel(0, 20_000)
        page.wait_for_timeout(50)
        assert opened.said == []
        assert opened.strangers == []
        assert page.evaluate("document.querySelectorAll('script').length") == (2 if name in WITH_TABLE else 0)
        assert_narrow(page)
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 680, "height": 1009})  # A4 with margins of 15 mm, at 96 pixels an inch
        assert page.evaluate("document.documentElement.scrollWidth") <= 680


def assert_narrow(page: Any) -> None:
    """On a telephone, no part of a page is wider than the screen."""
    page.set_viewport_size(NARROW)
    for part in ("header", "main", "footer"):
        box = page.locator(f"body > {part}").bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= NARROW["width"]


@pytest.mark.few(5)
@pytest.mark.parametrize("name", CASES)
def test_narrow_pages_without_javascript(browser: Any, files: dict[str, Path], name: str) -> None:
    with Opened(browser, files[name], java_script_enabled=False) as page:
        assert_narrow(page)


@pytest.mark.few(6)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", CASES)
def test_axe_finds_no_violation(browser: Any, files: dict[str, Path], name: str, scheme: str) -> None:
    with Opened(browser, files[name], color_scheme=scheme) as page:
        if name in WITH_TABLE:
            page.locator("#queries tbody button").first.click()
        found = axe.Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []


def faded(page: Any, table: Any) -> tuple[bool, bool]:
    """Whether the left and the right side of a table are darker, or in the dark lighter, than the page."""
    corner = {"x": 0, "y": 0, "width": 1, "height": 1}
    picture, paper = (
        np.array(Image.open(BytesIO(taken)).convert("L"), dtype=int)
        for taken in (table.screenshot(), page.screenshot(clip=corner))
    )
    usual = np.abs(np.median(picture, axis=0) - paper[0, 0])
    return bool(usual[:10].max() > 9), bool(usual[-10:].max() > 9)


@pytest.mark.few(6)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", CASES)
def test_tables_show_that_they_scroll(browser: Any, files: dict[str, Path], name: str, scheme: str) -> None:
    with Opened(browser, files[name], viewport=NARROW, color_scheme=scheme) as page:
        assert page.locator("table:not(.scroll table)").count() == 0
        page.add_style_tag(content="th, td { color: transparent !important; }")
        for table in page.locator(".scroll").all():
            beyond = table.evaluate("table => table.scrollWidth - table.clientWidth")
            assert faded(page, table) == (False, beyond > 0)
            table.evaluate("table => table.scrollLeft = table.scrollWidth")
            assert faded(page, table) == (beyond > 0, False)
            table.evaluate("table => table.scrollLeft = 0")
            table.evaluate("table => table.firstElementChild.style.minWidth = `${table.clientWidth + 6}px`")
            assert faded(page, table) == (False, True)  # even if it goes on by a few pixels


def test_it_is_read_without_javascript(browser: Any, files: dict[str, Path]) -> None:
    with Opened(browser, files["embeddings"], java_script_enabled=False) as page:
        assert page.locator("#queries tbody tr").count() == 60
        assert page.locator("#queries .tools").is_hidden()
        assert page.locator("#queries caption").is_visible()
        closed = page.locator("details").nth(7)
        assert closed.locator(".near").is_hidden()
        closed.locator("summary").click()
        assert closed.locator(".near").is_visible()


def test_sorting(browser: Any, files: dict[str, Path]) -> None:
    with Opened(browser, files["embeddings"]) as page:
        heads = page.locator("#queries thead button")
        assert heads.all_inner_texts() == [
            "query",
            "category",
            "lower",
            "expected",
            "upper",
            "ambiguous ties",
            "largest tie",
        ]
        for place in (2, 4, 5):
            heads.nth(place).click()
            rising = [float(text) for text in column(page, place)]
            assert rising == sorted(rising)
            assert page.locator("#queries thead th").nth(place).get_attribute("aria-sort") == "ascending"
            heads.nth(place).click()
            falling = [float(text) for text in column(page, place)]
            assert falling == sorted(falling, reverse=True)
            assert falling != rising
        heads.nth(0).click()
        assert column(page, 0) == [str(query) for query in range(25)]
        assert page.locator("[aria-sort]").count() == 1


def test_sorting_by_numbers_that_are_not_there(browser: Any, tmp_path: Path) -> None:
    vectors, labels = codes(12)
    labels[10:] = 98, 99
    result = tp.evaluate(vectors, labels, distance="hamming", empty="nan", measures=["AP"])
    result.report(tmp_path / "page.html")
    with Opened(browser, tmp_path / "page.html") as page:
        for _ in range(2):
            page.locator("#queries thead button").nth(1).click()
            assert column(page, 1)[-2:] == ["–", "–"]


def test_filtering(browser: Any, files: dict[str, Path]) -> None:
    with Opened(browser, files["embeddings"]) as page:
        assert shown(page) == "1 to 25 of 60"
        page.locator("#find").fill("CLASS 11 ")
        assert sorted(column(page, 0)) == ["55", "56", "57", "58", "59"]
        assert shown(page) == "1 to 5 of 5 that match, of 60"
        page.locator("#find").fill("no such query")
        assert column(page, 0) == []
        assert shown(page) == "none of 0 that match, of 60"
        page.locator("#find").fill("")
        page.locator("#flagged").check()
        assert "0" not in column(page, 5)


def test_turning_pages(browser: Any, files: dict[str, Path]) -> None:
    with Opened(browser, files["embeddings"]) as page:
        back, on = page.locator("#back"), page.locator("#on")
        seen = column(page, 0)
        assert back.is_disabled()
        on.click()
        seen += column(page, 0)
        on.click()
        assert shown(page) == "51 to 60 of 60"
        assert on.is_disabled()
        assert sorted(map(int, seen + column(page, 0))) == [*range(60)]


def test_another_measure(browser: Any, files: dict[str, Path]) -> None:
    vectors, labels = codes(60)
    estimate = tp.evaluate(vectors, labels, distance="hamming").per_query("P@10")
    with Opened(browser, files["embeddings"]) as page:
        page.locator("#choice").select_option("P@10")
        page.locator("#queries thead button").nth(0).click()
        for place, end in ((2, "lower"), (3, "expected"), (4, "upper")):
            assert column(page, place) == [f"{value:.4f}" for value in getattr(estimate, end)[:25]]


def test_opening_a_query(browser: Any, files: dict[str, Path]) -> None:
    vectors, labels = codes(60)
    result = tp.evaluate(vectors, labels, distance="hamming")
    values = result.per_query("AP")
    worst = np.lexsort((values.upper, values.expected, values.lower))
    with Opened(browser, files["embeddings"]) as page:
        assert [int(text) for text in column(page, 0)] == worst[:25].tolist()
        button = page.locator("#queries tbody button").nth(7)  # not among the five that are open from the start
        button.click()
        assert button.get_attribute("aria-expanded") == "true"
        said = page.locator("#opened").inner_text()
        for measure in result.measures:
            assert measure in said
            assert f"{result.per_query(measure).lower[worst[7]]:.4f}" in said
        page.locator("#opened a").click()
        assert page.locator(f"#query-{worst[7]}").get_attribute("open") is not None
        assert page.locator(f"#query-{worst[7]} .near").is_visible()
        button.click()
        assert page.locator("#opened").count() == 0


def test_differences_may_be_negative(browser: Any, files: dict[str, Path]) -> None:
    with Opened(browser, files["comparison"]) as page:
        page.locator("#queries thead button").nth(1).click()
        numbers = [float(text) for text in column(page, 1)]
        assert numbers == sorted(numbers)
        assert numbers[0] < 0


def test_the_keyboard_is_enough(browser: Any, files: dict[str, Path]) -> None:
    with Opened(browser, files["embeddings"]) as page:
        page.locator("#find").focus()
        page.keyboard.type("class 11 ")
        order = []
        for _ in range(14):
            page.keyboard.press("Tab")
            order.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
        assert order[:2] == ["choice", "flagged"]
        assert order[3:10] == ["query", "category", "lower", "expected", "upper", "ambiguous ties", "largest tie"]
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        opened = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Enter")
        assert page.locator("#opened").count() == 1
        assert page.evaluate("document.activeElement.textContent") == opened
        page.keyboard.press("Space")
        assert page.locator("#opened").count() == 0


@pytest.mark.parametrize("name", ["embeddings", "run", "comparison"])
def test_names_are_text(browser: Any, files: dict[str, Path], name: str) -> None:
    with Opened(browser, files[name]) as page:
        if name == "run":
            page.locator("#queries tbody button").first.click()
        assert page.title() != "gone"
        assert page.locator("img").count() == 0
        assert SCRIPT in page.locator("main").inner_text()
        assert page.evaluate("document.title") != "gone"


def test_names_of_what_every_object_has(browser: Any, tmp_path: Path) -> None:
    names = ["constructor", "__proto__", "toString", "x" * 300]
    qrels, scores = ({name: {"d1": value} for name in names} for value in (1, 0.5))
    tp.evaluate_run(qrels, scores).report(tmp_path / "page.html", qrels=qrels, run=scores)
    opened = Opened(browser, tmp_path / "page.html", viewport=NARROW)
    with opened as page:
        for name in names:
            page.get_by_role("button", name=name, exact=True).click()
            page.locator("#opened a").click()
        assert opened.said == []
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


def test_dark_and_light(browser: Any, files: dict[str, Path]) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        with Opened(browser, files["embeddings"], color_scheme=scheme) as page:
            style = "getComputedStyle(document.body)"
            seen[scheme] = page.evaluate(f"[{style}.backgroundColor, {style}.color]")
    assert seen["light"][0] == "rgb(255, 255, 255)"
    assert seen["light"] != seen["dark"]


def test_paper(browser: Any, files: dict[str, Path]) -> None:
    with Opened(browser, files["embeddings"], color_scheme="dark") as page:
        page.emulate_media(media="print")
        style = "getComputedStyle(document.body)"
        assert page.evaluate(f"[{style}.backgroundColor, {style}.color]") == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
        assert page.locator(".tools").is_hidden()
        assert page.locator(".turn").is_hidden()
        assert all(near.is_visible() for near in page.locator("details .near").all())
        assert page.pdf().startswith(b"%PDF")


def test_a_page_of_ten_thousand_queries(browser: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    labels = np.arange(10_000) // 10
    vectors = (random.random((1000, 48)) < 0.5)[labels] ^ (random.random((10_000, 48)) < 0.3)
    result = tp.evaluate(vectors, labels, distance="hamming", categories=labels // 20)
    result.report(tmp_path / "page.html", embeddings=vectors, labels=labels)
    with Opened(browser, tmp_path / "page.html") as page:
        assert shown(page) == "1 to 25 of 10,000"
        page.locator("#queries thead button").nth(2).click()
        assert column(page, 2) == sorted(column(page, 2))
        page.locator("#find").fill("9999")
        assert shown(page) == "1 to 1 of 1 that match, of 10,000"
