"""Lists of names of measures, as trec_eval reads them: its sets, and the cutoffs that it has by default."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from tieproof.errors import warn
from tieproof.measures.base import REGISTRY, Measure, parse

_RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_CUTOFFS: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("P", "recall", "map_cut", "ndcg_cut", "relative_P"), _RANKS),
    "iprec_at_recall": tuple(f"{tenths / 10:.2f}" for tenths in range(11)),
    "success": (1, 5, 10),
    "unj": (5, 10, 20),
}
_OFFICIAL = "num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"

SETS = {
    "official": f"runid {_OFFICIAL}",
    "set": "runid num_q num_ret num_rel num_rel_ret utility set_P set_relative_P set_recall set_map set_F",
    "all_trec": f"runid {_OFFICIAL} relstring recall infAP gm_bpref Rprec_mult utility 11pt_avg binG G ndcg ndcg_rel "
    "Rndcg ndcg_cut map_cut relative_P success set_P set_relative_P set_recall set_map set_F num_nonrel_judged_ret "
    "rbp rbp_resid unj",
}
"""The sets of trec_eval 10 that need neither preferences nor several assessors, in the order of its output."""


class NamedMeasures(NamedTuple):
    """What a name means to trec_eval: measures by the names that it prints, and the names that tieproof lacks."""

    measures: dict[str, str]
    others: list[str]


@cache
def members(name: str) -> NamedMeasures:
    """Return the measures of a set, or those of another name of trec_eval, with its default cutoffs if it has none.

    >>> members("set").others, members("all_trec").measures["iprec_at_recall_0.10"]
    (['runid', 'utility'], 'IPrec(recall=0.10,hits=nearest)')
    >>> members("success").measures, members("P.5").measures
    ({'success_1': 'Success@1', 'success_5': 'Success@5', 'success_10': 'Success@10'}, {'P_5': 'P@5'})
    """
    from tieproof.measures.libraries import LIBRARIES, meanings  # its table is long and rarely needed

    ours = {meaning.theirs: meaning.ours for meaning in meanings(LIBRARIES[:1]) if meaning.ours}
    found, others = {}, []
    for root in SETS.get(name, name).split():
        for one in [f"{root}_{cutoff}" for cutoff in _CUTOFFS.get(root, ())] or [_printed(root)]:
            head, _, digits = one.rpartition("." if "." in one else "_")
            general = f"{head}{one[len(head)]}{{k}}" if digits.isdigit() and one not in ours else one
            if general in ours:
                found[one] = ours[general].format(k=digits)
            else:
                others.append(one)
    return NamedMeasures(found, others)


def _printed(name: str) -> str:
    """Return the name that trec_eval prints for one with a parameter, P_5 for P.5; recalls have two decimals."""
    root, _, parameter = name.partition(".")
    if root.startswith("iprec_at_recall_"):
        root, parameter = "iprec_at_recall", name.removeprefix("iprec_at_recall_")
    if root == "iprec_at_recall" and re.fullmatch(r"[01]\.[0-9]+", parameter):
        parameter = parameter.ljust(4, "0")
    return f"{root}_{parameter}" if parameter else root


def sets_in(texts: Iterable[object]) -> list[str]:
    """Return the sets that lists of measures name."""
    found = {part for text in texts if isinstance(text, str) for part in parts_of(text)}
    return [name for name in SETS if name in found]


def warn_of_others(texts: Iterable[object]) -> None:
    """Warn of the members of named sets that tieproof does not have."""
    for name in sets_in(texts):
        others = ", ".join(members(name).others)
        warn(f"The set {name} of trec_eval also has {others}, which tieproof does not have.")


def parse_list(text: str) -> list[Measure]:
    """Return the measures that `text` names, with commas or blanks between them.

    official, set and all_trec are the measures of these sets of trec_eval that tieproof has.

    >>> parse_list("nDCG@10, AP(norm=min)@5 RR"), parse_list("P.5,10"), parse_list("P@5,10")
    ([nDCG@10, AP(norm=min)@5, RR], [P@5, P@10], [P@5, P@10])
    >>> parse_list("set")
    [NumQ, NumRet, NumRel, NumRelRet, SetP, SetRelP, SetR, SetAP, SetF]
    """
    return list(_parse_list(text, len(REGISTRY)))


@lru_cache(maxsize=256)
def _parse_list(text: str, known: int) -> tuple[Measure, ...]:
    """Parse a list of measures; results are cached until another measure is defined."""
    spellings: list[str] = []
    for part in parts_of(text):
        spellings += members(part).measures.values() if part in SETS else [part]
    return tuple(parse(spelling) for spelling in spellings or [text])


def parts_of(text: str) -> list[str]:
    """Return the names in a list of measures, as they are spelled there.

    A number alone is a further cutoff or recall of the measure before it, as in trec_eval.

    >>> parts_of("map P.5, 10"), parts_of("iprec_at_recall.0.1,0.25"), parts_of("RBP(p=0.8,gain=linear),0.2")
    (['map', 'P.5', 'P.10'], ['iprec_at_recall.0.1', 'iprec_at_recall.0.25'], ['RBP(p=0.8,gain=linear)', '0.2'])
    """
    parts: list[str] = []
    for part in re.split(r"[\s,]+(?![^()]*\))", re.sub(r"\s*([(@])", r"\1", text)):
        number = r"[0-9]+\.[0-9]+" if "." in part else "[0-9]+"
        if re.fullmatch(number, part) and parts and re.search(f"{number}$", parts[-1]):
            parts.append(re.sub(f"{number}$", part, parts[-1]))
        elif part:
            parts.append(part)
    return parts
