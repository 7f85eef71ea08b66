"""The names of measures in other libraries, also of measures that tieproof does not compute, and how they are read.

Each library is a record. For each measure of tieproof it has the library's names, with blanks between them; {k}
stands for the digits of a cutoff. Measures that tieproof does not compute are listed by a description. Letter case
seldom matters. tests/measures/test_spellings.py takes every name from the installed libraries and compares values.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from tieproof.errors import InputError
from tieproof.measures.trec_eval import NAMES, SETS


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The names of measures in a library, or in a field of research.

    name : the name of the library in messages and pages
    source : where its names are listed
    names : tieproof's spelling -> the library's spellings
    refused : a description that completes "it is …" -> the names of such measures
    """

    name: str
    source: str
    names: Mapping[str, str]
    refused: Mapping[str, str] = field(default_factory=dict)


SCORES = "cosine", "dot", "euclidean", "manhattan"
"""The prefixes of names in sentence-transformers: the score that ranks."""


def scored(names: str) -> str:
    """Return the names with each of the scores as prefix.

    >>> scored("ap mcc").split()[:4]
    ['cosine_ap', 'cosine_mcc', 'dot_ap', 'dot_mcc']
    """
    return " ".join(f"{score}_{name}" for score in SCORES for name in names.split())


WHOLE_LIST = "a measure of the whole list, however long it is; write a cutoff"
SEVERAL = "a name for several cutoffs at once; write them, as in P.5,10"
DIVERSITY = "a measure of diversity, which needs the subtopics of every document"
IN_DIVERSITY = f"{DIVERSITY}; evaluate_diversity computes it"
SAMPLED = "an estimate from a sample of judgments"
NOT_NORMALIZED = "a sum that nothing bounds; nDCG is that sum over the best one"
PAIRS_AT_ONCE = "a measure over all pairs at once, not over rankings"
GIVEN_VALUES = "a comparison with given similarities or embeddings, in which nothing is ranked for a query"
UNJUDGED = "the share of documents that were judged for no query"

