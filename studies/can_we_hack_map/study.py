"""Which evaluators can be fooled: an audit of the programs that compute mean average precision and similar measures.

Systems that never look at their input attack every evaluator, in a process of its own. The audit also checks whether
its result depends on changes that must not matter. Libraries that are not installed are named, but not measured.

    python studies/can_we_hack_map/study.py
"""

import re
import textwrap
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import tieproof as tp
from studies.can_we_hack_map.subjects import SUBJECTS, Subject
from studies.common import parse, progress, save, table, write_report
from tieproof.show import style
from tieproof.trials.audit import ATTACKS, Finding, Verdict
from tieproof.trials.audit.luck import DRAWS
from tieproof.trials.findings import worst

QUICK = ["zeros", "nan", "infinity", "permuting items", "order search"]
TIME_LIMIT = 120.0
ITEMS, QUERIES = 120, 60
"""Fewer than usual, because some libraries take a second for the usual number, and an audit has a thousand calls."""

SKIPPED = ("zeros in a new process",)
"""Attacks that are left out: they take half an hour with a library that takes ten seconds to import."""

WORKERS = 2
"""Evaluators that are audited side by side, each in a process of its own."""

BLIND = [attack.name for attack in ATTACKS.values() if attack.kind == "blind"]
ORDER = [
    attack.name for attack in ATTACKS.values() if attack.name.startswith(("permuting", "renaming", "order of lines"))
]
NOT_FINITE = {
    "NaN": ["nan", "some nan"],
    "infinity": ["infinity", "negative infinity", "either infinity", "some infinity"],
}


class Audited(NamedTuple):
    """An evaluator and its report; none where it is not installed."""

    subject: Subject
    report: tp.AuditReport | None


class Number(NamedTuple):
    """One of the numbers that an evaluator gives: what it is called in tables, and the findings on it."""

    subject: Subject
    name: str
    findings: Sequence[Finding]

    @property
    def title(self) -> str:
        """The evaluator and the number."""
        return f"{self.subject.name}, {self.name}"


def main() -> None:
    """Audit, draw, and write the report."""
    options = parse(__file__, __doc__)
    with ThreadPoolExecutor(WORKERS) as pool:
        audited = list(pool.map(lambda subject: audit(subject, QUICK if options.quick else None), SUBJECTS))
    draw(audited, options.out / "blind.svg")
    write_report(options, render(audited))


def audit(subject: Subject, attacks: Sequence[str] | None = None) -> Audited:
    """The report on one evaluator."""
    if not subject.installed:
        return Audited(subject, None)
    progress(subject.name)
    measure, distance = (subject.known, subject.distance) if subject.distance else (None, "cosine")
    found = tp.audit(
        subject.target,
        takes=subject.takes,
        measure=measure,
        distance=distance,
        attacks=attacks,
        isolate=True,
        time_limit=TIME_LIMIT,
        items=ITEMS,
        queries=QUERIES,
        skip=SKIPPED,
    )
    progress(f"{subject.name}: done")
    return Audited(subject, found)


def numbers(audited: Sequence[Audited]) -> list[Number]:
    """All numbers of the evaluators that were measured."""
    return [
        Number(subject, title, [finding for finding in report.findings if finding.measure == name])
        for subject, report in audited
        if report is not None
        for name, title in subject.numbers.items()
    ]


def of(findings: Sequence[Finding], attacks: Sequence[str]) -> list[Finding]:
    """The findings on these attacks."""
    return [finding for finding in findings if finding.attack in attacks]


def best_blind(number: Number) -> Finding | None:
    """The blind system that is best against random embeddings: an exploit, if there is one."""
    compared = [finding for finding in of(number.findings, BLIND) if finding.deviations is not None]
    return worst(compared) if compared else None


def fooled(number: Number) -> bool:
    """Whether a blind system gains; the search for the best order does not count, because it reads the scores."""
    return any(finding.verdict is Verdict.EXPLOITABLE for finding in of(number.findings, BLIND))


def fooling(number: Number) -> str:
    """The blind systems that gain, the best one first; and whether none does where documents are named at random."""
    found = [finding for finding in of(number.findings, BLIND) if finding.verdict is Verdict.EXPLOITABLE]
    said = ", ".join(finding.attack for finding in sorted(found, key=lambda finding: -(finding.deviations or 0)))
    renamed = [finding.renamed for finding in found if finding.renamed is not None]
    over = bool(renamed) and all(verdict.harmless for verdict in renamed)
    return f"{said}; under random names none" if over else said


