"""Reports, read as files: their numbers are those of the result, and everything else is escaped text."""

import json
import re
import sys
from base64 import b64decode, b64encode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from page_cases import CASES, SCRIPT, WITH_TABLE, codes, texts
from tieproof.analyses.collisions.pictures import stack
from tieproof.errors import InputError, MissingExtraError
from tieproof.evaluation.nearest import nearest
from tieproof.show.pages import contents, query_table
from tieproof.show.pages.contents import EmbeddedImages
from tieproof.show.pages.page import SIDE, Axis, spread
from tieproof.show.pages.query_table import MeasureChoice

PIL = pytest.importorskip("PIL.Image")
pytest.importorskip("jinja2")


class Page(HTMLParser):
    """The tags of a page and the text between them, cells by row and by section."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.raw = path.read_text(encoding="utf-8")
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.words: list[str] = []
        self.inside: list[str] = []
        self.feed(self.raw)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.inside and self.inside[-1] in ("script", "style"):
            return
        self.words.append(data)
        if {"td", "th"} & {*self.inside} and self.rows:
            self.rows[-1][-1] += data.strip()

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def data(self) -> Any:
        """The data of the table of all queries, which the script reads."""
        (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', self.raw, flags=re.DOTALL)
        return json.loads(found)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Page, Any]]:
    """Every page, and the object that it shows."""
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, write in CASES.items():
        shown = write(folder / f"{name}.html")
        made[name] = Page(folder / f"{name}.html"), shown
    return made


def unpacked(column: Any) -> Any:
    """The numbers of a column."""
    if "plain" in column:
        return np.array(column["plain"], dtype=np.float64)
    numbers = np.frombuffer(b64decode(column["packed"]), dtype="<u2").astype(np.float64)
    return np.where(numbers == 2**16 - 1, np.nan, (numbers - column["offset"]) / column["scale"])


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_one_file_that_asks_for_nothing(pages: dict[str, tuple[Page, Any]], name: str) -> None:
    page, _ = pages[name]
    for tag, attributes in page.tags:
        for attribute in ("src", "href"):
            value = attributes.get(attribute)
            assert value is None or value.startswith(("data:", "#")), (tag, value)
    assert "://" not in page.raw
    assert "@import" not in page.raw
    policy = next(attributes["content"] for tag, attributes in page.tags if attributes.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none';")


@pytest.mark.parametrize("name", CASES)
def test_names_and_texts_are_text(pages: dict[str, tuple[Page, Any]], name: str) -> None:
    page, _ = pages[name]
    assert SCRIPT not in page.raw
    assert "<img src=x" not in page.raw
    assert "onerror" not in {key for _, attributes in page.tags for key in attributes}
    assert "\x1b" not in page.raw
    assert "\u202e" not in page.raw
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert len(scripts) == (2 if name in WITH_TABLE else 0)
    if name in ("embeddings", "run", "comparison"):
        assert SCRIPT in page.text
    if name == "embeddings":
        assert "{{ 7 * 7 }}" in page.text
        assert "Zürich &amp; <b>" in page.text
        assert r"\x1b[31mred\u202e" in page.text


@pytest.mark.parametrize("name", CASES)
def test_the_same_result_gives_the_same_bytes(pages: dict[str, tuple[Page, Any]], name: str, tmp_path: Path) -> None:
    page, shown = pages[name]
    again = tmp_path / "again.html"
    if isinstance(shown, tp.Result):  # whose page also shows items
        CASES[name](again)
    else:
        shown.report(again)
    assert again.read_text(encoding="utf-8") == page.raw


@pytest.mark.parametrize("name", ["embeddings", "run", "without_data"])
def test_measures_with_both_uncertainties(pages: dict[str, tuple[Page, Any]], name: str) -> None:
    page, result = pages[name]
    intervals = result.intervals()
    for measure in result.measures:
        estimate, interval = result[measure], intervals[measure]
        numbers = [f"{value:.4f}" for value in (estimate.lower, estimate.expected, estimate.upper, estimate.std)]
        over_queries = f"{interval.low:.4f} to {interval.high:.4f}"
        assert [measure, *numbers, over_queries, ""] in page.rows
    first = result.measures[0]
    assert f"{first} is {result[first].expected:.4f}, and {result[first].lower:.4f} to" in page.text
    assert f"{result[first].lower:.4f} to {result[first].upper:.4f} over all orderings of tied items" in page.text
    assert f"{intervals[first].low:.4f} to {intervals[first].high:.4f} over the choice of queries" in page.text
    assert result.fingerprint in page.text


def test_categories_the_worst_first(pages: dict[str, tuple[Page, Any]]) -> None:
    page, result = pages["embeddings"]
    shown = [row for row in page.rows if row and row[0].startswith("class ") and len(row) == 6]
    assert len(shown) == len(result.categories) == 12
    lower = [float(row[2]) for row in shown]
    assert lower == sorted(lower)
    for row in shown:
        part = result.category(row[0])
        assert row[1] == str(part.ties.queries)
        assert row[2:5] == [f"{getattr(part['AP'], end):.4f}" for end in ("lower", "expected", "upper")]


def test_of_many_categories_the_worst_and_the_best(tmp_path: Path) -> None:
    vectors, labels = codes(150)
    result = tp.evaluate(vectors, labels, distance="hamming", categories=labels, measures=["AP"], average="macro")
    result.report(tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    at = page.rows.index(["10 more categories"])
    named = [row[0] for row in page.rows[at - 10 : at] + page.rows[at + 1 : at + 11]]
    ordered = sorted(result.categories, key=lambda name: (result.category(name)["AP"].lower, str(name)))
    lower = [f"{result.category(name)['AP'].lower:.4f}" for name in [*ordered[:10], *ordered[-10:]]]
    assert [row[2] for row in page.rows[at - 10 : at] + page.rows[at + 1 : at + 11]] == lower
    assert len({*named}) == 20
    assert "over the means of the categories" in page.text


def test_worst_queries_and_their_nearest_items(pages: dict[str, tuple[Page, Any]]) -> None:
    page, result = pages["embeddings"]
    values = result.per_query("AP")
    worst = np.lexsort((values.upper, values.expected, values.lower))[:20]
    anchors = [attributes["id"] for tag, attributes in page.tags if tag == "details"]
    assert anchors == [f"query-{at}" for at in worst]
    vectors, labels = codes(60)
    for found in nearest(result, worst, {"embeddings": vectors, "labels": labels}):
        for tie in found.ties:
            if tie.size > 1:
                more = tie.size - len(tie.items)
                hidden = f", {more} not shown" if more else ""
                said = f"at {tie.value:.6g}: {tie.size} tied, {tie.relevant} relevant{hidden}"
                assert said in page.text
    classes = [attributes.get("class") or "" for tag, attributes in page.tags if tag == "li"]
    assert classes.count("item relevant") + classes.count("item") == 200
    assert "tie tied ambiguous" in classes


def test_without_the_data_there_are_no_items(pages: dict[str, tuple[Page, Any]]) -> None:
    page, _ = pages["without_data"]
    assert "again to see their nearest items" in page.text
    assert "details" not in {tag for tag, _ in page.tags}
    assert "The ties that cost most" not in page.text


def test_documents_of_a_run(pages: dict[str, tuple[Page, Any]]) -> None:
    page, _ = pages["run"]
    assert "Nothing was retrieved." in page.text
    assert "The nearest 9 items, each with its score:" in page.text
    assert "d8" in page.text  # has no text


def test_ties_that_cost_most(pages: dict[str, tuple[Page, Any]]) -> None:
    page, result = pages["embeddings"]
    values = result.per_query("AP")
    width = values.upper - values.lower
    at = int(np.argmax(width))
    estimates = [f"{getattr(values, end)[at]:.4f}" for end in ("lower", "expected", "upper")]
    counts = [str(result.ties_per_query[name][at]) for name in ("ambiguous_ties", "largest_tie")]
    assert [str(result.query_ids[at]), f"{width[at]:.4f}", *estimates, *counts] in page.rows
    shown = [row for row in page.rows if len(row) == 7 and row[0].isdigit() and not row[1].startswith("class")]
    assert [row[1] for row in shown] == [f"{value:.4f}" for value in np.sort(width)[::-1][:10]]


def test_areas_of_errors(pages: dict[str, tuple[Page, Any]]) -> None:
    page, result = pages["embeddings"]
    area = result.error_reject("AP").area
    assert ["1 − AP", *(f"{value:.4f}" for value in (area.lower, area.expected, area.upper, area.std))] in page.rows


def test_every_query_is_there(pages: dict[str, tuple[Page, Any]]) -> None:
    page, result = pages["embeddings"]
    values = result.per_query("AP")
    order = np.lexsort((values.upper, values.expected, values.lower))
    data = page.data
    assert data["ids"] == [str(name) for name in result.query_ids[order]]
    assert [choice["name"] for choice in data["choices"]] == list(result.measures)
    for choice in data["choices"]:
        estimate = result.per_query(choice["name"])
        filled = None
        for end, column in zip(("lower", "expected", "upper"), choice["columns"], strict=True):
            filled = filled if column is None else unpacked(column)
            assert filled is not None
            np.testing.assert_allclose(filled, getattr(estimate, end)[order], rtol=0, atol=0.50001e-4)
    ties = result.ties_per_query
    for column, name in zip(data["fixed"], ("ambiguous_ties", "largest_tie"), strict=True):
        assert unpacked(column).tolist() == ties[name][order].tolist()
    kinds = unpacked(data["groups"]["of"]).astype(int)
    assert [data["groups"]["names"][kind] for kind in kinds] == [str(result.category_of_query[at]) for at in order]


def test_first_rows_stand_in_the_page(pages: dict[str, tuple[Page, Any]]) -> None:
    page, result = pages["embeddings"]
    values = result.per_query("AP")
    at = int(np.lexsort((values.upper, values.expected, values.lower))[0])
    estimates = [f"{getattr(values, end)[at]:.4f}" for end in ("lower", "expected", "upper")]
    counts = [str(result.ties_per_query[name][at]) for name in ("ambiguous_ties", "largest_tie")]
    assert [str(at), str(result.category_of_query[at]), *estimates, *counts] in page.rows


def test_comparison(pages: dict[str, tuple[Page, Any]]) -> None:
    page, found = pages["comparison"]
    for a, b in found.pairs:
        for measure in found.measures:
            difference = found[a, b, measure]
            better, name = difference.verdict.better, difference.verdict.name
            assert [f"{a} - {b}", f"{better} is {name}" if better else name] in [row[:2] for row in page.rows]
        assert found[a, b, "AP"].verdict.sentence in page.text
        shown = [f"{getattr(found[a, b, 'AP'], end):+.4f}" for end in ("lower", "expected", "upper")]
        shown = [text if float(text) else "0.0000" for text in shown]
        assert any(row[2:5] == shown for row in page.rows if row[0] == f"{a} - {b}")
    assert "\u2212" not in page.text
    for name in found.systems:
        mean = found.results[name]["AP"]
        (row,) = (row for row in page.rows if row[0] == name and len(row) == 1 + len(found.measures))
        assert row[1].startswith(f"{mean.lower:.4f}")
    assert "The systems do not differ on any query." in page.text
    a, b = found.pairs[0]
    lower = unpacked(page.data["choices"][0]["columns"][0])
    values = found.per_query(a, b, "AP")
    order = np.argsort(-np.abs(values.expected), kind="stable")
    np.testing.assert_allclose(lower, values.lower[order], rtol=0, atol=0.50001e-4)


def test_collisions(pages: dict[str, tuple[Page, Any]]) -> None:
    page, found = pages["collisions"]
    assert f"Ties leave AP open by {found.ap_width:.4f}" in page.text
    tie = found.widest[0]
    row = [str(tie.query), f"{tie.k + 1} to {tie.k + tie.l}", str(tie.l), str(tie.m), str(tie.n)]
    assert [*row, f"{tie.ap_width:.4f}"] in page.rows
    unlabelled, without = pages["collisions_without_labels"]
    assert f"{without.ties} ties in the rankings of 4 queries" in unlabelled.text
    assert "ambiguous" not in unlabelled.text


def test_audit_and_rates(pages: dict[str, tuple[Page, Any]]) -> None:
    page, found = pages["audit"]
    assert "upper_bound can be exploited" in page.text
    assert found.finding("zeros").reproduce in page.text
    assert ["nan", "refused", "", "", ""] in page.rows
    page, shown = pages["rates"]
    point = shown.points[0]
    numbers = (point.fnmr.lower, point.fnmr.expected, point.fnmr.upper, point.fnmr.std)
    assert ["0.1", f"{point.threshold:.6g}", *(f"{value:.4f}" for value in numbers), ""] in page.rows


def test_queries_without_a_value_and_left_out_ones(tmp_path: Path) -> None:
    vectors, labels = codes(12)
    labels = np.array([*labels[:10], 98, 99])
    kept = tp.evaluate(vectors, labels, distance="hamming", empty="nan", measures=["AP", "P@1"])
    kept.report(tmp_path / "kept.html", embeddings=vectors, labels=labels)
    page = Page(tmp_path / "kept.html")
    assert sum(row[:2] in (["10", "–"], ["11", "–"]) for row in page.rows) == 2
    assert np.isnan(unpacked(page.data["choices"][0]["columns"][0])).sum() == 2
    assert "kept without a value (nan)" in page.text
    left = tp.evaluate(vectors, labels, distance="hamming")
    left.report(tmp_path / "left.html")
    assert "2 queries with no relevant item: 10, 11." in Page(tmp_path / "left.html").text


def test_a_single_query_has_no_interval_over_queries(tmp_path: Path) -> None:
    tp.evaluate_scores([[1, 1]], [[1, 0]], measures=["AP"]).report(tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    assert "There is a single query, which does not show how much queries differ." in page.text
    assert ["AP", "0.5000", "0.7500", "1.0000", "0.2500", "–", ""] in page.rows


def test_one_category_writes_a_page(tmp_path: Path) -> None:
    vectors, labels = codes(20)
    result = tp.evaluate(vectors, labels, distance="hamming", categories=labels)
    result.category(2).report(tmp_path / "page.html")
    assert "none: one category of a result" in Page(tmp_path / "page.html").text


# Images


def picture(path: Path, size: tuple[int, int] = (300, 200)) -> Path:
    """An image that does not compress well."""
    random = np.random.default_rng(0)
    PIL.fromarray(random.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)).save(path)
    return path


def test_thumbnails(tmp_path: Path) -> None:
    vectors, labels = codes(10)
    paths = [picture(tmp_path / f"{at}.png") for at in range(9)]
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"not an image")
    result = tp.evaluate(vectors, labels, distance="hamming")
    result.report(tmp_path / "page.html", items=[*map(str, paths), broken], embeddings=vectors, labels=labels)
    page = Page(tmp_path / "page.html")
    images = [attributes for tag, attributes in page.tags if tag == "img"]
    assert len(images) >= 50
    for attributes in images:
        address = attributes["src"]
        assert address is not None
        kind, _, encoded = address.partition(";base64,")
        assert kind == "data:image/jpeg"
        from io import BytesIO

        assert max(PIL.open(BytesIO(b64decode(encoded))).size) == contents.SIDE
    assert "1 file could not be embedded as images" in page.text


def test_images_have_a_budget(tmp_path: Path) -> None:
    path = picture(tmp_path / "one.png")
    size = len(EmbeddedImages().embedded(path))
    budget = EmbeddedImages(characters=2 * size + 1)
    assert [bool(budget.embedded(path)) for _ in range(4)] == [True, True, False, False]
    assert (budget.no_room, budget.unreadable) == (2, 0)


@pytest.mark.parametrize(("size", "there"), [((20, 20), True), ((300, 300), False)])
def test_without_pillow_small_files_are_embedded_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], there: bool
) -> None:
    path = picture(tmp_path / "one.png", size)
    monkeypatch.setitem(sys.modules, "PIL", None)
    address = EmbeddedImages().embedded(path)
    assert address == (f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}" if there else "")


def test_a_text_that_ends_as_an_image_is_a_text() -> None:
    items = contents.Contents(["no such file.png", "a text"], 2, "items", EmbeddedImages())
    assert items.of(0, "query").text == "no such file.png"
    assert items.of(1, "query") == contents.Content("query 1", "a text")


# Sizes


@pytest.mark.long
def test_ten_thousand_queries_stay_below_a_megabyte(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    labels = np.arange(10_000) // 10
    vectors = (random.random((1000, 48)) < 0.5)[labels] ^ (random.random((10_000, 48)) < 0.3)
    paths = [picture(tmp_path / f"{at}.png", (120, 120)) for at in range(100)]
    result = tp.evaluate(vectors, labels, distance="hamming", categories=labels // 20)
    result.report(tmp_path / "page.html", items=paths * 100, embeddings=vectors, labels=labels)
    assert 400_000 < (tmp_path / "page.html").stat().st_size < 1_000_000
    page = Page(tmp_path / "page.html")
    assert len(page.data["ids"]) == 10_000
    left_out = [name for name in result.measures if name not in {choice["name"] for choice in page.data["choices"]}]
    assert not left_out or f"There is no room for {', '.join(left_out)} of every query" in page.text
    assert "had no room on the page" in page.text


def test_more_queries_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(query_table, "MOST_QUERIES", 30)
    vectors, labels = codes(60)
    tp.evaluate(vectors, labels, distance="hamming").report(tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    assert len(page.data["ids"]) == 30
    assert "The table has 30 of 60 queries, those with the lowest lower bound; there is no room for more" in page.text


def test_names_that_take_all_the_room() -> None:
    ids = np.array([f"{at:04}{'ä' * 300}" for at in range(3000)])
    values, heads = np.linspace(0, 1, 3000), {"lower": ""}
    table = query_table.query_table(ids, np.arange(3000), None, [MeasureChoice("AP", (values,))], {}, heads)
    assert table.total == 3000
    assert table.kept == len(table.data["ids"]) == query_table.CHARACTERS // 2 // 607
    assert len(unpacked(table.data["choices"][0]["columns"][0])) == table.kept


def test_measures_without_room_in_the_table_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_table, "CHARACTERS", 700)
    values = np.linspace(0, 1, 60)
    choices = [MeasureChoice(name, (values, None, None)) for name in ("AP", "P@1", "RR")]
    table = query_table.query_table(
        np.arange(60), np.arange(60), None, choices, {}, {"lower": "", "expected": "", "upper": ""}
    )
    assert [choice["name"] for choice in table.data["choices"]] == ["AP", "P@1"]
    assert table.left_out == ("RR",)


def test_numbers_that_two_bytes_do_not_hold() -> None:
    assert query_table.packed(np.array([70_000, 3])) == {"scale": 1, "plain": [70_000, 3]}
    values = np.array([-1.0, 1.0, np.nan, 0.12345])
    np.testing.assert_array_equal(unpacked(query_table.packed(values)), [-1.0, 1.0, np.nan, 0.1235])


# Pictures


@pytest.mark.parametrize(
    "values", [[0.532, 0.612], [0.0, 1.0], [0.5, 0.5], [-0.2, 0.03], [0.9999, 1.0], [1e-5, 2e-5], [-0.3, 0.4]]
)
def test_axes_hold_their_values_between_round_numbers(values: list[float]) -> None:
    axis = Axis.around(values)
    assert axis.low <= min(values) <= max(values) <= axis.high
    assert -1e-9 < (axis.high - axis.low) / axis.step - round((axis.high - axis.low) / axis.step) < 1e-9
    assert 2 <= len(axis.ticks) <= 7
    numbers = [float(text) for _, text in axis.ticks]
    np.testing.assert_allclose(numbers, np.linspace(axis.low, axis.high, len(numbers)), atol=1e-9)
    if min(values) >= 0 and max(values) <= 1:
        assert axis.low >= 0
        assert axis.high <= 1


def heights(path: str) -> tuple[list[int], list[int]]:
    """The positions of the corners of a step line."""
    x, y = (int(number) for number in re.findall(r"^M(\d+) (\d+)", path)[0])
    across, up = [x], [y]
    for command, number in re.findall(r"([HV])(\d+)", path):
        x, y = (int(number), y) if command == "H" else (x, int(number))
        across.append(x)
        up.append(y)
    return across, up


def test_the_area_below_a_spread_is_the_mean() -> None:
    random = np.random.default_rng(2)
    expected = random.random(500)
    found = spread("AP", tp.Estimate(expected * 0.9, expected, expected * 1.0, np.zeros(500)))
    across, up = heights(found.line)
    area = sum((b - a) * (SIDE - y) for a, b, y in zip(across, across[1:], up[1:], strict=False))
    assert abs(area / SIDE**2 - expected.mean()) < 2e-3
    assert up == sorted(up, reverse=True)


def test_a_spread_counts_what_is_certain() -> None:
    estimate = tp.Estimate(
        *np.array([[0, 0, 1, np.nan], [0, 0.5, 1, np.nan], [0, 1, 1, np.nan], [0, 0.1, 0, np.nan]])
    )
    found = spread("P@1", estimate)
    assert (found.queries, found.zeros, found.ones) == (3, 1, 1)
    assert found.line == "M0 1000 H333 V500 H667 V0 H1000"


def test_a_stack_reaches_its_largest_sum() -> None:
    found = stack(np.array([0.25, 0.0]), np.array([0.25, 0.1]))
    assert found.top == 0.5
    assert found.lower.startswith("M0 500 H500 V1000 H1000")
    assert found.upper.startswith("M0 0 H500 V800 H1000")


@pytest.mark.parametrize("ranks", [2, 25, 26, 400])
def test_a_stack_has_the_axis_and_the_steps_of_the_picture(ranks: int) -> None:
    pytest.importorskip("matplotlib")
    from tieproof.show import style

    items = np.arange(ranks + 1) // 2  # pairs of equal items, which collide
    found = tp.collisions(items[:, None].astype(float), items, distance="euclidean")
    ax = found.plot_ranks(style.figure("A test")[1])
    drawn = stack(found.by_rank["relevant"] / len(items), found.by_rank["others"] / len(items))
    assert drawn.ticks[0][1] == "1"
    assert drawn.ticks[-1][1] == f"{ranks:,}"

    def across(rank: float) -> float:
        return float(ax.transAxes.inverted().transform(ax.transData.transform((rank, 0.0)))[0])

    for percent, rank in drawn.ticks:
        assert float(percent) / 100 == pytest.approx(across(float(rank)), abs=1e-3)
    heights, edges, _ = ax.patches[0].get_data()
    corners = {0, *(int(each) for each in re.findall(r"H(\d+)", drawn.lower.partition(" L")[0]))}
    changes = [0, *(np.flatnonzero(np.diff(heights)) + 1).tolist(), len(heights)]
    assert sorted(corners) == pytest.approx([SIDE * across(edges[each]) for each in changes], abs=1)


# Refused


def test_without_jinja(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tieproof\[report\]'"):
        tp.evaluate_scores([[1]], [[1]]).report(tmp_path / "page.html")
    assert not [*tmp_path.iterdir()]


def test_nothing_is_left_of_a_page_that_fails(tmp_path: Path) -> None:
    vectors, labels = codes(20)
    result = tp.evaluate(vectors, labels, distance="hamming")
    (tmp_path / "page.html").write_text("an old page")
    with pytest.raises(InputError, match="items has 3 entries, but 20 were evaluated"):
        result.report(tmp_path / "page.html", items=texts(3))
    with pytest.raises(InputError, match="in another order"):
        result.report(tmp_path / "page.html", embeddings=vectors[::-1], labels=labels[::-1])
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("page.html", "an old page")]


def test_another_order_within_a_class_is_refused(tmp_path: Path) -> None:
    vectors, labels = codes(60)
    order = np.arange(60)
    order[[0, 1]] = 1, 0  # with only one class
    vectors[0] = ~vectors[1]
    result = tp.evaluate(vectors, labels, distance="hamming")
    with pytest.raises(InputError, match="in another order"):
        result.report(tmp_path / "page.html", embeddings=vectors[order], labels=labels)
    result.save(tmp_path / "run.tieproof")
    with pytest.raises(InputError, match="in another order"):
        tp.load(tmp_path / "run.tieproof").report(tmp_path / "page.html", embeddings=vectors[order], labels=labels)
    others = vectors[:, ::-1]
    gallery = tp.evaluate(vectors, labels, gallery=others, gallery_labels=labels, distance="hamming")
    given = {"embeddings": vectors, "labels": labels, "gallery_labels": labels}
    with pytest.raises(InputError, match="in another order"):
        gallery.report(tmp_path / "page.html", gallery=others[order], **given)
    scores, relevance = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]), np.array([[1, 0, 0]] * 3)
    with pytest.raises(InputError, match="in another order"):
        tp.evaluate_scores(scores, relevance).report(tmp_path / "page.html", scores=scores[::-1], relevance=relevance)
    assert not (tmp_path / "page.html").exists()
