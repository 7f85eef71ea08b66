"""A result in lines, as `trec_eval -q` prints one: every query, then the means under the name `all`."""

from collections.abc import Sequence
from dataclasses import astuple

from tieproof.printable import printable
from tieproof.reports.text import NUMBERS
from tieproof.result import Estimate, Result

MEAN = "all"
COLUMNS = NUMBERS[:3]


def render(result: Result) -> str:
    r"""A line with the names of the columns, then one for each query and measure, then one for each mean.

    A line has the measure, the query, and the lower, expected and upper value, separated by tabs. So the third
    column, where trec_eval has its value, is the score to report.

    >>> import tieproof as tp
    >>> qrels, run = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5}}
    >>> print(render(tp.evaluate_run(qrels, run, measures=["RR"])).expandtabs())
    measure                 query      lower        expected           upper
    RR                      q1        0.5000          0.7500          1.0000
    RR                      all       0.5000          0.7500          1.0000
    """
    values = {measure: result.per_query(measure) for measure in result.measures}
    lines = [line("measure", "query", COLUMNS)]
    for at, query in enumerate(result.query_ids.tolist()):
        for measure, each in values.items():
            lines.append(line(measure, query, numbers(Estimate(*(column[at] for column in astuple(each))))))
    lines += [line(measure, MEAN, numbers(result[measure])) for measure in values]
    return "\n".join(lines)


def numbers(estimate: Estimate[float]) -> list[str]:
    """Lower, expected and upper value with four decimals."""
    return [f"{getattr(estimate, name):.4f}" for name in COLUMNS]


def line(measure: str, query: object, cells: Sequence[str]) -> str:
    """A line with the measure in a column as wide as in trec_eval; the cells end where their heads end."""
    return "\t".join([f"{measure:<22}", printable(query), *(f"{cell:>8}" for cell in cells)])
