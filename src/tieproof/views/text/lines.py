"""A result in lines, as `trec_eval -q` prints them: every query, then the means, under the name `all`."""

from tieproof.results.results import Result
from tieproof.views.printable import printable
from tieproof.views.text.parts import HEADLINE

MEAN = "all"


def render(result: Result) -> str:
    r"""A line for each query and measure, then one for each mean.

    A line has only the three columns of trec_eval, separated by tabs, so that programs which read its output can read
    these lines: the measure, the query, and the value with four decimals. The value is the lower bound, which is the
    score to report.

    >>> import tieproof as tp
    >>> qrels, run = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5}}
    >>> print(render(tp.evaluate_run(qrels, run, measures=["RR"])).expandtabs())
    RR                      q1      0.5000
    RR                      all     0.5000
    """
    values = {measure: getattr(result.per_query(measure), HEADLINE).tolist() for measure in result.measures}
    lines = [
        line(measure, query, of_queries[at])
        for at, query in enumerate(result.query_ids.tolist())
        for measure, of_queries in values.items()
    ]
    return "\n".join([*lines, *(line(measure, MEAN, getattr(result[measure], HEADLINE)) for measure in values)])


def line(measure: str, query: object, value: float) -> str:
    """A line with the column widths of trec_eval."""
    return f"{measure:<22}\t{printable(query)}\t{value:6.4f}"
