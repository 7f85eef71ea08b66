"""Tables in Markdown, LaTeX and HTML can be read back as they were meant, whatever characters a name has."""

import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.show.shown import Cell, Table, html, latex, markdown

ENDS = ("lower", "expected", "upper")
NAMES = [
    "usual",
    "a|b & c_d",
    "<script>alert('x')</script>",
    "50% of $x^2$ ~ #1 {y}",
    r"back\slash \textbf{not} \\ [1cm]",
    "* starred",
    "[in brackets]",
    "`code` and ``more'' -- and --- \"quotes\"",
    "**bold** _it_ ![image](http://x)",
    "&lt;entity&amp;",
    "two\nlines\r\n\tand a tab",
    "\x1b[31mred\x00\u202e",
    "Zürich ≤ ±",
    "Łódź, İzmir, «Þór» … ‘a’ “b” – — × ° €",
    "α-nDCG, ΔAP ≥ 0 ≠ ∞ ≈ −1",
    "said ,,so'' ?` !`",
    "",
]


def in_one_line(name: str) -> str:
    """A name in one line, with invisible characters written as in Python."""
    text = " ".join(name.split())
    return re.sub(r"[\x00-\x1f\u202e]", lambda found: found[0].encode("unicode_escape").decode(), text)


class Reader(HTMLParser):
    """The cells of tables in HTML, all tags, and the text in bold or superscript."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.inside: dict[str, list[str]] = {"strong": [], "sup": [], "p": []}

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"style", "class", "scope"}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in self.inside:
            self.inside[tag].append("")
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open) and "sup" not in self.open:
            self.rows[-1][-1] += data
        for tag in set(self.open) & set(self.inside):
            self.inside[tag][-1] += data


def from_html(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader


COMMANDS = {
    r"\textbackslash": "\\",
    r"\textasciigrave": "`",
    r"\texttt": "",
    r"\textquotesingle": "'",
    r"\textasciitilde": "~",
    r"\textasciicircum": "^",
    r"\textless": "<",
    r"\textgreater": ">",
    r"\textbar": "|",
    r"\le": "≤",
    r"\ge": "≥",
    r"\ne": "≠",
    r"\approx": "≈",
    r"\infty": "∞",
    r"\pm": "±",
    r"\alpha": "α",
    r"\Delta": "Δ",
}
TOKEN = re.compile(r"\\symbol\{(\d+)\}|\$-\$|\\[a-zA-Z]+|\\.|[{}$&]|-|[^\\{}$&-]+", re.DOTALL)


def from_latex(row: str) -> list[str]:
    """The cells of a row of `tabular`, by a tokenizer that treats each character as LaTeX does."""
    assert row.endswith(r" \\")
    cells, depth = [""], 0
    for found in TOKEN.finditer(row.removesuffix(r" \\")):
        token = found[0]
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        elif token == "&":
            assert depth == 0
            cells.append("")
        elif found[1]:
            cells[-1] += chr(int(found[1]))
        elif token == "$-$":
            cells[-1] += "−"
        elif token in COMMANDS:
            cells[-1] += COMMANDS[token]
        elif token.startswith("\\"):
            assert token[1] in "&%$#_{}", token
            cells[-1] += token[1]
        elif token != "$":
            assert not set(token) & set("%#~_^\"`|<>'"), token
            assert depth or not set(token) & set("[]*"), token
            cells[-1] += token
    assert depth == 0
    assert not re.search("--|,,", row)
    return [cell.strip() for cell in cells]


def from_markdown(line: str) -> list[str]:
    """The cells of a row of a GitHub table: split at bars without a backslash, then without the backslashes."""
    assert line[:2] == "| "
    assert line[-2:] == " |"
    cells = re.split(r"(?<!\\)((?:\\\\)*) \| ", line[2:-2])
    joined = ["".join(pair) for pair in zip(cells[::2], [*cells[1::2], ""], strict=True)]
    for cell in joined:
        assert not re.search(r"(?<!\\)(?:\\\\)*[`*_{}\[\]<>|&~$#]", cell), cell
    return [re.sub(r"\\(.)", r"\1", cell) for cell in joined]


def of(rows: list[list[str | Cell]]) -> Table:
    return Table(["name", "value"], [rows], ["One & only.", "<b>"], ["value"])


@pytest.mark.parametrize("name", NAMES)
def test_names_come_back(name: str) -> None:
    table = of([[name, "0.5"], [name, name]])
    shown = in_one_line(name)
    assert from_html(html(table)).rows[1:] == [[shown, "0.5"], [shown, shown]]
    assert from_html(html(table)).tags == {"div", "table", "thead", "tbody", "tr", "th", "td", "p", "br"}
    lines = latex(table).splitlines()
    start = lines.index(r"\midrule") + 1
    stripped = " ".join(shown.split())
    assert from_latex(lines[start]) == [stripped, "0.5"]
    assert from_latex(lines[start + 1]) == [stripped, stripped]
    assert lines[start + 2] == r"\bottomrule"
    rows = [line for line in markdown(table).split("\n") if line.startswith("| ")]
    assert from_markdown(rows[1]) == [shown, "0.5"]
    assert from_markdown(rows[2]) == [shown, shown]


def test_letters_of_several_characters_are_composed() -> None:
    """macOS writes names of files in this form, which LaTeX cannot set."""
    assert "\né & 0.5 \\\\\n" in latex(of([["e\u0301", "0.5"]]))


def test_pdflatex_compiles_the_tables(tmp_path: Path) -> None:
    """With the packages that the tables name in their first lines, which no package of scripts but Latin is."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    results = {name: scored([[3, 2, 1], [1, 2, 3][:: 1 - 2 * (place % 2)]]) for place, name in enumerate(NAMES)}
    of_results = [tp.table(results), tp.compare(dict(list(results.items())[:3])), results["usual"]]
    written = [latex(of([["a", "b"], list(NAMES[:2])])), *(table.to_latex() for table in of_results)]
    written.append(of_results[0].to_latex(caption="By $x$", label="tab:a_b", columns=["RR"]))
    packages = dict.fromkeys(re.findall(r"(?m)^% (\\usepackage\S+)", "\n".join(written)))
    assert list(packages) == [r"\usepackage{booktabs}", r"\usepackage[T1]{fontenc}"]
    text = "\n\\clearpage\n".join(written)
    (tmp_path / "tables.tex").write_text(
        "\n".join([r"\documentclass{article}", *packages, r"\begin{document}", text, r"\end{document}"]),
        encoding="utf-8",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", "tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    if "booktabs.sty' not found" in done.stdout:
        pytest.skip("LaTeX has no booktabs")
    assert done.returncode == 0, done.stdout[-3000:]
    assert not re.search(r"(?m)^!|Missing character", done.stdout)


def test_bold_and_marks() -> None:
    table = of([["ours", Cell("0.5", bold=True, marks="ab")], ["a_b", Cell("0.4", marks="c")]])
    assert "| ours | **0.5**<sup>ab</sup> |\n| a\\_b | 0.4<sup>c</sup> |" in markdown(table)
    assert "ours & \\textbf{0.5}$^{\\mathrm{ab}}$ \\\\\na\\_b & 0.4$^{\\mathrm{c}}$ \\\\" in latex(table)
    reader = from_html(html(table))
    assert (reader.inside["strong"], reader.inside["sup"]) == (["0.5"], ["ab", "c"])


def test_notes() -> None:
    table = of([["a", "b"]])
    assert markdown(table).split("\n\n")[1:] == [r"One \& only.", r"\<b\>"]
    assert r"\caption{One \& only. \textless{}b\textgreater{}}" in latex(table)
    assert from_html(html(table)).inside["p"] == ["One & only.<b>"]
    bare = Table(["a"], [[["b"]]])
    assert markdown(bare) == "| a |\n|---|\n| b |"
    assert "caption" not in latex(bare)
    assert "p" not in from_html(html(bare)).tags


def test_sections_are_parted() -> None:
    table = Table(["a"], [[["1"], ["2"]], [], [["3"]]])
    assert "1 \\\\\n2 \\\\\n\\midrule\n3 \\\\\n\\bottomrule" in latex(table)
    assert html(table).count("<tbody>") == 2


EMBEDDINGS = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.5]])
LABELS = ["a|b", "a|b", "<c>", "<c>", "x_y", "x_y"]