LIBRARIES: tuple[Vocabulary, ...] = (
    Vocabulary(
        "trec_eval",
        "https://github.com/usnistgov/trec_eval, a file m_*.c each; pytrec_eval.supported_measures",
        NAMES,
        {
            SEVERAL: "P recall relative_P success map_cut ndcg_cut unj iprec_at_recall",
            "a set of measures; name it where several measures can be named": " ".join(SETS),
            "a geometric mean over queries; here every measure has the arithmetic one": "gm_map gm_bpref",
            "a mean of interpolated precisions": "11pt_avg",
            SAMPLED: "infAP",
            "a sum of hits and other documents with weights, which nothing bounds": "utility",
            "precision at multiples of R": "Rprec_mult Rprec_mult_0.{k} Rprec_mult_1.{k} Rprec_mult_2.{k}",
            "a variant of nDCG that trec_eval alone has": "G ndcg_rel Rndcg",
            "a text": "relstring runid",
        },
    ),
    Vocabulary(
        "trec_eval 9 and pytrec_eval",
        "https://github.com/cvangysel/pytrec_eval; they count hits as ir_measures does, which calls pytrec_eval",
        {
            "IPrec(recall=0.{k})": "iprec_at_recall_0.{k} iprec_at_recall.0.{k}",
            "IPrec(recall=1)": "iprec_at_recall_1.00 iprec_at_recall.1.0",
        },
    ),
    Vocabulary(
        "ranx",
        "https://amenra.github.io/ranx/metrics; ranx.metrics.metric_switch",
        {
            "AP": "map",
            "AP@{k}": "map@{k}",
            "F1@{k}": "f1@{k}",
            "P@{k}": "precision@{k}",
            "R@{k}": "recall@{k}",
            "RBP(p=0.{k})": "rbp.{k}",
            "RR": "mrr",
            "RR@{k}": "mrr@{k}",
            "Rprec": "r-precision",
            "Success@{k}": "hit_rate@{k}",
            "bpref": "bpref",
            "nDCG": "ndcg",
            "nDCG@{k}": "ndcg@{k}",
            "nDCG(gain=exp)": "ndcg_burges",
            "nDCG(gain=exp)@{k}": "ndcg_burges@{k}",
        },
        {
            WHOLE_LIST: "precision recall f1 hit_rate",
            "a number of hits, not a share": "hits hits@{k}",
            NOT_NORMALIZED: "dcg dcg@{k} dcg_burges dcg_burges@{k}",
        },
    ),
    Vocabulary(
        "ir_measures",
        "https://ir-measur.es/en/latest/measures.html; ir_measures.measures.registry",
        {
            **{
                name: name
                for name in ("NumQ", "NumRel", "NumRet", "Rprec", "SetAP", "SetF", "SetP", "SetR", "SetRelP")
            },
            "AP": "AP MAP",
            "AP@{k}": "AP@{k} MAP@{k}",
            "ERR": "ERR",
            "ERR@{k}": "ERR@{k}",
            "IPrec(recall=0.{k})": "IPrec@0.{k}",
            "IPrec(recall=1)": "IPrec@1.0",
            "Judged@{k}": "Judged@{k}",
            "NumRelRet": "NumRelRet",
            "NumRelRet(rel=1)": "NumRet(rel=1)",
            "P@{k}": "P@{k} Precision@{k}",
            "R@{k}": "R@{k} Recall@{k}",
            "RR": "RR MRR",
            "RR@{k}": "RR@{k} MRR@{k}",
            "Success@{k}": "Success@{k}",
            "bpref": "Bpref",
            "nDCG": "nDCG nDCG(dcg=log2)",
            "nDCG@{k}": "nDCG@{k} nDCG(dcg=log2)@{k}",
            "nDCG(gain=exp)": "nDCG(dcg=exp-log2)",
            "nDCG(gain=exp)@{k}": "nDCG(dcg=exp-log2)@{k}",
        },
        {
            "the share of pairs in order among retrieved documents alone, where AUC counts missing ones, too": (
                "Accuracy Accuracy@{k}"
            ),
            IN_DIVERSITY: "ERR_IA ERR_IA@{k} nERR_IA nERR_IA@{k} alpha_DCG alpha_DCG@{k} α_DCG α_DCG@{k} alpha_nDCG "
            "alpha_nDCG@{k} α_nDCG α_nDCG@{k}",
            DIVERSITY: "NRBP nNRBP AP_IA MAP_IA P_IA P_IA@{k} StRecall StRecall@{k}",
            "a model of users with an expected gain of its own": (
                "BPM BPM@{k} INST INSQ NERR8 NERR8@{k} NERR9 NERR9@{k} NERR10 NERR11"
            ),
            SAMPLED: "infAP",
            "nDCG as if documents of the highest grade never ended": "SDCG SDCG@{k}",
            WHOLE_LIST: "Judged",
            "a comparison with an ideal ranking, by rank-biased overlap": "Compat",
        },
    ),
    Vocabulary("gdeval", "https://trec.nist.gov/data/web/10/gdeval.pl", {"ERR@{k}": "err@{k}"}),
    Vocabulary(
        "BEIR",
        "https://github.com/beir-cellar/beir, beir/retrieval/evaluation.py",
        {
            "AP@{k}": "MAP@{k}",
            "P@{k}": "P@{k}",
            "R@{k}": "Recall@{k}",
            "RR@{k}": "MRR@{k}",
            "RelP@{k}": "R_cap@{k}",
            "Success@{k}": "Accuracy@{k}",
            "nDCG@{k}": "NDCG@{k}",
        },
        {UNJUDGED: "Hole@{k}"},
    ),
    Vocabulary(
        "MTEB",
        "https://github.com/embeddings-benchmark/mteb, mteb/_evaluators/retrieval_metrics.py",
        {
            "AP@{k}": "map_at_{k}",
            "P@{k}": "precision_at_{k}",
            "R@{k}": "recall_at_{k}",
            "RR@{k}": "mrr_at_{k}",
            "RelP@{k}": "R_cap_at_{k}",
            "Success@{k}": "hit_rate_at_{k} accuracy_at_{k} cv_recall_at_{k}",
            "nDCG@{k}": "ndcg_at_{k}",
        },
        {
            "recall at 1 of a retrieval task, and the share of right labels of others": "accuracy",
            "what another measure gains as the least sure queries are left out": " ".join(
                f"nauc_{name}_at_{{k}}_{by}"
                for name in ("ndcg", "map", "recall", "precision", "mrr")
                for by in ("max", "std", "diff1")
            ),
            UNJUDGED: "hole_at_{k}",
            "a change of ranks between two runs": "p-MRR",
        },
    ),
    Vocabulary(
        "sentence-transformers",
        "https://sbert.net/docs/package_reference/sentence_transformer/evaluation.html; what its evaluators return",
        {
            "AP": "map",
            "AP(norm=min)@{k}": f"map@{{k}} {scored('map@{k}')}",
            "P@{k}": f"precision@{{k}} {scored('precision@{k}')}",
            "R@{k}": f"recall@{{k}} {scored('recall@{k}')}",
            "RR@{k}": f"mrr@{{k}} {scored('mrr@{k}')}",
            "Success@{k}": f"accuracy@{{k}} {scored('accuracy@{k}')}",
            "nDCG@{k}": f"ndcg@{{k}} {scored('ndcg@{k}')}",
        },
        {
            PAIRS_AT_ONCE: scored("accuracy accuracy_threshold f1 f1_threshold precision recall ap mcc")
            + " average_precision f1 precision recall threshold",
            GIVEN_VALUES: " ".join(f"{kind}_{score}" for kind in ("pearson", "spearman") for score in SCORES)
            + " negative_mse",
            "a share of right answers": "accuracy src2trg_accuracy trg2src_accuracy mean_accuracy",
        },
    ),
    Vocabulary(
        "open-metric-learning",
        "https://open-metric-learning.readthedocs.io, oml.functional.metrics",
        {
            "AP": "map",
            "AP(norm=hits)@{k}": "map@{k} map/{k}",
            "RelP@{k}": "precision@{k} precision/{k}",
            "Success@{k}": "cmc@{k} cmc/{k}",
        },
    ),
    Vocabulary(
        "torchmetrics",
        "https://lightning.ai/docs/torchmetrics; torchmetrics.retrieval, torchmetrics.functional.retrieval",
        {
            "AP": "RetrievalMAP retrieval_average_precision",
            "AP(norm=hits)@{k}": "map@{k} RetrievalMAP(top_k={k}) retrieval_average_precision(top_k={k})",
            "AUC": "RetrievalAUROC retrieval_auroc",
            "P@{k}": "RetrievalPrecision(top_k={k}) retrieval_precision(top_k={k})",
            "R@{k}": "RetrievalRecall(top_k={k}) retrieval_recall(top_k={k})",
            "RR": "RetrievalMRR retrieval_reciprocal_rank mrr",
            "RR@{k}": "RetrievalMRR(top_k={k}) retrieval_reciprocal_rank(top_k={k})",
            "Rprec": "RetrievalRPrecision retrieval_r_precision r_precision",
            "Success@{k}": "hit_rate@{k} RetrievalHitRate(top_k={k}) retrieval_hit_rate(top_k={k})",
            "nDCG": "RetrievalNormalizedDCG retrieval_normalized_dcg",
            "nDCG@{k}": "RetrievalNormalizedDCG(top_k={k}) retrieval_normalized_dcg(top_k={k})",
        },
        {
            WHOLE_LIST: "RetrievalPrecision retrieval_precision RetrievalRecall retrieval_recall RetrievalHitRate "
            "retrieval_hit_rate",
            "the area under the curve of the first items": "RetrievalAUROC(top_k={k}) retrieval_auroc(top_k={k})",
            "the share of the irrelevant items that is among the first": "RetrievalFallOut retrieval_fall_out "
            "RetrievalFallOut(top_k={k}) retrieval_fall_out(top_k={k})",
            "a curve, or a point on one, not a measure of a ranking": (
                "RetrievalPrecisionRecallCurve retrieval_precision_recall_curve RetrievalRecallAtFixedPrecision"
            ),
        },
    ),
    Vocabulary(
        "pytorch-metric-learning",
        "https://kevinmusgrave.github.io/pytorch-metric-learning/accuracy_calculation",
        {
            "AP": "mean_average_precision",
            "AP@R": "mean_average_precision_at_r map@r map_at_r",
            "P@{k}": "precision_at_{k}",
            "RR": "mean_reciprocal_rank",
            "Rprec": "r_precision",
        },
        {"a measure of clusters": "AMI NMI"},
    ),
    Vocabulary(
        "scikit-learn",
        "https://scikit-learn.org/stable/modules/model_evaluation.html",
        {"AUC": "roc_auc_score", "nDCG": "ndcg_score"},
    ),
    Vocabulary(
        "re-identification",
        "Ye et al. 2021, Deep Learning for Person Re-identification, section 2.4 and 4.1",
        {"AP": "mAP", "INP": "mINP", "Success@{k}": "rank-{k} rank@{k} cmc@{k} top-{k} top{k} top@{k}"},
    ),
    Vocabulary(
        "metric learning (Recall@k of Oh Song et al. 2016)",
        "Oh Song et al. 2016, Deep Metric Learning via Lifted Structured Feature Embedding",
        {"Success@{k}": "recall@{k}"},
    ),
    Vocabulary(
        "knowledge graphs",
        "Bordes et al. 2013, Translating Embeddings for Modeling Multi-relational Data",
        {"Success@{k}": "hits@{k}"},
    ),
)
"""Every library whose names are understood, those of runs first."""


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
    for match in re.finditer("[0-9]+", key):
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
    """Whether a spelling means exactly one measure of tieproof, and nothing else.

    Letter case counts only if it distinguishes a measure of tieproof from one that is not offered:
    sentence-transformers writes `accuracy@1`; ir_measures writes `Accuracy@1` for a different measure.

    >>> is_settled(meanings_of("accuracy@1"), "accuracy@{k}"), is_settled(meanings_of("Accuracy@1"), "Accuracy@{k}")
    (True, False)
    """
    offered = {meaning.ours for meaning in meanings if meaning.ours}
    exact = {bool(meaning.ours) for meaning in meanings if meaning.theirs == spelled}
    return len(offered) == 1 and (exact == {True} or all(meaning.ours for meaning in meanings))


def translated(text: str, measures: Iterable[str], own: str = "") -> str:
    """Return tieproof's spelling of another library's name; an ambiguous or unknown name is refused.

    measures : the names of tieproof's measures
    own : the measure of tieproof that the text means in other letter case
    """
    all_meanings = [*([Meaning("tieproof", own, own, "")] if own else []), *meanings_of(text)]
    offered: dict[str, list[str]] = {}
    refused: dict[str, list[str]] = {}
    for library, _, ours, reason in all_meanings:
        (offered if ours else refused).setdefault(ours or reason, []).append(library)
    if is_settled(all_meanings, re.sub("[0-9]+", "{k}", text.strip())):
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
    _refuse_parameter(text)
    raise InputError(_unknown(text, list(measures)))


def _refuse_parameter(text: str) -> None:
    """Refuse a measure of trec_eval with a parameter that tieproof does not read there.

    >>> _refuse_parameter("set_F.0.5")
    Traceback (most recent call last):
    tieproof.errors.InputError: 'set_F.0.5' is set_F of trec_eval with a parameter. Write those of SetF itself.
    """
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
    """Return the message for an unknown name."""
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
