"""How wide the interval over tied documents is for sparse rows, down to rank 1,000.

Each summary in the documentation of SciPy is a query for the other paragraphs of the same docstring. The rows are
TF-IDF weights in float32 and in 8 bits, of all words and of rare words alone. SciPy's files are read, not imported.

    python studies/sparse/study.py
"""

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.sparse import csr_array

import tieproof as tp
from studies.common import Options, parse, progress, save, table, write_report
from tieproof.show import style

QUICK, FEWEST = 150, 5
"""The number of docstrings of a quick run, and the fewest words of a paragraph."""

RARE = 0.01
"""The largest share of paragraphs that have a rare word."""

CUTOFFS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
WORDS = ("all words", "rare words")
FORMS = ("float32", "8 bits")
Results = dict[tuple[str, str], tp.Result]


class Rows(NamedTuple):
    """Sparse rows of queries and of documents, float32, with the same columns."""

    queries: Any
    documents: Any


def main() -> None:
    """Evaluate, draw, and write the report."""
    options = parse(__file__, __doc__)
    docstrings = read(Path(scipy.__file__).parent)[: QUICK if options.quick else None]
    weighted, relevance = rows_of(docstrings)
    results = evaluate(weighted, relevance)
    draw(results, options)
    counts = {words: touched(rows) for words, rows in weighted.items()}
    write_report(options, render(results, counts, weighted[WORDS[0]].documents.shape))


def read(folder: Path) -> list[list[list[str]]]:
    """The docstrings of a package with more than a summary: the words of each of their paragraphs."""
    progress(f"reading {folder.name}")
    found = []
    for path in sorted(folder.rglob("*.py")):
        if "tests" not in path.parts:
            found += docstrings_of(path.read_text(encoding="utf-8"))
    return found


