"""Results that cannot be compared, and intervals that cannot be computed."""

from collections.abc import Callable
from typing import Any

import numpy as np

import tieproof as tp
from refusals.case import GOOD, LABELS, Case

RELEVANCE = np.eye(6)
ONE, OTHER = (tp.evaluate_scores(sign * RELEVANCE, RELEVANCE, measures=["AP", "RR"]) for sign in (1, -1))
QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"a": 1, "b": 1}}
RUN = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"b": 1.0}}


def scores(relevance: Any = RELEVANCE, **options: Any) -> tp.Result:
    return tp.evaluate_scores(-RELEVANCE[: len(relevance)], relevance, measures=["AP", "RR"], **options)


def compared(other: tp.Result = OTHER, **options: Any) -> Callable[[], object]:
    """Compare two systems."""
    return lambda: tp.compare({"base": ONE, "ours": other}, **options)


def board(**options: Any) -> Any:
    return tp.leaderboard(QRELS, {"base": RUN, "ours": RUN}, **options)


def categories(*names: str) -> tp.Result:
    return scores(categories=[*names], average="macro")


CASES: dict[str, Case] = {
    "a leaderboard of one run": Case(lambda: tp.leaderboard(QRELS, {"ours": RUN}), r"two or more systems, not 1"),
    "published numbers of other systems": Case(
        lambda: board(published={"theirs": 0.5}), r"No published number is of a system: they are of 'theirs'"
    ),
    "a published number that is not finite": Case(
        lambda: board(published={"base": float("nan")}), r"must be \{name: number\} with finite numbers"
    ),
    "a published number of two systems": Case(
        lambda: tp.leaderboard(QRELS, {"a.ours": RUN, "b.ours": RUN}, published={"ours": 0.5}),
        r"of 'ours' may be that of a\.ours or b\.ours; write the whole name",
    ),
    "one order of the gallery for a run": Case(
        lambda: tp.evaluate_run(QRELS, RUN).std_of_one_order("AP", qrels=QRELS, run=RUN), r"not of a run, whose lists"
    ),
    "a comparison of a single result": Case(lambda: tp.compare({"base": ONE}), r"needs at least two results, not 1"),
    "a comparison of results in a list": Case(
        lambda: tp.compare([ONE, OTHER]),  # type: ignore[arg-type]
        r"must be \{name: result\}, not list",
    ),
    "a comparison with a number in place of a result": Case(
        lambda: tp.compare({"base": ONE, "ours": 0.5}),  # type: ignore[dict-item]
        r"'ours' is float. Pass the results that evaluate returned",
    ),
    "a comparison of ranks": Case(
        lambda: tp.compare(
            dict.fromkeys("ab", tp.evaluate_scores([[2, 1]] * 2, [[1, 0]] * 2, measures=["FirstRank"]))
        ),
        r"'FirstRank' is a rank, which is no score: the smaller, the better. Pass RR, for example",
    ),
    "a comparison of counts": Case(
        lambda: tp.compare(dict.fromkeys(["base", "ours"], tp.evaluate_run(QRELS, RUN, measures=["NumRet"]))),
        r"'NumRet' is a count, which is no score. Pass a measure that is a mean over queries.",
    ),
    "a baseline that is not one of the systems": Case(
        compared(baseline="other"), r"Unknown baseline='other'. Known: base, ours"
    ),
    "a comparison with an unknown test=": Case(
        compared(test="z"), r"Unknown test='z'. Known: sign-flip, t, wilcoxon, tukey"
    ),
    "a comparison with an unknown correction=": Case(
        compared(correction="none"), r"Unknown correction='none'. Known: holm, bonferr"
    ),
    "a comparison by Tukey's test with correction=": Case(
        compared(test="tukey", correction="fdr"), r"correction='fdr' does not apply to test='tukey'"
    ),
    "a comparison with a confidence of 95": Case(
        compared(confidence=95), r"confidence must be a number between 0 and 1.*not 95"
    ),
    "a comparison of results with different queries": Case(
        compared(scores(RELEVANCE[:4])), r"2 of 6 queries of 'base' are missing from 'ours': 4, 5\. Systems are"
    ),
    "a comparison of numbered queries with named ones": Case(
        compared(scores().named(np.array(list("abcdef")))),
        r"different queries: names such as 0 and names such as 'a'",
    ),
    "a comparison in which two queries have the same name": Case(
        compared(scores().named(np.array([0, 1, 2, 3, 4, 4]))), r"'ours' has 2 queries with the name 4\. Give each"
    ),
    "fewer names than queries": Case(
        lambda: scores().named(["a", "b"]),
        r"names has 2 entries, but the queries are numbered from 0 to 5\. Pass one name",
    ),
    "query names in two dimensions": Case(
        lambda: scores().named(np.zeros((6, 2), dtype=int)), r"must have shape \(queries,\), not \(6, 2\)"
    ),
    "fractions as query names": Case(
        lambda: scores().named(np.arange(6) / 2), r"The names must be integers or strings, but row 1 contains 0\.5"
    ),
    "names for queries that already have names": Case(
        lambda: tp.evaluate_run(QRELS, RUN).named(["a", "b", "c"]), r"already have names, such as 'q1'; only numbered"
    ),
    "a comparison of results with different labels": Case(
        compared(scores(np.roll(RELEVANCE, 1, axis=1) + RELEVANCE)),
        r"labels: 6 of 6 queries differ in their labels, .*the first is query 0\. Evaluate both",
    ),
    "a comparison of integer labels with string labels": Case(
        lambda: tp.compare({"base": tp.evaluate(GOOD, LABELS), "ours": tp.evaluate(GOOD, [*map(str, LABELS)])}),
        r"6 of 6 queries differ in their labels",
    ),
    "a comparison of results with different empty=": Case(
        compared(scores(RELEVANCE * (np.arange(6) > 0), empty="zero")), r"different empty=: 'skip' and 'zero'"
    ),
    "a comparison of runs with different truncated=": Case(
        lambda: tp.compare(
            {"base": tp.evaluate_run(QRELS, RUN), "ours": tp.evaluate_run(QRELS, RUN, truncated=True)}
        ),
        r"different truncated=: False and True\. Evaluate both with the same value",
    ),
    "a comparison of results with different measures": Case(
        compared(tp.evaluate_scores(RELEVANCE, RELEVANCE, measures=["AP"])),
        r"different measures: AP, RR and AP\..*or pass the measures to compare as measures=",
    ),
    "a comparison by a measure that the results lack": Case(
        compared(measures=["P@1"]), r"no measure 'P@1'; it has AP, RR"
    ),
    "a comparison of results with different categories": Case(
        lambda: tp.compare({"base": categories(*"aabbcc"), "ours": categories(*"aabbbc")}),
        r"different categories: query 4 is in 'c' and in 'b'",
    ),
    "a comparison of means over categories by Wilcoxon's test": Case(
        lambda: tp.compare(dict.fromkeys(("base", "ours"), categories(*"aabbcc")), test="wilcoxon"),
        r"ranks all queries together, but these results are means over categories",
    ),
    "a difference for a system that was not compared": Case(
        lambda: compared()()["base", "theirs", "AP"],  # type: ignore[index]
        r"no system 'theirs'; it has base, ours",
    ),
    "a difference indexed by a list in place of a name": Case(
        lambda: compared()()[["base"], "ours", "AP"],  # type: ignore[index]
        r"no system \['base'\]; it has base, ours",
    ),
    "a difference between a system and itself": Case(
        lambda: compared()()["base", "base", "AP"],  # type: ignore[index]
        r"'base' is named twice, but a system is not compared with itself",
    ),
    "a difference without a measure": Case(
        lambda: compared()()["base", "ours"],  # type: ignore[index]
        r"indexed by \(system, system, measure\), not by \('base', 'ours'\)",
    ),
    "a count of 0 deciding queries": Case(
        lambda: tp.compare({"base": ONE, "ours": OTHER}).deciding("base", "ours", "AP", 0),
        r"count must be a whole number of at least 1, not 0",
    ),
    "an interval over a single query": Case(
        lambda: tp.evaluate_scores([[1.0, 0.0]], [[1, 0]]).interval("AP"),
        r"There is a single query, which does not show how much queries differ",
    ),
    "an interval over categories, one of them with a single query": Case(
        lambda: categories(*"aabbbc").interval("AP"), r"The category 'c' has a single query.*pass average='micro'"
    ),
    "an interval with an unknown method=": Case(
        lambda: ONE.interval("AP", method="percentile"),  # type: ignore[arg-type]
        r"Unknown method='percentile'. Known: bca, t",
    ),
    "an interval with an unknown bound=": Case(
        lambda: ONE.interval("AP", bound="std"),  # type: ignore[arg-type]
        r"Unknown bound='std'. Known: lower, expected, upper",
    ),
    "an interval with a confidence of 1 - 2^-53": Case(
        lambda: ONE.interval("AP", 1 - 2**-53),
        r"confidence must be a number between 0 and 1.*not 0\.9999999999999999",
    ),
    "an interval with a confidence of 1": Case(lambda: ONE.with_ci(1.0), r"ci must be a number between 0 and 1"),
    "a table of no results": Case(lambda: tp.table({}), r"A table needs at least one result\. Pass \{name: result\}"),
    "a table of a single result without a name": Case(
        lambda: tp.table(ONE),  # type: ignore[arg-type]
        r"The results must be \{name: result\}, not Result",
    ),
    "an unknown column of a LaTeX table": Case(
        lambda: ONE.to_latex(columns=["lowest"]),
        r"columns must be a list of columns of numbers of this table, which are lower, expected, upper, tie std; not",
    ),
    "a label that LaTeX cannot read": Case(
        lambda: ONE.to_latex(label="tab:my scores"), r"label must be a name such as 'tab:scores', not 'tab:my scores'"
    ),
}
