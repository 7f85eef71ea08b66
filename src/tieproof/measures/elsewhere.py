"""Translates measure names of other libraries to tieproof's, by the table of `spellings.py`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tieproof.errors import InputError
from tieproof.measures import spellings


class Meaning(NamedTuple):
    """The meaning of a name in a library.

    owner, theirs : the library and its spelling
    ours : tieproof's spelling; empty if tieproof does not have the measure
    reason : what such a measure is, to complete "it is …"
    """

    owner: str
    theirs: str
    ours: str
    reason: str


def meanings(libraries: Iterable[spellings.Vocabulary] | None = None) -> Iterator[Meaning]:
    """Yield the meanings of all names in the table, or of those of some libraries."""
    for library in spellings.LIBRARIES if libraries is None else libraries:
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
    keys = {key: ""}
    for match in re.finditer("[0-9]+", key):
        keys[f"{key[: match.start()]}{{k}}{key[match.end() :]}"] = match[0]
    table = by_spelling(spellings.LIBRARIES)
    return [
        meaning._replace(ours=meaning.ours.format(k=digits))
        for spelling, digits in keys.items()
        for meaning in table.get(spelling, ())
    ]


@lru_cache(maxsize=1)
def by_spelling(libraries: tuple[spellings.Vocabulary, ...]) -> dict[str, list[Meaning]]:
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


def is_settled(found: Sequence[Meaning], spelled: str) -> bool:
    """Whether a spelling means exactly one measure of tieproof, and nothing else.

    Letter case counts only if it distinguishes a measure of tieproof from one that is not offered:
    sentence-transformers writes `accuracy@1`; ir_measures writes `Accuracy@1` for a different measure.

    >>> is_settled(meanings_of("accuracy@1"), "accuracy@{k}"), is_settled(meanings_of("Accuracy@1"), "Accuracy@{k}")
    (True, False)
    """
    offered = {meaning.ours for meaning in found if meaning.ours}
    exact = {bool(meaning.ours) for meaning in found if meaning.theirs == spelled}
    return len(offered) == 1 and (exact == {True} or all(meaning.ours for meaning in found))


def translated(text: str, measures: Iterable[str]) -> str:
    """Return tieproof's spelling of another library's name; an ambiguous or unknown name is refused.

    measures : the names of tieproof's measures
    """
    found = meanings_of(text)
    offered: dict[str, list[str]] = {}
    refused: dict[str, list[str]] = {}
    for library, _, ours, reason in found:
        (offered if ours else refused).setdefault(ours or reason, []).append(library)
    if is_settled(found, re.sub("[0-9]+", "{k}", text.strip())):
        return next(iter(offered))
    if offered:
        several = [f"'{ours}' in {', '.join(libraries)}" for ours, libraries in offered.items()]
        several += [
            f"in {', '.join(libraries)} it is {reason}, which is not offered" for reason, libraries in refused.items()
        ]
        raise InputError(
            f"'{text}' has several meanings: {'; '.join(several)}. Write the name of the measure that is meant."
        )
    if refused:
        said = "; ".join(f"in {', '.join(libraries)} it is {reason}" for reason, libraries in refused.items())
        raise InputError(f"'{text}' is not offered: {said}.")
    raise InputError(unknown(text, list(measures)))


def unknown(text: str, measures: list[str]) -> str:
    """Return the message for an unknown name."""
    from difflib import get_close_matches

    known = {name.casefold(): name for name in measures}
    known |= {
        meaning.theirs.split("{")[0].casefold().rstrip("@_-/"): meaning.ours.split("@")[0]
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