RESULTS: dict[str, Callable[[], Any]] = {
    "result": lambda: tp.evaluate(EMBEDDINGS, LABELS, measures=["AP", "P@1"]),
    "categories": lambda: tp.evaluate(EMBEDDINGS, LABELS, measures=["AP"], categories=LABELS),
    "collisions": lambda: tp.collisions(EMBEDDINGS, LABELS),
    "collisions without labels": lambda: tp.collisions(EMBEDDINGS),
    "rates": lambda: tp.fnmr_at_fmr(EMBEDDINGS, LABELS, fmr=(0.1, 0.5), method="exact"),
    "recall of an index": lambda: tp.neighbor_recall([[4, 0]] * 6, queries=EMBEDDINGS, gallery=EMBEDDINGS, k=(1, 2)),
    "overlap": lambda: tp.rbo(LABELS[1:4:2], [set(LABELS)]),
    "correlation": lambda: tp.kendall_tau({"a": 1, "b": 2, "c": 2}, ["a", "b", "c"]),
    "two runs": lambda: tp.agreement({"a|b": {"d": 1}}, {"a|b": {"d": 1}, "q": {"d": 1}}),
    "diversity": lambda: tp.evaluate_diversity({"a|b": {"s": {"d": 1}}, "q": {"s": {"d": 1}}}, {"q": {"d": 1}}),
    "recall within a radius": lambda: tp.range_recall(([0, 1, 3], [4, 2, 9]), ([0, 2, 3], [4, 7, 2])),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results_show_the_same_in_every_form(kind: str) -> None:
    """The rows of all forms are those of the text, whose cells are two blanks apart."""
    result = RESULTS[kind]()
    rows = from_html(result._repr_html_()).rows
    lines = [line for line in str(result).split("\n\n")[0].splitlines() if line.strip("- ")]
    assert [re.split(r"\s{2,}", line.strip()) for line in lines][: len(rows)] == rows[: len(lines)]
    page = result.to_markdown().split("\n")
    marked = [from_markdown(line) for line in page if line.startswith("| ")]
    assert marked == rows
    written = [line for line in result.to_latex().splitlines() if line.endswith(r" \\")]
    assert [from_latex(line) for line in written] == rows
    assert "Evaluated" in result.to_latex() or kind not in ("result", "categories")


def test_numbers_of_a_result() -> None:
    """By enumeration: items 0, 1 and 4 are equal; of query 0, item 1 is relevant and tied with item 4."""
    result = tp.evaluate(EMBEDDINGS, LABELS, measures=["RR"])
    own = result.per_query("RR")
    assert (own.lower[0], own.expected[0], own.upper[0]) == (0.5, 0.75, 1.0)
    (_, row) = from_html(result._repr_html_()).rows
    assert row == [
        "RR",
        *(
            f"{value:.4f}"
            for value in (result["RR"].lower, result["RR"].expected, result["RR"].upper, result["RR"].std)
        ),
    ]


def best(embeddings: Any, labels: Any) -> float:
    return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper


def test_audit_in_a_notebook() -> None:
    report = tp.audit(best, attacks=["zeros", "nan"], items=60)
    reader = from_html(report._repr_html_())
    assert [row[0] for row in reader.rows] == ["attack", "zeros", "nan"]
    assert reader.rows[1][2] == "exploitable"


def test_short_forms_show_intervals() -> None:
    result = tp.evaluate(EMBEDDINGS[:3], ["a", "a", "b"], measures=["RR", "P@1", "AP", "R@1"])
    ones = "1.0000 ≤ 1.0000 ≤ 1.0000"
    assert repr(result) == f"<Result of 2 queries: RR {ones}, P@1 {ones}, AP {ones} and 1 more>"
    found = tp.collisions(EMBEDDINGS, LABELS)
    counted = f"{found.ties} ties, {found.ambiguous_ties} ambiguous"
    assert repr(found) == f"<Collisions of 6 queries: {counted}, AP {found.ap_width:.4f} wide>"
    assert repr(tp.collisions(EMBEDDINGS)).endswith(" ties>")
    rates = tp.fnmr_at_fmr_of_distances([1, 2, 2, 3], [2, 3, 4], fmr=0.1, method="exact")
    assert repr(rates) == "<ErrorRates of 4 relevant pairs: FNMR 0.2500 ≤ 0.5000 ≤ 0.7500 at FMR 0.1>"


def test_short_forms_count_and_cut() -> None:
    one = tp.evaluate_scores([[2.0, 1.0, 1.0]], [[0, 1, 0]], measures=["RR"])
    assert repr(one) == "<Result of 1 query: RR 0.3333 ≤ 0.4167 ≤ 0.5000>"
    thousand = tp.evaluate_scores(np.tile([2.0, 1.0], (1000, 1)), np.tile([1, 0], (1000, 1)), measures=["RR"])
    assert repr(thousand).startswith("<Result of 1,000 queries: ")
    assert repr(tp.collisions([[0.0], [1.0], [1.0]], distance="euclidean")).startswith(
        "<Collisions of 3 queries: 1 tie>"
    )
    rates = tp.fnmr_at_fmr_of_distances([1], [2, 3, 4], fmr=0.1, method="exact")
    assert repr(rates).startswith("<ErrorRates of 1 relevant pair: ")
    names = ["\x1b[31mred", "b", "\u202ec", "d", "e"]
    assert repr(tp.compare(dict.fromkeys(names, thousand))) == (
        r"<Comparison of \x1b[31mred, b, \u202ec and 2 more on 1,000 queries: 10 the same>"
    )


def compared(*orders: Any, **more: Any) -> tp.Comparison:
    """Systems whose rankings of 12 queries follow from these scores, whose order may differ between queries."""
    relevance = np.tile([1, 0, 0, 0], (12, 1))
    systems = {
        f"s_{place}": tp.evaluate_scores(
            np.tile(order, (12, 1)) if np.ndim(order) == 1 else order, relevance, measures=["RR"]
        )
        for place, order in enumerate(orders)
    }
    return tp.compare(systems, **more)


FIRST, SECOND, LAST = [4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0]
TIED = [1.0, 1.0, 1.0, 1.0]


def scores_in_html(found: tp.Comparison) -> list[list[str]]:
    return from_html(found._repr_html_()).rows[: len(found.systems) + 1]


def test_marks_and_bold_follow_the_verdicts() -> None:
    """A system that is better for all 12 queries is better by every test: the exact p-value is 2 / 2^12."""
    found = compared(FIRST, SECOND, LAST)
    text = found.to_latex()
    assert "a & s\\_0 & \\textbf{1.0000}$^{\\mathrm{bc}}$ \\\\" in text
    assert "b & s\\_1 & 0.5000$^{\\mathrm{c}}$ \\\\" in text
    assert "c & s\\_2 & 0.2500 \\\\" in text
    assert "| a | s\\_0 | **1.0000**<sup>bc</sup> |" in found.to_markdown()
    assert from_html(found._repr_html_()).inside["strong"] == ["1.0000"]


def test_nothing_is_bold_where_two_are_the_same() -> None:
    found = compared(FIRST, FIRST, LAST)
    assert "textbf" not in found.to_latex()
    assert "a & s\\_0 & 1.0000$^{\\mathrm{c}}$ \\\\" in found.to_latex()
    assert not from_html(found._repr_html_()).inside["strong"]


def test_nothing_is_bold_where_ties_could_explain_it() -> None:
    """If all four items are tied, RR is 25/48 in expectation, and can be anything from 1/4 to 1."""
    mixed = np.array([FIRST if query % 2 else LAST for query in range(12)])
    found = compared(TIED, mixed)
    assert found["s_0", "s_1", "RR"].verdict.better is None
    assert "0.2500 $\\le$ 0.5208 $\\le$ 1.0000 \\\\" in found.to_latex()
    assert "textbf" not in found.to_latex()
    assert "mathrm" not in found.to_latex()


def test_with_a_baseline_the_best_of_the_others_is_not_bold() -> None:
    found = compared(LAST, SECOND, FIRST, baseline="s_0")
    assert "textbf" not in found.to_latex()
    assert found.to_latex().count("$^{\\mathrm{a}}$") == 2
    assert "textbf{1.0000}$^{\\mathrm{a}}$" in compared(LAST, FIRST, baseline="s_0").to_latex()


def test_differences_are_those_of_the_comparison() -> None:
    found = compared(FIRST, TIED)
    rows = from_html(found._repr_html_()).rows
    assert rows[3] == ["measure", "systems", *ENDS, "queries 95%", "p", "p lower", "verdict"]
    each = found["s_0", "s_1", "RR"]
    numbers = [f"{getattr(each, end):+.4f}" for end in ENDS]
    assert rows[4][:5] == ["RR", "s_0 - s_1", *("0.0000" if text == "+0.0000" else text for text in numbers)]
    assert each.expected == pytest.approx(23 / 48)
    page = found.to_markdown().split("\n\n")
    tables = [part for part in page if part.startswith("| ")]
    assert len(tables) == 2
    assert [from_markdown(line) for line in tables[1].split("\n") if line.startswith("| ")] == rows[3:]


def test_more_systems_than_letters_have_numbers() -> None:
    found = compared(*([FIRST] + [SECOND] * 27), correction=None)
    assert [row[0] for row in scores_in_html(found)[1:]] == [str(place) for place in range(1, 29)]
    assert "{2,3,4," in found.to_latex()


class Printer:
    """Keeps what IPython's printer would show."""

    def __init__(self, shown: Any) -> None:
        self.shown = ""
        shown._repr_pretty_(self, False)

    def text(self, text: str) -> None:
        self.shown += text


def test_values_in_notebooks() -> None:
    result = tp.evaluate_scores([[1, 1, 0], [1, 0, 0]], [[0, 1, 0], [1, 0, 0]], measures=["RR"])
    assert Printer(result["RR"]).shown == "0.7500 ≤ 0.8750 ≤ 1.0000, std 0.1250"
    assert Printer(result.per_query("RR")).shown == "<Estimate of 2 values: arrays lower, expected, upper and std>"
    difference = tp.compare({"one": result, "same": result})["one", "same", "RR"]
    assert Printer(difference.verdict).shown == difference.verdict.sentence
    assert Printer(difference).shown == f"-0.2500 ≤ 0.0000 ≤ 0.2500: {difference.verdict.sentence}"
    evaluator = tp.Evaluator()
    assert repr(evaluator) == "<Evaluator: 0 items in 0 batches>"
    for side in ("queries", "gallery"):
        evaluator.update([[1.0], [2.0]], [0, 1], side=side)
    assert repr(evaluator) == "<Evaluator: 4 items in 2 batches>"


def test_caption_label_and_columns_of_latex() -> None:
    table = tp.evaluate_scores([[1, 1, 0]] * 2, [[1, 0, 0]] * 2, measures=["RR", "P@1"])
    lines = table.to_latex(caption="By $x$", label="tab:a_b", columns=["upper", "lower"]).splitlines()
    place = lines.index(r"\caption{By $x$}")
    assert lines[place + 1 : place + 3] == [r"\label{tab:a_b}", r"\begin{tabular}{lrr}"]
    rows = [from_latex(line) for line in lines if line.endswith(r" \\")]
    assert rows == [["measure", "upper", "lower"], ["RR", "1.0000", "0.5000"], ["P@1", "1.0000", "0.0000"]]
    assert "caption" not in table.to_latex(caption="")
    assert r"\textquotesingle{}lower\textquotesingle{}" in table.to_latex()
    compared = tp.compare({"a": table, "b": table}).to_latex(columns=["P@1"])
    assert next(from_latex(line) for line in compared.splitlines() if line.endswith(r" \\"))[1:] == ["system", "P@1"]


def scored(values: list[list[int]]) -> tp.Result:
    """Results of two queries, whose first item is relevant."""
    return tp.evaluate_scores(values, [[1, 0, 0]] * 2, measures=["RR", "P@1"])


def test_only_what_is_best_whatever_the_ties_is_bold() -> None:
    best, tied, last = ([[3, 2, 1]] * 2, [[3, 3, 1], [3, 2, 1]], [[1, 2, 3]] * 2)
    systems = {name: scored(values) for name, values in {"a_b": tied, "c": best, "d": last}.items()}
    found = tp.table(systems)
    assert found.best == {"RR": None, "P@1": None}  # the first system may be as good as the second
    assert "textbf" not in found.to_latex()
    assert "In RR, P@1 no system is best whatever the ties, so that no score is in bold." in " ".join(
        str(found).split()
    )
    two = tp.table({name: systems[name] for name in ("a_b", "d")}, measures=["mrr"])
    assert two.best == {"RR": "a_b"}
    assert r"a\_b & \textbf{0.7500} \\" in two.to_latex()
    assert "| d | 0.3333 |" in two.to_markdown()
    assert "Best whatever the ties, and in bold: a_b in RR." in str(two)
    frame = found.to_frame()
    assert frame["system"].tolist() == ["a_b", "c", "d"]
    assert frame["P@1"].tolist() == [0.5, 1.0, 0.0]
    assert found.to_dict()["systems"]["a_b"]["RR"]["upper"] == 1.0
    assert repr(two) == "<ScoreTable of 2 systems in RR>"
    alone = tp.table({"c": systems["c"]})
    assert alone.best["RR"] is None
    assert "bold" not in str(alone)


def test_scores_that_differ_only_by_rounding_are_not_bold() -> None:
    first = scored([[3, 2, 1]] * 2)
    values = {
        m: np.where([[True], [True], [True], [False]], v - 1e-15, v) for m, v in first.evaluated.per_query.items()
    }
    second = tp.Result(first.evaluated._replace(per_query=values))
    assert tp.table({"a": first, "b": second}).best == {"RR": None, "P@1": None}
