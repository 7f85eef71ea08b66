"""The report of an audit as text, as Markdown and as a page."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tieproof.kit import NARROWEST, WIDTH, AsPage, Shown, Table, count, in_one_line, table
from tieproof.show.printable import printable
from tieproof.show.shown import EXPLAINED, markdown
from tieproof.trials.audit.conventions import CONVENTIONS
from tieproof.trials.audit.luck import in_brief
from tieproof.trials.findings import TABLE, Finding, Report, Verdict, attacks_of, bad, in_a_sentence, worst, wrapped

HEADER = ("attack", "verdict", "score", "random", "deviations")
OF_RECALL = ("attack", "verdict", "score", "recall")  # the columns of the table, and those for an evaluator of recall
MEASURE = "measure"
# The largest share of refused attacks with which an evaluator is held; one that refuses ties refuses about 0.89.
MOST_REFUSED = 0.9


@dataclass(frozen=True, repr=False)
class AuditReport(Report, Shown, AsPage):
    """The findings of an audit, one for each attack and measure, in the order of the registry.

    evaluator : the evaluator's name
    takes : the arguments that it was called with
    seed : the seed of all random numbers
    items, queries : the usual number of each
    power : for each measure, the gain of a blind system that the audit would hardly have missed
    """

    evaluator: str
    takes: str
    seed: int
    findings: Sequence[Finding]
    items: int = 0
    queries: int = 0
    power: Mapping[str, float] = field(default_factory=dict)

    def finding(self, attack: str, measure: str | None = None) -> Finding:
        """The worst finding on an attack, for one measure or for all of them."""
        return worst(self._found(attack, measure))

    @property
    def held(self) -> bool:
        """Whether every finding is harmless, and the evaluator refused no more attacks than `MOST_REFUSED`."""
        return super().held and len(_ended(self, [Verdict.REFUSED])) <= MOST_REFUSED * len(attacks_of(self.findings))

    def to_text(self, width: int | None = None, color: bool = False, explain: bool = False) -> str:
        """The verdict in a sentence, then each likely cause, its repair, and one finding with a line to reproduce it.

        width : the number of columns to fit into; None for 80
        color : whether to use the escape sequences of a terminal
        explain : whether to show a table with a row for each attack, and every bad finding

        >>> import tieproof as tp
        >>> def upper_bound(embeddings, labels):
        ...     return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper
        >>> report = tp.audit(upper_bound, attacks=["zeros", "constant", "nan"])
        >>> print(report)
        Audited upper_bound, called with (embeddings, labels), leave-one-out.
        EXPLOITABLE: 2 of 3 attacks show that a system that never looks at its input
        scores more than random embeddings do; 1 of 3 attacks was refused.
        <BLANKLINE>
        Likely cause: ties follow the order of the data or of ids, or favor relevant
        items. To repair it, rank by (score, a random or the worst order of ties), or
        report the lowest or the expected value over all orders of ties, such as
        result[measure].lower of tieproof. Shown by 2 attacks: zeros,
        exploitable: On the layout 'largest first', the score is 1.0000; random
        embeddings score 0.1427 ± 0.0024. In 5 draws of 141 to 324 items, it gains
        0.8537 over random embeddings on average, with a standard error of 0.0020.
        <BLANKLINE>
        All 3 findings: --explain, or to_text(explain=True)
        """
        width = max(width or WIDTH, NARROWEST)
        parts = ["\n".join(wrapped(text, width) for text in _conclusions(self))]
        several = _has_several_measures(self)
        for cause, findings in _groups(self).items():
            number = count(len({each.attack for each in findings}), "attack")
            shown = f"{cause} Shown by {number}: "
            for finding in findings if explain else findings[:1]:
                name = f"{finding.attack}, {finding.measure}" if several else finding.attack
                parts.append(wrapped(f"{shown}{name}, {finding.verdict}: {finding.detail}", width))
                parts[-1] += f"\n    {printable(finding.reproduce)}" if finding.reproduce else ""
                shown = ""
        if not explain:
            every = "The finding" if len(self.findings) == 1 else f"All {len(self.findings)} findings"
            return "\n\n".join([*parts, f"{every}: {EXPLAINED}"])
        recall, header = is_of_recall(self), _details(self, []).header
        columns = [place for place, name in enumerate(header[:-1]) if several or name != MEASURE]
        chosen = [[_cells(finding, recall)[place] for place in columns] for finding in self.findings]
        return "\n\n".join([*parts, table([header[place] for place in columns], [chosen], width, color)])

    def to_markdown(self) -> str:
        """The report as Markdown, to paste into an issue: each cause and a line to reproduce it, and the findings."""
        lines = [f"## Audit of `{in_one_line(self.evaluator)}`", "", *map(in_one_line, _conclusions(self))]
        for cause, findings in _groups(self).items():
            again = printable(findings[0].reproduce)
            lines += ["", cause, *(["", "```python", again, "```"] if again else [])]
        if harmful := bad(self.findings):
            lines += ["", markdown(_details(self, harmful))]
        return "\n".join(lines) + "\n"

    def _page(self) -> tuple[str, dict[str, Any]]:
        known = {finding.verdict for finding in self.findings}
        said = "can be exploited" if self.exploitable else "held" if self.held else "did not hold"
        return "audit.html", {
            "title": f"{self.evaluator} {said}",
            "report": self,
            "verdict": said,
            "said": list(_sentences(self)),
            "bad": bad(self.findings),
            "attacks": len(attacks_of(self.findings)),
            "several": _has_several_measures(self),
            "recall": is_of_recall(self),
            "interval_of": interval_of,
            "meanings": [(str(verdict), verdict.meaning) for verdict in Verdict if verdict in known],
        }

    def _table(self) -> Table:
        return _details(self, self.findings)._replace(notes=[*_sentences(self)], numbers=("score", "deviations"))


def is_of_recall(report: AuditReport) -> bool:
    """Whether an evaluator of recall was audited."""
    return report.takes == CONVENTIONS["recall"].takes


def _details(report: AuditReport, findings: Iterable[Finding]) -> Table:
    recall = is_of_recall(report)
    names = OF_RECALL if recall else HEADER
    return Table((names[0], MEASURE, *names[1:], "what"), [[_cells(finding, recall) for finding in findings]])


def _has_several_measures(report: AuditReport) -> bool:
    return len({finding.measure for finding in report.findings}) > 1


def interval_of(finding: Finding) -> str:
    """The numbers that a recall of the same lists may be, as text; empty if there are none."""
    ends = dict.fromkeys(f"{end:.4f}" for end in finding.interval or ())
    return " to ".join(ends)


def _cells(finding: Finding, recall: bool) -> Sequence[str]:
    score = in_brief(finding.score)
    luck = "" if finding.random_mean is None else f"{in_brief(finding.random_mean)} ± {in_brief(finding.random_std)}"
    deviations = "" if finding.deviations is None else f"{finding.deviations:+.1f}"
    beside = [interval_of(finding)] if recall else [luck, deviations]
    return [finding.attack, finding.measure, str(finding.verdict), score, *beside, finding.detail]


# Verdicts whose cause does not depend on the attack.
ACCIDENTS = (Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.TOO_MUCH_OUTPUT)


def _groups(report: AuditReport) -> Mapping[str, Sequence[Finding]]:
    """The bad findings by their likely cause and its repair, the worst first."""
    groups: dict[str, list[Finding]] = {}
    causes = TABLE["causes"]
    for finding in bad(report.findings):
        why = "recall" if is_of_recall(report) else TABLE["audit"].get(finding.attack, {}).get("why")
        keys = () if finding.verdict in ACCIDENTS else (finding.attack, why)
        cause = next(causes[key] for key in (*keys, finding.verdict) if key in causes)
        groups.setdefault(TABLE["sentences"].get(cause, cause), []).append(finding)
    return groups


def _ended(report: AuditReport, verdicts: Collection[Verdict]) -> set[str]:
    """The attacks that ended with one of these verdicts for all numbers of the evaluator."""
    return attacks_of(report.findings) - attacks_of(each for each in report.findings if each.verdict not in verdicts)


def _sentences(report: AuditReport) -> Iterator[str]:
    yield from _conclusions(report)
    yield from _groups(report)
    if any(finding.random_mean is not None for finding in report.findings):
        yield "The number after ± is the standard deviation of one random embedding."


OF_LISTS = (
    "{} that lists of found items score more than the neighbors among them allow.",
    ".",
    "in {}, lists score what they found, and nothing changes that must not change.",
)
OF_SYSTEMS = (
    "{} that a system that never looks at its input scores more than random embeddings do.",
    ", though no blind system gains from it.",
    "in {}, no blind system gains, and nothing changes that must not change.",
)
"""The ends of the sentence on an audit, as `in_a_sentence` takes them."""


def _conclusions(report: AuditReport) -> Iterator[str]:
    """What was audited, and what came out, without the causes."""
    yield f"Audited {report.evaluator}, called with {report.takes}."
    yield _verdict(report)
    compared = any(finding.deviations is not None for finding in report.findings)
    if compared and report.power and not report.exploitable and not _ended(report, ACCIDENTS):
        same = report.items == report.queries
        sizes = count(report.items, "item") + (" and as many queries" if same else f" and {report.queries} queries")
        yield f"With {sizes}, {_powers(report)} by one of the systems that were tried would hardly have been missed."


def _verdict(report: AuditReport) -> str:
    """The verdict on the evaluator in a sentence, with the numbers of attacks that it refused or failed on."""
    attacks = attacks_of(report.findings)
    if not attacks:
        return "Not held: random embeddings show a problem, so no attack was made."
    exploited, found, held = OF_LISTS if is_of_recall(report) else OF_SYSTEMS
    if any(finding.verdict is Verdict.GAINS_A_LITTLE for finding in report.findings):
        found = found.replace("no blind system gains from it", "a blind system gains a little")
    if _ended(report, ACCIDENTS):
        found = "."  # whether a blind system gains there is not known
    said = in_a_sentence(report, exploited, found, held).rstrip(".")
    if not report.held and not bad(report.findings):
        said = "Not held: the evaluator refused nearly all attacks, and the others found nothing"
    for verdicts, how in (([Verdict.REFUSED], "refused"), (ACCIDENTS, "left without a number")):
        if ended := len(_ended(report, verdicts)):
            said += f"; {ended} of {count(len(attacks), 'attack')} {'was' if ended == 1 else 'were'} {how}"
    return f"{said}."


def _powers(report: AuditReport) -> str:
    gains = [f"above {gain:.2g}" for gain in report.power.values()]
    if len(gains) > 1:
        gains = [f"{gain} of {name}" for gain, name in zip(gains, report.power, strict=True)]
    return f"a gain {' or '.join(gains)}"
