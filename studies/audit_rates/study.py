"""How often an audit is wrong: false accusations of simulated honest evaluators, and power against guilty ones.

Each audit tries all attacks that may convict one simulated evaluator. Finished audits are written to audits.json, and
a later run continues from there if the sources of the audit have not changed.

    python studies/audit_rates/study.py
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from studies.audit_rates.audits import SIZE, SIZE_OF_RUNS, USUAL, Audit, make, of, tasks
from studies.audit_rates.families import FAMILIES, Family, Kind
from studies.audit_rates.proofs import PROOFS as BLIND_SPOTS
from studies.audit_rates.rates import CONFIDENCE, Rate
from studies.audit_rates.shape_proofs import SHAPE_PROOFS
from studies.common import parse, table, write_report

PROOFS = BLIND_SPOTS | SHAPE_PROOFS
"""The proof of each fault that only special data shows, by family."""

SEEDS, GUILTY_SEEDS, QUICK_SEEDS = 12, 2, 1
FILE = "audits.json"
DOCUMENT = Path(__file__).parents[2] / "docs" / "audit.md"
TABLE_OF_ALL = re.compile(r"^\| evaluators \|.*\n(\|.*\n)+", re.MULTILINE)
"""The table of `summary`, wherever it stands."""

EXPLOITABLE, MIDDLE = "exploitable", "gains a little"
"""The verdict on an exploit, and the one between that and held."""

HEADINGS = ("audits", "convicted", "interval", "gains a little", "all held")
"""Of the columns that `counts` fills."""


def main() -> None:
    """Audit, count, and write the report and the table in `docs/audit.md`."""
    options = parse(__file__, __doc__)
    sizes = (QUICK_SEEDS, QUICK_SEEDS) if options.quick else (SEEDS, GUILTY_SEEDS)
    audits = make(tasks(*sizes), options.out / FILE)
    write_report(options, render(audits))
    if options.out == Path(__file__).parent:
        said = DOCUMENT.read_text(encoding="utf-8")
        DOCUMENT.write_text(TABLE_OF_ALL.sub(lambda _: summary(audits), said), encoding="utf-8")


def render(audits: Sequence[Audit]) -> str:
    """The report."""
    families = ("family", "each evaluator has", *HEADINGS)
    return f"""# How often an audit is wrong

This study runs `tieproof audit` on {len(audits)} simulated evaluators, each with a seed of its own. It uses all
attacks that can convict an evaluator, on {SIZE} items and as many queries ({SIZE_OF_RUNS} of each for runs), which is
fewer than an audit usually has. On the families of the section "What only special data shows", and on those that
look like them, it makes whole audits on {USUAL} items and queries.

An evaluator is honest if no blind system scores more than random embeddings, on average over the evaluator's own
randomness, whatever the order of the data. It is convicted if an audit calls it exploitable (in a thorough audit of a
gain of half a deviation, also if it gains a little) or, where a number changes that must not change, if an audit says
so. An honest evaluator that is convicted is accused falsely. An evaluator of recall is honest if its number lies
between the least and the largest recall over all choices of tied neighbors, whatever the lists. The intervals of
Clopper and Pearson are for the share that is convicted, at {100 * CONFIDENCE:g} % confidence. Written by `python
studies/audit_rates/study.py`.

{summary(audits)}
{accusations(audits)}

## Honest evaluators

{table(families, rows(audits, "honest"), words=2)}
## Guilty evaluators

Apart from its fault, each evaluator computes average precision and breaks ties by fresh random numbers. The strength
is in percent, or in the unit that the description of the fault names.

{table(("family", "its fault", "strength", *HEADINGS), guilty_rows(audits), words=2)}
## What only special data shows

The faults of these families are proved without an audit: on a blind system that was built for the fault, the
evaluator scores more than on random embeddings, or it gives another number for data that is the same.

{table(("family", "its fault", "proof: it gives", "instead of", *HEADINGS), proved_rows(audits), words=2)}
## Expected values under averages that are no means

The expected value of each query is fair, but the average over queries need not be. All-equal embeddings give every
query the same expected value, whereas random embeddings give values that scatter around it. The median or the
geometric mean of scattered values is lower. A blind system therefore truly gains, although ties are treated
correctly, and it is not a false accusation to report this gain.

{table(families, rows(audits, "gains"), words=2)}
## Evaluators of recall