def blind_row(number: Number) -> list[str]:
    """Whether it can be fooled, by which blind systems, and how much the best of them scores."""
    found = best_blind(number)
    start = [number.subject.name, number.name, number.subject.version]
    if found is None or found.score is None:
        return [*start, "no score", "", "", "", ""]
    random = f"{found.random_mean:.4f} ± {found.random_std:.4f}"
    said = fooling(number) if fooled(number) else "none"
    return [*start, said, found.attack, f"{found.score:.4f}", random, deviations(found)]


def deviations(finding: Finding) -> str:
    """The difference from random embeddings, in standard deviations."""
    return f"{finding.deviations:+.1f}"


def other_row(number: Number) -> list[str]:
    """The row on dependence on order, values that are not finite, tied data, and the documentation."""
    special = [said(of(number.findings, names)) for names in NOT_FINITE.values()]
    says = number.subject.says
    return [number.subject.name, order_dependence(number), *special, interval(number), says]


def order_dependence(number: Number) -> str:
    """The changes of order that change the number, and the result of the search for the best order."""
    changed = [finding.attack for finding in of(number.findings, ORDER) if not finding.verdict.harmless]
    searched = [
        short(finding.detail) for finding in of(number.findings, ["order search"]) if not finding.verdict.harmless
    ]
    return "; ".join([", ".join(changed), *searched]).strip("; ") or "none seen"


def interval(number: Number) -> str:
    """The number for tied data, and where it is in the interval over all orderings of ties."""
    found = of(number.findings, ["interval"])
    return re.sub("^On tied data, the score is ", "", short(found[0].detail)) if found else "not asked"


def short(detail: str) -> str:
    """A detail without the parts that are in the table already."""
    return detail.split(" The best order")[0].split("; random embeddings")[0].rstrip(".")


def said(findings: Sequence[Finding]) -> str:
    """The verdicts on a few attacks, each with the attacks that led to it."""
    by_verdict: dict[Verdict, list[Finding]] = {}
    for finding in findings:
        by_verdict.setdefault(finding.verdict, []).append(finding)
    if len(by_verdict) == 1 and findings:
        return with_score(findings)
    return "; ".join(f"{', '.join(f.attack for f in found)}: {with_score(found)}" for found in by_verdict.values())


def with_score(findings: Sequence[Finding]) -> str:
    """A verdict, with the largest score where there is one."""
    scores = [finding.score for finding in findings if finding.score is not None and finding.score == finding.score]
    return f"{findings[0].verdict}, {max(scores):.4f}" if scores else str(findings[0].verdict)


def reproducing(audited: Sequence[Audited]) -> str:
    """The line that prints the best blind score of each evaluator that can be fooled."""
    by_subject: dict[str, list[Finding]] = {}
    for number in filter(fooled, numbers(audited)):
        best = best_blind(number)
        if best is not None:
            by_subject.setdefault(number.subject.name, []).append(best)
    return "\n".join(worst(found).reproduce for found in by_subject.values())


def every_finding(audited: Sequence[Audited]) -> str:
    """For each evaluator, a table of the attacks that did not hold; for several numbers, the worst finding."""
    parts = []
    for subject, report in audited:
        bad: dict[str, list[Finding]] = {}
        for finding in report.findings if report else []:
            if not finding.verdict.harmless:
                bad.setdefault(finding.attack, []).append(finding)
        if bad:
            rows = [row(worst(found), subject) for found in bad.values()]
            parts.append(f"### {subject.name}\n\n{table(('attack', 'verdict', 'what was seen'), rows, words=3)}")
    return "\n".join(parts)


def row(finding: Finding, subject: Subject) -> tuple[str, str, str]:
    """A finding of an evaluator, with the name of its number where there are several."""
    name = f"{finding.measure}: " if len(subject.numbers) > 1 else ""
    return finding.attack, str(finding.verdict), name + finding.detail.replace("|", "\\|")


