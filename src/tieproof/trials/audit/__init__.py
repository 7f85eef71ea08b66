"""Attacks on evaluators: tests of whether a blind system gains, and of whether the score changes when it must not.

The docstring of driver.py shows which module calls which; luck.py defines when a difference counts. attacks.toml, in
the folder above, describes each attack; its function is in blind.py, invariances.py, memory.py, good.py, truth.py
or, for evaluators of recall, recall_attacks.py.

>>> from tieproof.trials.audit import ATTACKS
>>> ATTACKS["zeros"].kind
'blind'
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.measures import Measure
    from tieproof.trials.audit.conventions import EvaluatorFunction
    from tieproof.trials.audit.driver import ATTACKS as ATTACKS
    from tieproof.trials.audit.examination import Attack as Attack
    from tieproof.trials.audit.examination import Average
    from tieproof.trials.audit.report import AuditReport as AuditReport
    from tieproof.trials.audit.targets import Command as Command
    from tieproof.trials.findings import Finding as Finding
    from tieproof.trials.findings import Verdict as Verdict
else:
    __getattr__, __dir__ = exports(__name__, "audit")


def audit(
    evaluator: "EvaluatorFunction | str",
    *,
    takes: str | None = None,
    larger_is_better: bool = True,
    limits: tuple[float, float] | None = (0.0, 1.0),
    measure: "str | Measure | Mapping[str, str | Measure] | None" = None,
    distance: str = "cosine",
    average: "Average | None" = None,
    pooled: bool = False,
    thresholds: bool = False,
    vary: Mapping[str, Sequence[Any]] | None = None,
    attacks: Sequence[str] | None = None,
    skip: Sequence[str] = (),
    items: int = 240,
    queries: int = 240,
    seed: int = 0,
    time_limit: float = 30.0,
    isolate: bool = False,
    thorough: bool = False,
    progress: bool = False,
) -> "AuditReport":
    """Attack an evaluator: test whether a blind system gains from it, and whether it depends on what must not matter.

    Parameters
    ----------
    evaluator : a function, "package.module:function", or `Command`
        The evaluator returns a number, or a dict of numbers by their names. It is treated as a black box.
    takes : "embeddings", "gallery", …, "distances", "scores", "relevance", "run", "files" or "recall"
        The arguments of the evaluator: (embeddings, labels), leave-one-out; (queries, query_labels, gallery,
        gallery_labels); a matrix (q, n) of distances or of scores with query_labels and gallery_labels; (scores,
        relevance), both of shape (q, n); (qrels, run) as dicts of dicts, or as paths of TREC files. "embeddings and
        groups" and "gallery and groups" add a column such as cameras: (embeddings, labels, groups); (queries,
        query_labels, query_groups, gallery, gallery_labels, gallery_groups). "recall" is (found, distances, truth):
        ids (q, 10) that an index found, their distances, of which smaller is nearer, and a pair of true ids and
        distances (q, m), from which the share of the 10 nearest that were found is computed. Default: "embeddings"
        for a function of two parameters, "embeddings and groups" or "recall" for one of three parameters if the
        first is called embeddings or found, "gallery" for one of four, "gallery and groups" for one of six, "files"
        for a `Command`.
    larger_is_better : bool
        Pass False for error rates and other numbers of which a smaller one is better.
    limits : (least, largest) or None
        The range that the evaluator's numbers cannot leave; None if there is no such range. For a recall, the numbers
        for no and for all neighbors.
    measure : such as "AP@R", or {name of a number: measure}
        The measure that the evaluator computes, if it is one of `tieproof.measures`, and `distance` the distance
        between its embeddings. The evaluator's numbers are then compared with the interval from the lower to the
        upper bound over all orderings of tied items.
    average : "mean", "macro" or "other"
        How the evaluator's number is computed from the values of single queries: their mean, the mean of the
        classes' means, or another average, such as the median. Only a mean over queries must equal the mean over two
        halves of the queries. Another average may give blind systems more than random embeddings, even though
        every query is evaluated honestly.
    pooled : bool
        The number is computed from all pairs of all queries together, such as the area under one curve.
    thresholds : bool
        Distances or scores are compared with fixed thresholds. Scaling may then change the number, and the gain of a
        system whose values are all on one side of every threshold is not counted.
    vary : {keyword: values}
        Keyword arguments of the evaluator that must not matter, such as {"batch_size": [1, 64]}.
    attacks : names of `ATTACKS` (`from tieproof.trials.audit import ATTACKS`)
        The attacks to run. Default: all that apply.
    skip : names of `ATTACKS`
        The attacks to leave out.
    items, queries : int
        The usual number of items and queries in the data of blind systems; in leave-one-out every item is a query.
    seed : int
        The seed of all random numbers. The same seed gives the same report if the evaluator gives the same numbers.
    time_limit : seconds
        The time that one call of the evaluator may take; the very first call may take ten times as long. A call that
        takes longer is repeated once with three times the limit. Without `isolate`, only Python code in the main
        thread can be interrupted.
    isolate : bool
        Import and call the evaluator, by its name, in a separate process. A crash or a hang in native code is then a
        finding, too, and all processes that the evaluator started are ended.
    thorough : bool
        Make more attacks, and test more draws of every blind system, up to 257, for gains of half a standard
        deviation of a random embedding. This takes about ten times as long.
    progress : bool
        Show a progress bar on standard error if the audit takes longer than two seconds.

    Returns
    -------
    AuditReport
        `exploitable`, `held`, and `findings`, one for each attack and each number of the evaluator.

    Raises
    ------
    InputError
        A name is unknown; the evaluator cannot be imported; or for random embeddings it raises an error, returns no
        number, or returns a number outside the limits.

    Notes
    -----
    The attack by zeros and the comparison with random embeddings are those of Nicolaou et al. 2018 (section 5);
    luck.py in `src/tieproof/trials/audit/` defines when a difference counts.

    Examples
    --------
    >>> import tieproof as tp
    >>> def upper_bound(embeddings, labels):
    ...     return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper
    >>> report = tp.audit(upper_bound, attacks=["zeros", "nan"])
    >>> report.exploitable, [str(finding.verdict) for finding in report.findings]
    (True, ['exploitable', 'refused'])
    >>> report.finding("zeros").score
    1.0

    """
    from tieproof.trials.audit.driver import examined
    from tieproof.trials.audit.examination import Options

    declared = takes, larger_is_better, limits, measure, distance, average, pooled, thresholds, vary
    wanted = attacks, skip, items, queries, seed, time_limit, isolate, thorough
    return examined(evaluator, Options(*declared, *wanted), progress)
