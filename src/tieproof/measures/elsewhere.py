"""From a name of another library to ours: read in the table of `spellings.py`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tieproof.errors import InputError
from tieproof.measures import spellings


class Meaning(NamedTuple):
    """What a library means by a name.

    owner, theirs : the library and its spelling
    ours : our spelling; empty where we have none
    reason : what the measure is that we do not have, completing "it is …"
    """

    owner: str
    theirs: str
    ours: str
    reason: str


def meanings(libraries: Iterable[spellings.Vocabulary] | None = None) -> Iterator[Meaning]:
    """Every line of the table, or of some libraries."""
    for library in spellings.LIBRARIES if libraries is None else libraries:
        for ours, names in library.names.items():
            yield from (Meaning(library.name, theirs, ours, "") for theirs in names.split())
        for reason, names in library.refused.items():
            yield from (Meaning(library.name, theirs, "", reason) for theirs in names.split())


def meanings_of(text: str) -> list[Meaning]:
    """Return what libraries mean by a text, with its digits in place of {k}.

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
    """What is meant by each spelling; {k} stands for the digits of a cutoff."""
    table: dict[str, list[Meaning]] = {}
    for meaning in meanings(libraries):
        table.setdefault(plain(meaning.theirs), []).append(meaning)
    return table


def plain(text: str) -> str:
    """A spelling without what does not matter: letter case, blanks and quotation marks.

    >>> plain("nDCG(dcg='exp-log2') @ 10")
    'ndcg(dcg=exp-log2)@10'
    """
    return re.sub(r"[\s'\"]", "", text).casefold()


def is_settled(found: Sequence[Meaning], spelled: str) -> bool:
    """Whether a spelling means one measure of ours, and nothing else.

    Letter case counts only where it tells a measure of ours from one that is not offered: sentence-transformers
    writes `accuracy@1`, ir_measures `Accuracy@1`, which is another measure.

    >>> is_settled(meanings_of("accuracy@1"), "accuracy@{k}"), is_settled(meanings_of("Accuracy@1"), "Accuracy@{k}")
    (True, False)
    """
    offered = {meaning.ours for meaning in found if meaning.ours}
    exact = {bool(meaning.ours) for meaning in found if meaning.theirs == spelled}
    return len(offered) == 1 and (exact == {True} or all(meaning.ours for meaning in found))


def translated(text: str, measures: Iterable[str]) -> str:
    """Return our spelling of another library's name, or say what is wrong with it.

    measures : the names of ours
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
        several += [f"in {', '.join(libraries)} {reason}, not offered" for reason, libraries in refused.items()]
        raise InputError(f"'{text}' means different things: {'; '.join(several)}. Write the one that is meant.")
    if refused:
        said = "; ".join(f"in {', '.join(libraries)} it is {reason}" for reason, libraries in refused.items())
        raise InputError(f"'{text}' is not offered: {said}.")
    raise InputError(unknown(text, list(measures)))


def unknown(text: str, measures: list[str]) -> str:
    """What is said of a name that nobody has."""
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
        f"unknown measure '{text}'."
        + (f" Nearest: {nearest}." if nearest else "")
        + f" Known measures: {', '.join(measures)}; written for example 'nDCG@10'."
    )