They are handed lists of found items whose recall is known. The fault of a guilty one shows in so many percent of the
lists; all others are judged honestly.

{table(families, rows(audits, "honest", recall=True), words=2)}
{table(("family", "its fault", "strength", *HEADINGS), guilty_rows(audits, recall=True), words=2)}"""


def summary(audits: Sequence[Audit]) -> str:
    """How often honest and guilty evaluators are called exploitable: the table that `docs/audit.md` has, too."""
    groups: dict[str, list[Audit]] = {
        "honest": of_kind(audits, "honest"),
        "a blind system gains, all strengths": of_kind(audits, "guilty"),
        "the number changes": of_kind(audits, "changes"),
        "a blind system gains, the strongest of each family": strongest(of_kind(audits, "guilty")),
        "of recall, honest": of_kind(audits, "honest", recall=True),
        "of recall, an index gains, all strengths": of_kind(audits, "guilty", recall=True),
        "of recall, an index gains, the strongest of each family": strongest(of_kind(audits, "guilty", recall=True)),
    }
    return table(("evaluators", *HEADINGS), [[title, *counts(found)] for title, found in groups.items()])


def strongest(audits: Sequence[Audit]) -> list[Audit]:
    """The audits of the largest strength of each family."""
    return [audit for audit in audits if audit.strength == FAMILIES[audit.family].strengths[0]]


def accusations(audits: Sequence[Audit]) -> str:
    """Which attacks accuse honest evaluators."""
    every = (*of_kind(audits, "honest"), *of_kind(audits, "honest", recall=True))
    found = [attack for audit in every for attack in audit.verdicts.get(EXPLOITABLE, [])]
    if not found:
        return "No attack accuses an honest evaluator."
    said = ", ".join(f"{attack} ({count})" for attack, count in Counter(found).most_common())
    return f"Attacks that accuse honest evaluators, and how often: {said}."


def of_kind(audits: Sequence[Audit], kind: Kind, recall: bool = False) -> list[Audit]:
    """The audits of all families of a kind, those of recall or all others."""
    families = ((audit, FAMILIES[audit.family]) for audit in audits)
    return [audit for audit, family in families if (family.kind, family.takes == "recall") == (kind, recall)]


def rows(audits: Sequence[Audit], kind: Kind, recall: bool = False) -> Iterator[list[str]]:
    """A row for each family of a kind that has no strengths."""
    for family in of_families(audits, kind, recall):
        yield [family.name, family.does, *counts(of(audits, family, family.strengths[0]))]


def guilty_rows(audits: Sequence[Audit], recall: bool = False) -> Iterator[list[str]]:
    """A row for each strength of each guilty family."""
    for family in of_families(audits, "guilty", recall):
        for strength in family.strengths if family.name not in PROOFS else ():
            found = of(audits, family, strength)
            said = str(strength) if len(family.strengths) > 1 else ""
            if found:
                yield [family.name, family.does, said, *counts(found)]


def proved_rows(audits: Sequence[Audit]) -> Iterator[list[str]]:
    """A row for each family whose fault is proved."""
    for family in (*of_families(audits, "guilty"), *of_families(audits, "changes")):
        if family.name in PROOFS:
            proved = [f"{number:.4f}" for number in PROOFS[family.name](family.make(family.strengths[0], 0))]
            yield [family.name, family.does, *proved, *counts(of(audits, family, family.strengths[0]))]


def of_families(audits: Sequence[Audit], kind: Kind, recall: bool = False) -> list[Family]:
    """The families of a kind that were audited, those of recall or all others."""
    found = {audit.family for audit in of_kind(audits, kind, recall)}
    return [family for name, family in FAMILIES.items() if name in found]


def is_convicted(audit: Audit) -> bool:
    """Whether an audit found what an evaluator of its family is convicted for."""
    return not FAMILIES[audit.family].convictions.isdisjoint(audit.verdicts)


def counts(audits: Sequence[Audit]) -> list[str]:
    """How many audits; how many convict, with an interval; how many see a small gain, and how many nothing at all."""
    rate = Rate(sum(is_convicted(audit) for audit in audits), len(audits))
    middle = sum(MIDDLE in audit.verdicts and not audit.exploitable for audit in audits)
    return [str(rate.trials), str(rate.times), str(rate), str(middle), str(sum(audit.held for audit in audits))]


if __name__ == "__main__":
    main()