def draw(audited: Sequence[Audited], path: Path) -> None:
    """The best blind score of each number beside random embeddings."""
    found = [(number, best_blind(number)) for number in numbers(audited)]
    shown = [(number.title, best) for number, best in found if best is not None][::-1]
    figure, ax = style.figure("The picture of the study", height=0.24 * len(shown) + 1.2)
    places = range(len(shown))
    random, blind = style.LOOKS[0], style.LOOKS[5]
    ax.hlines(places, *zip(*(ends(finding) for _, finding in shown), strict=True), color=style.GRAY, linewidth=1)
    series: dict[str, tuple[style.Look, Callable[[Finding], Any]]] = {
        "random embeddings": (random, lambda finding: finding.random_mean),
        "best blind system": (blind, lambda finding: finding.score),
    }
    for label, (look, value) in series.items():
        ax.scatter(
            [value(finding) for _, finding in shown], places, color=look.color, marker=look.marker, label=label
        )
    if above_one(audited):
        ax.axvline(1, color=style.GRAY, linestyle="--", linewidth=1, zorder=0, label="1: no ranking scores more")
    ax.set_yticks(places, [name for name, _ in shown])
    ax.set_xlabel("score")
    ax.set_xlim(left=0)
    style.legend_below(ax, 1)
    style.tidy(ax)
    save(figure, path)


def above_one(audited: Sequence[Audited]) -> list[str]:
    """The numbers for which a blind system scores above 1, which is impossible for a ranking."""
    found = [(number, best_blind(number)) for number in numbers(audited)]
    return [number.title for number, best in found if best is not None and best.score is not None and best.score > 1]


def about_scores_above_one(audited: Sequence[Audited]) -> str:
    """The reason for scores above 1, or nothing if there are none."""
    names = above_one(audited)
    if not names:
        return ""
    text = (
        f"No ranking has a score above 1 ({'; '.join(names)}): such an evaluator accepts a list that contains one "
        "item several times, and counts the item each time."
    )
    return "\n\n" + textwrap.fill(text, 118)


def ends(finding: Finding) -> tuple[float, float]:
    """The ends of the line between both marks."""
    assert finding.score is not None
    assert finding.random_mean is not None
    return min(finding.score, finding.random_mean), max(finding.score, finding.random_mean)


def render(audited: Sequence[Audited]) -> str:
    """The report."""
    found = numbers(audited)
    absent = [subject.name for subject, report in audited if report is None]
    missing = f" Not installed, and so not measured: {', '.join(absent)}." if absent else ""
    first = list({number.subject.name: number for number in reversed(found)}.values())[::-1]
    headings = "evaluator, number, version, fooled by, best blind system, its score, random embeddings, deviations"
    others = ("evaluator", "order of the data", *NOT_FINITE, "on tied data", "its documentation on ties")
    kinds = sum(attack.kind != "recall" for attack in ATTACKS.values()) - len(SKIPPED)
    return f"""# Can we hack mAP?

This study runs `tieproof audit` on {len(first)} evaluators and {len(found)} of their numbers, with
{kinds} kinds of attack. Each evaluator is called as its documentation says.
**{sum(map(fooled, found))} of {len(found)} numbers can be fooled:** a system that never looks at its input scores
more than random embeddings do.{missing}

The score of a blind system is compared with the scores of {DRAWS} random embeddings (or random scores) by the same
evaluator on the same labels. "Deviations" is the difference in standard deviations of these scores, and ± gives the
standard deviation of one draw. `docs/audit.md` explains when a blind system gains. "Fooled by" lists the blind
systems that gain, the best one first; none of them reads a label or a score. If no system gains once documents have
random names, the table says so: rules that break ties by document number are fair if the numbers say nothing about
relevance. Every call is made in a process of its own, on {ITEMS} items and {QUERIES} queries from random data and
from handwritten digits. The attacker does not see the classes, but the order of the data says something about them,
as in most files.

{table(headings.split(", "), map(blind_row, found), words=5)}
![The best blind score of each evaluator beside random embeddings](blind.svg){about_scores_above_one(audited)}

## Order, NaN and infinity

The next table shows which changes of order change the number although the data is the same ("Everything that did not
hold" below shows by how much). It also shows the verdict on embeddings or scores that are not finite: refused (with
an error), held (the number is no better than a random one), or worse. On tied data the number should be one that some
ordering of the ties gives, between lower and upper. The search for the best order reads scores, so it is not a blind
system; it shows how far the order of the data alone moves the number. For an evaluator with several numbers, the
table shows the first.

{table(others, map(other_row, first), words=6)}
## How to reproduce the scores

Each line prints the score of the best blind system against one of the evaluators above.

```python
{reproducing(audited)}
```

## Everything that did not hold

{every_finding(audited)}"""


if __name__ == "__main__":
    main()