def docstrings_of(source: str) -> list[list[list[str]]]:
    r"""The docstrings of a module with more than a summary, as the words of each paragraph.

    >>> docstrings_of('"Alone."')
    []
    >>> docstrings_of('def f():\n    "Adds up.\\n\\nNumbers of any type, in any order.\\n\\nToo short."')
    [[['adds', 'up'], ['numbers', 'of', 'any', 'type', 'in', 'any', 'order']]]
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            parts = (ast.get_docstring(node) or "").split("\n\n")
            summary, *others = [re.findall("[a-z]+", part.lower()) for part in parts]
            others = [words for words in others if len(words) > FEWEST]
            found += [[summary, *others]] if summary and others else []
    return found


def rows_of(docstrings: Sequence[Sequence[Sequence[str]]]) -> tuple[dict[str, Rows], Any]:
    """The rows of both sets of words, and the pairs of a query and a paragraph of its docstring.

    Queries without a rare word are left out, whose scores would all be 0.
    """
    documents = [words for _, *others in docstrings for words in others]
    having = Counter(word for words in documents for word in set(words))
    rare = {word for word, count in having.items() if count <= RARE * len(documents)}
    asked = [any(word in rare for word in summary) for summary, *_ in docstrings]
    queries = [summary for (summary, *_), is_asked in zip(docstrings, asked, strict=True) if is_asked]
    origin = np.repeat(np.arange(len(docstrings)), [len(others) for _, *others in docstrings])
    items = np.flatnonzero(np.array(asked)[origin])
    pairs = np.column_stack([(np.cumsum(asked) - 1)[origin[items]], items])
    kept = dict(zip(WORDS, (set(having), rare), strict=True))
    return {
        name: Rows(*(weights(texts, having, len(documents), words) for texts in (queries, documents)))
        for name, words in kept.items()
    }, pairs


def weights(texts: Sequence[Sequence[str]], having: Mapping[str, int], of: int, kept: set[str]) -> Any:
    """TF-IDF, (1 + log(count)) × log(paragraphs / paragraphs with the word), of the words that are kept."""
    column = {word: at for at, word in enumerate(sorted(having))}
    rows, columns, values = [], [], []
    for row, words in enumerate(texts):
        for word, count in Counter(word for word in words if word in kept).items():
            rows.append(row)
            columns.append(column[word])
            values.append((1 + np.log(count)) * np.log(of / having[word]))
    return csr_array((np.array(values, dtype=np.float32), (rows, columns)), shape=(len(texts), len(column)))


def quantized(rows: Rows) -> Rows:
    """Both sides as whole numbers of 8 bits, on one scale up to the largest weight; small weights become 0.

    >>> found = quantized(Rows(csr_array([[0.001, 0.5]]), csr_array([[1.0, 0.0]])))
    >>> found.queries.toarray().tolist(), found.documents.toarray().tolist()
    ([[0, 128]], [[255, 0]])
    """
    largest = max(side.max() for side in rows)
    sides = []
    for side in rows:
        sides.append(side.copy())
        sides[-1].data = np.rint(255 * (side.data / largest)).astype(np.uint8)
        sides[-1].eliminate_zeros()
    return Rows(*sides)


def evaluate(weighted: Mapping[str, Rows], relevance: Any) -> Results:
    """The result of each set of words and form."""
    results = {}
    for words, rows in weighted.items():
        for form, (queries, documents) in zip(FORMS, (rows, quantized(rows)), strict=True):
            progress(f"{words}, {form}")
            measures = [f"{name}@{k}" for k in CUTOFFS for name in ("R", "Success")]
            results[words, form] = tp.evaluate(
                queries, gallery=documents, relevance=relevance, distance="dot", measures=[*measures, "nDCG@1000"]
            )
    return results


def touched(rows: Rows) -> Any:
    """The number of documents that have a term in common with each query.

    >>> touched(Rows(csr_array([[1, 0, 0], [1, 1, 0]]), csr_array([[3, 0, 2], [0, 4, 0]]))).tolist()
    [1, 2]
    """
    queries, documents = (side.astype(bool).astype(np.int32) for side in rows)
    blocks = [queries[at : at + 100] @ documents.T for at in range(0, queries.shape[0], 100)]
    return np.concatenate([np.diff(block.tocsr().indptr) for block in blocks])


def width(result: tp.Result, measure: str) -> float:
    """The width of the interval over the orders of tied documents."""
    return result[measure].upper - result[measure].lower


def draw(results: Results, options: Options) -> None:
    """The width of the interval of R@k against k."""
    drawn, axes = style.figure("This study", width=8, columns=len(WORDS))
    for ax, words in zip(axes, WORDS, strict=True):
        for place, form in enumerate(FORMS):
            widths = [width(results[words, form], f"R@{k}") for k in CUTOFFS]
            ax.plot(CUTOFFS, widths, label=form, **style.line_of(place))
        ax.set(xscale="log", title=words, xlabel="k")
        ax.set_ylim(bottom=0)
        style.tidy(ax)
    axes[0].set_ylabel("width of the interval of R@k")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    save(drawn, options.out / "widths.svg")


def interval(estimate: "tp.Estimate[float]") -> str:
    """Lower, expected and upper value, as the table shows them.

    >>> interval(tp.Estimate(0.0989, 0.1124, 0.1302, 0.0))
    '0.0989 ≤ **0.1124** ≤ 0.1302'
    """
    return f"{estimate.lower:.4f} ≤ **{estimate.expected:.4f}** ≤ {estimate.upper:.4f}"


def open_queries(result: tp.Result) -> float:
    """The share of queries whose recall at rank 1,000 depends on the order of tied documents."""
    found = result.per_query("R@1000")
    return float(np.mean(found.lower < found.upper))


def render(results: Results, counts: Mapping[str, Any], shape: tuple[int, int]) -> str:
    """The report."""
    measures = ("R@10", "R@100", "R@1000", "nDCG@1000")
    rows = [
        (*key, *(interval(result[measure]) for measure in measures), f"{100 * open_queries(result):.0f} %")
        for key, result in results.items()
    ]
    (queries,) = {result.ties.queries for result in results.values()}
    wide = {key: width(result, "R@1000") for key, result in results.items()}
    common, rare = [wide[words, "float32"] for words in WORDS]
    zeros = [100 * (1 - np.mean(found) / shape[0]) for found in counts.values()]
    few = [100 * np.mean(found < CUTOFFS[-1]) for found in counts.values()]
    return f"""# How wide the interval at rank 1,000 is for sparse rows

{queries:,} summaries in the documentation of SciPy {scipy.__version__} query {shape[0]:,} paragraphs for those of
the same docstring. Rows are TF-IDF weights of {shape[1]:,} words, compared by the dot product, in float32 and as
whole numbers of 8 bits on one scale; rare words are those of at most {100 * RARE:.0f} % of the paragraphs. The table
shows lower ≤ **expected** ≤ upper over all orders of tied documents, and the share of queries whose R@1000 depends on
the order:

{table(("words", "weights", *measures, "depend"), rows, words=2)}
![The width of the interval of R@k against k](widths.svg)

- Of the pairs of a query and a paragraph, {zeros[0]:.1f} % have no word in common, and {zeros[1]:.1f} % no rare word.
  Their score is 0 exactly, in any precision. A list of 1,000 ends within this tie for {few[0]:.1f} % of the queries
  with all words, and for {few[1]:.1f} % with rare words.
- So the interval of R@1000 is {common:.4f} wide with all words, and {rare:.4f} with rare words, in float32.
- In 8 bits it is {wide[WORDS[0], FORMS[1]]:.4f} and {wide[WORDS[1], FORMS[1]]:.4f} wide. Equal sums of whole numbers
  tie documents that share words with the query, too, but such ties are small beside that of those that share none.

A list that a program cuts off at 1,000 reaches any value of the interval, depending on the order of the documents in
its index. Report `expected` with both bounds, or a cutoff within the documents that share a term.
"""


if __name__ == "__main__":
    main()
