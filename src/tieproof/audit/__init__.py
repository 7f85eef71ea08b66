"""Attacks on evaluators: whether a blind system gains from one, and whether it depends on what must not matter.

driver.py draws what calls what; luck.py says when a difference counts; an attack is a record in blind.py,
order_search.py, invariances.py or truth.py.

`tieproof.audit` is the function, and all else is found under it, or imported from here by name.

>>> import tieproof
>>> from tieproof.audit import ATTACKS
>>> ATTACKS["zeros"].kind, tieproof.audit.ATTACKS is ATTACKS
('blind', True)
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tieproof.later import as_package, handed_on

if TYPE_CHECKING:
    from tieproof.audit.all_attacks import ATTACKS
    from tieproof.audit.attacks import Attack
    from tieproof.audit.conventions import Evaluator
    from tieproof.audit.examination import Average
    from tieproof.audit.report import AuditReport
    from tieproof.audit.targets import Command
    from tieproof.audit.verdicts import Finding, Verdict
    from tieproof.measures import Measure
else:
    __getattr__, __dir__ = handed_on(
        __name__,
        {
            "ATTACKS": "tieproof.audit.all_attacks",
            "Attack": "tieproof.audit.attacks",
            "AuditReport": "tieproof.audit.report",
            "Command": "tieproof.audit.targets",
            "Finding": "tieproof.audit.verdicts",
            "Verdict": "tieproof.audit.verdicts",
        },
    )

__all__ = ["ATTACKS", "Attack", "AuditReport", "Command", "Finding", "Verdict", "audit"]


@as_package
def audit(
    evaluator: "Evaluator | str",
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
    progress: bool = False,
) -> "AuditReport":
    """Attack an evaluator: whether a blind system gains from it, and whether it depends on what must not matter.

    Parameters
    ----------
    evaluator : a function, "package.module:function", or `Command`
        It returns a number, or a dict of numbers by their names. It is a black box: it is only ever called.
    takes : "embeddings", "gallery", …, "distances", "scores", "relevance", "run" or "files"
        How it is called: (embeddings, labels), leave-one-out; (queries, query_labels, gallery, gallery_labels); a
        matrix (q, n) of distances or of scores with query_labels and gallery_labels; (scores, relevance) of shape
        (q, n) each; (qrels, run) as dicts of dicts, or as paths of TREC files. "embeddings and groups" and "gallery
        and groups" add a column such as cameras: (embeddings, labels, groups); (queries, query_labels, query_groups,
        gallery, gallery_labels, gallery_groups). Default: "embeddings" for a function of two parameters, "embeddings
        and groups" for one of three of which the first is called embeddings, "gallery" for one of four, "gallery and
        groups" for one of six, "files" for a `Command`.
    larger_is_better : bool
        False for error rates and the like.
    limits : (least, largest) or None
        What the evaluator's numbers cannot leave.
    measure : such as "AP@R", or {name of a number: measure}
        What the evaluator computes, if it is one of `tieproof.measures`; `distance` is that of its embeddings. Its
        values are then compared with the interval that ties leave.
    average : "mean", "macro" or "other"
        What the evaluator's number is of the values of single queries: their mean, the mean of the classes' means, or
        another average, such as the median. Only a mean is that of two halves of the queries, and averages that are
        none may give blind systems more than random embeddings, though every query is evaluated honestly.
    pooled : bool
        The number is that of all pairs of all queries together, such as an area under one curve.
    thresholds : bool
        Distances or scores are compared with fixed thresholds: scaling may change the number, and a system that lies
        on one side of all of them gains nothing that counts.
    vary : {keyword: values}
        Keyword arguments of the evaluator that must not matter, such as {"batch_size": [1, 64]}.
    attacks : names of `ATTACKS` (`from tieproof.audit import ATTACKS`)
        Default: all that apply.
    skip : names of `ATTACKS`
        What is left out.
    items, queries : int
        How many there are in the data of blind systems, usually; in leave-one-out every item is a query.
    seed : int
        Of all random numbers. The same seed gives the same report, if the evaluator gives the same numbers.
    time_limit : seconds
        What one call of the evaluator may take, the very first one ten times as much; a call that takes longer is
        repeated, with three times as much. Without `isolate` only Python code in the main thread can be stopped.
    isolate : bool
        Import and call the evaluator in a process of its own, by its name, so that a crash or a hang in native code
        is a finding, too, and all that it starts is ended.
    progress : bool
        Show a bar on standard error where it takes longer than two seconds.

    Returns
    -------
    AuditReport
        `exploitable`, `held`, and `findings`, one for every attack and number of the evaluator.

    Raises
    ------
    InputError
        Unknown names, an evaluator that cannot be imported, or that refuses even random embeddings, returns no number
        for them, or one outside the limits.

    Notes
    -----
    The attack by zeros and the comparison with random embeddings are those of Nicolaou et al. 2018 (section 5);
    luck.py in `src/tieproof/audit/` says when a difference counts.

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
    from tieproof.audit.driver import examined
    from tieproof.audit.examination import Options

    options = Options(
        takes,
        larger_is_better,
        limits,
        measure,
        distance,
        average,
        pooled,
        thresholds,
        vary,
        attacks,
        skip,
        items,
        queries,
        seed,
        time_limit,
        isolate,
    )
    return examined(evaluator, options, progress)
