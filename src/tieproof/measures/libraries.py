"""The names of measures in other libraries, also of measures that tieproof does not compute, and how they are read.

The names stand in a table, libraries.toml.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Ties

CUTOFF = r"[0-9]+\.[0-9]+(?=%)|[0-9]+"  # the digits of a cutoff, which may be a share of the gallery, such as 0.5%


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The names of measures in a library, or in a field of research."""

    name: str  # the name of the library in messages and pages
    source: str  # where its names are listed
    names: Mapping[str, str]  # tieproof's spelling -> the library's spellings
    # A description that completes "it is …" -> the names of such measures.
    refused: Mapping[str, str] = field(default_factory=dict)


def _libraries() -> Iterator[Vocabulary]:
    table = tomllib.loads(Path(__file__).with_name("libraries.toml").read_text("utf-8"))
    for each in table["library"]:
        refused = {table["reasons"].get(reason, reason): names for reason, names in each.get("refused", {}).items()}
        yield Vocabulary(each["name"], each["source"], each["names"], refused)


LIBRARIES = tuple(_libraries())  # every library whose names are understood, those of runs first


class Meaning(NamedTuple):
    """The meaning of a name in a library."""

    owner: str  # owner, theirs: the library and its spelling
    theirs: str
    ours: str  # tieproof's spelling; empty if tieproof does not have the measure
    reason: str  # what such a measure is, to complete "it is …"


def meanings(libraries: Iterable[Vocabulary] | None = None) -> Iterator[Meaning]:
    """Yield the meanings of all names in the table, or of those of some libraries."""
    for library in LIBRARIES if libraries is None else libraries:
        for ours, names in library.names.items():
            yield from (Meaning(library.name, theirs, ours, "") for theirs in names.split())
        for reason, names in library.refused.items():
            yield from (Meaning(library.name, theirs, "", reason) for theirs in names.split())


def meanings_of(text: str) -> list[Meaning]:
    """Return the meanings of a text in all libraries, with its digits in place of {k}.

    >>> meanings_of("cosine_map@100")
    [Meaning(owner='sentence-transformers', theirs='cosine_map@{k}', ours='AP(norm=min)@100', reason='')]
    """
    key = plain(text)
    digits_left_out = {key: ""}
    for match in re.finditer(CUTOFF, key):
        digits_left_out[f"{key[: match.start()]}{{k}}{key[match.end() :]}"] = match[0]
    table = by_spelling(LIBRARIES)
    return [
        meaning._replace(ours=meaning.ours.format(k=digits))
        for spelling, digits in digits_left_out.items()
        for meaning in table.get(spelling, ())
    ]


@lru_cache(maxsize=1)
def by_spelling(libraries: tuple[Vocabulary, ...]) -> dict[str, list[Meaning]]:
    """Return the meanings of each spelling; {k} stands for the digits of a cutoff."""
    table: dict[str, list[Meaning]] = {}
    for meaning in meanings(libraries):
        table.setdefault(plain(meaning.theirs), []).append(meaning)
    return table


def plain(text: str) -> str:
    """Return a spelling without letter case, blanks and quotation marks, which do not matter.

    >>> plain("nDCG(dcg='exp-log2') @ 10")
    'ndcg(dcg=exp-log2)@10'
    """
    return re.sub(r"[\s'\"]", "", text).casefold()


def is_settled(meanings: Sequence[Meaning], spelled: str) -> bool:
    """Whether a spelling means exactly one measure of tieproof, and nothing else."""
    # Letter case counts only if it distinguishes a measure of tieproof from one that is not offered:
    # sentence-transformers writes `accuracy@1`; ir_measures writes `Accuracy@1` for a different measure.
    offered = {meaning.ours for meaning in meanings if meaning.ours}
    exact = {bool(meaning.ours) for meaning in meanings if meaning.theirs == spelled}
    return len(offered) == 1 and (exact == {True} or all(meaning.ours for meaning in meanings))


def translated(text: str, measures: Iterable[str], parse: Callable[[str], Any], own: str = "") -> str:
    """Return tieproof's spelling of another library's name; an ambiguous or unknown name is refused."""
    # measures: the names of tieproof's measures; own: the one of them that the text means in other letter case
    all_meanings = [*([Meaning("tieproof", own, own, "")] if own else []), *meanings_of(text)]
    offered: dict[str, list[str]] = {}
    refused: dict[str, list[str]] = {}
    for library, _, ours, reason in all_meanings:
        (offered if ours else refused).setdefault(ours or reason, []).append(library)
    if is_settled(all_meanings, re.sub(CUTOFF, "{k}", text.strip())):
        return next(iter(offered))
    if offered:
        several = [f"'{ours}' in {', '.join(libraries)}" for ours, libraries in offered.items()]
        several += [
            f"in {', '.join(libraries)} it is {reason}, which is not offered" for reason, libraries in refused.items()
        ]
        raise InputError(
            f"'{text}' has several meanings: {'; '.join(several)}.{_on_an_example([*offered], parse)} Write the name "
            "of the measure that is meant."
        )
    if refused:
        said = "; ".join(f"in {', '.join(libraries)} it is {reason}" for reason, libraries in refused.items())
        raise InputError(f"'{text}' is not offered: {said}.")
    _refuse_parameter(text)
    raise InputError(_unknown(text, list(measures)))


def _on_an_example(spelled: Sequence[str], parse: Callable[[str], Any]) -> str:
    """Return what measures with the same cutoff give for a ranking in which all of them differ, if one is found."""
    measures = [parse(each) for each in spelled]
    cutoff = measures[0].cutoff
    for relevant in (cutoff + 1, 2) if isinstance(cutoff, int) and len(measures) > 1 else ():
        one, none = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        hit = Ties(none, none, none, one, one, n_relevant=one * relevant, n_items=one * (cutoff + relevant))
        values = [float(measure(hit).lower[0]) for measure in measures]
        if len(set(values)) == len(values):
            given = ", ".join(f"{measure} is {value:.4g}" for measure, value in zip(measures, values, strict=True))
            return f" For {relevant} relevant items, of which the first {cutoff} hold one, at rank 1, {given}."
    return ""


def _refuse_parameter(text: str) -> None:
    """Refuse a measure of trec_eval with a parameter that tieproof does not read there, such as set_F.0.5."""
    root, dot, _ = text.partition(".")
    for meaning in meanings_of(root) if dot else ():
        if meaning.owner == "trec_eval" and meaning.theirs == root:
            told = f"is {root} of trec_eval with a parameter. Write those of {meaning.ours} itself"
            raise InputError(
                f"'{text}' {told}."
                if meaning.ours
                else f"'{text}' is not offered: in trec_eval it is {meaning.reason}."
            )


def _unknown(text: str, measures: list[str]) -> str:
    from difflib import get_close_matches

    known = {name.casefold(): name for name in measures}
    known |= {
        meaning.theirs.split("{")[0].casefold().rstrip("@_-/."): re.split(r"@|\([^)]*{", meaning.ours)[0]
        for meaning in meanings()
        if meaning.ours
    }
    near = get_close_matches(re.split("[@(]", text.casefold())[0], known, n=3, cutoff=0.5)
    nearest = ", ".join(dict.fromkeys(known[name] for name in near))
    return (
        f"Unknown measure '{text}'."
        + (f" Nearest: {nearest}." if nearest else "")
        + f" Known measures: {', '.join(measures)}; written for example 'nDCG@10'."
    )
