"""How measures are written: one spelling, the names of other libraries, and what is refused."""

import pickle
import re

import pytest

import tieproof as tp
from registered import registered_measures
from tieproof.errors import InputError
from tieproof.evaluation.scoring import parse_measures
from tieproof.measures import (
    AP,
    AP_TRAPEZOID,
    DEFAULT_MEASURES,
    INP,
    RBP,
    REGISTRY,
    RR,
    Measure,
    P,
    Success,
    aliases,
    define,
    nDCG,
    parse,
    parse_list,
)


@pytest.mark.parametrize("spelling", [*registered_measures(), *DEFAULT_MEASURES, "RBP(p=0.95)"])
def test_what_is_written_reads_back(spelling: str) -> None:
    measure = parse(spelling)
    assert str(measure) == repr(measure) == spelling
    assert parse(str(measure)) == measure
    assert hash(parse(str(measure))) == hash(measure)
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert parse(measure) is measure


@pytest.mark.parametrize(
    ("measure", "spelling"),
    [
        (AP, "AP"),
        (AP @ 10, "AP@10"),
        (AP @ "R", "AP@R"),
        (AP(norm="min") @ 10, "AP(norm=min)@10"),
        ((AP @ 10)(norm="hits"), "AP(norm=hits)@10"),
        (AP(norm="R"), "AP"),
        (AP_TRAPEZOID, "AP(trapezoid)"),
        (AP_TRAPEZOID(rel=2), "AP(trapezoid)(rel=2)"),
        (nDCG(gain="exp") @ 10, "nDCG(gain=exp)@10"),
        (nDCG(ideal="list", gain="exp"), "nDCG(gain=exp,ideal=list)"),
        (nDCG(gain="exp")(gain="linear"), "nDCG"),
        (RBP(p=0.8), "RBP"),
        (RBP(p=0.95), "RBP(p=0.95)"),
        (P @ 1, "P@1"),
        (Success @ 5, "Success@5"),
        (RR @ 10, "RR@10"),
        (INP, "INP"),
        ((AP @ 10)(rel=2), "AP(rel=2)@10"),
        (AP(rel=1), "AP(rel=1)"),
        (AP(rel=1.0), "AP(rel=1)"),
        (RBP(rel=2.0, p=0.5), "RBP(p=0.5,rel=2)"),
        (RBP(rel=0.5), "RBP(rel=0.5)"),
    ],
)
def test_objects_are_what_is_written(measure: Measure, spelling: str) -> None:
    assert measure == parse(spelling)
    assert str(measure) == spelling


def test_every_measure_is_a_name_of_the_package() -> None:
    assert str(tp.AP @ 10) == "AP@10"
    assert tp.nDCG(gain="exp") @ 10 == parse("nDCG(gain=exp)@10")
    for name in REGISTRY:
        attribute = "AP_TRAPEZOID" if name == "AP(trapezoid)" else name
        assert getattr(tp, attribute) == Measure(name)
        assert attribute in tp.__all__  # type: ignore[attr-defined]  # made when it is asked for
    assert tp.evaluate_scores([[2, 1]], [[1, 0]], measures=[tp.AP, tp.P @ 1])["P@1"].lower == 1.0


@pytest.mark.parametrize(
    ("spelling", "same_as"),
    [
        ("ndcg@10", "nDCG@10"),
        (" AP@10 ", "AP@10"),
        ("ap@r", "AP@R"),
        ("NDCG( gain = 'exp' )@10", "nDCG(gain=exp)@10"),
        ("nDCG(ideal=list,gain=exp)", "nDCG(gain=exp,ideal=list)"),
        ("nDCG()", "nDCG"),
        ("AP(norm=R)", "AP"),
        ("ap(Trapezoid)", "AP(trapezoid)"),
    ],
)
def test_case_spaces_and_defaults_do_not_matter(spelling: str, same_as: str) -> None:
    assert str(parse(spelling)) == same_as


# The meanings of these names by the libraries' own documentation.
@pytest.mark.parametrize(
    ("library", "spelling", "ours"),
    [
        ("trec_eval", "map", "AP"),
        ("trec_eval", "map_cut_100", "AP@100"),
        ("trec_eval", "P_10", "P@10"),
        ("trec_eval", "relative_P_5", "RelP@5"),
        ("trec_eval", "recall_1000", "R@1000"),
        ("trec_eval", "Rprec", "Rprec"),
        ("trec_eval", "ndcg", "nDCG"),
        ("trec_eval", "ndcg_cut_10", "nDCG@10"),
        ("trec_eval", "recip_rank", "RR"),
        ("trec_eval", "success_5", "Success@5"),
        ("trec_eval", "P.10", "P@10"),
        ("trec_eval", "map_cut.100", "AP@100"),
        ("trec_eval", "ndcg_cut.10", "nDCG@10"),
        ("trec_eval", "recall.100", "R@100"),
        ("trec_eval", "relative_P.5", "RelP@5"),
        ("trec_eval", "success.5", "Success@5"),
        ("ranx", "mrr", "RR"),
        ("ranx", "mrr@10", "RR@10"),
        ("ranx", "ndcg@10", "nDCG@10"),
        ("ranx", "ndcg_burges@10", "nDCG(gain=exp)@10"),
        ("ranx", "r-precision", "Rprec"),
        ("ranx", "hit_rate@5", "Success@5"),
        ("ranx", "f1@5", "F1@5"),
        ("ranx", "rbp.95", "RBP(p=0.95)"),
        ("ranx", "ndcg", "nDCG"),
        ("ranx", "ndcg_burges", "nDCG(gain=exp)"),
        ("ir_measures", "MAP", "AP"),
        ("ir_measures", "MRR@10", "RR@10"),
        ("ir_measures", "NDCG@10", "nDCG@10"),
        ("ir_measures", "RPrec", "Rprec"),
        ("ir_measures", "RBP(p=0.9)@10", "RBP(p=0.9)@10"),
        ("MTEB", "ndcg_at_10", "nDCG@10"),
        ("MTEB", "map_at_1000", "AP@1000"),
        ("MTEB", "mrr_at_10", "RR@10"),
        ("MTEB", "recall_at_10", "R@10"),
        ("MTEB", "precision_at_10", "P@10"),
        ("MTEB", "hit_rate_at_10", "Success@10"),
        ("MTEB", "cv_recall_at_5", "Success@5"),
        ("BEIR", "P@10", "P@10"),
        ("BEIR", "R_cap@10", "RelP@10"),
        ("torchmetrics", "RetrievalMAP", "AP"),
        ("torchmetrics", "RetrievalMRR", "RR"),
        ("torchmetrics", "RetrievalRPrecision", "Rprec"),
        ("torchmetrics", "RetrievalNormalizedDCG", "nDCG"),
        ("torchmetrics", "retrieval_auroc", "AUC"),
        ("torchmetrics", "hit_rate@5", "Success@5"),
        ("scikit-learn", "ndcg_score", "nDCG"),
        ("scikit-learn", "roc_auc_score", "AUC"),
        ("BEIR", "NDCG@10", "nDCG@10"),
        ("BEIR", "MRR@10", "RR@10"),
        ("pytorch-metric-learning", "mean_average_precision", "AP"),
        ("pytorch-metric-learning", "mean_average_precision_at_r", "AP@R"),
        ("pytorch-metric-learning", "precision_at_1", "P@1"),
        ("pytorch-metric-learning", "r_precision", "Rprec"),
        ("pytorch-metric-learning", "mean_reciprocal_rank", "RR"),
        ("pytorch-metric-learning", "mAP@R", "AP@R"),
        ("open-metric-learning", "cmc@5", "Success@5"),
        ("open-metric-learning", "cmc/5", "Success@5"),
        ("open-metric-learning", "map/5", "AP(norm=hits)@5"),
        ("open-metric-learning", "precision/5", "RelP@5"),
        ("sentence-transformers", "accuracy@3", "Success@3"),
        ("sentence-transformers", "cosine_accuracy@3", "Success@3"),
        ("sentence-transformers", "dot_map@100", "AP(norm=min)@100"),
        ("MTEB", "R_cap_at_10", "RelP@10"),
        ("ir_measures", "nDCG(dcg='exp-log2')@10", "nDCG(gain=exp)@10"),
        ("ir_measures", "AP(rel=1)", "AP(rel=1)"),
        ("ir_measures", "NumRet(rel=1)", "NumRelRet(rel=1)"),
        ("torchmetrics", "RetrievalMAP(top_k=10)", "AP(norm=hits)@10"),
        ("torchmetrics", "retrieval_precision(top_k=5)", "P@5"),
        ("re-identification", "mAP", "AP"),
        ("re-identification", "Rank-1", "Success@1"),
        ("re-identification", "Rank@1", "Success@1"),
        ("re-identification", "mINP", "INP"),
    ],
)
def test_names_of_other_libraries(library: str, spelling: str, ours: str) -> None:
    assert str(parse(spelling)) == ours


@pytest.mark.parametrize(
    ("spelling", "meanings"),
    [
        (
            "map@100",
            {
                "'AP@100' in ranx, ir_measures, BEIR",
                "'AP(norm=min)@100' in sentence-transformers",
                "'AP(norm=hits)@100' in open-metric-learning, torchmetrics",
            },
        ),
        ("mAP@5", {"'AP@5' in ranx", "'AP(norm=min)@5'", "'AP(norm=hits)@5'"}),
        ("precision@5", {"'P@5' in ranx, ir_measures, sentence-transformers", "'RelP@5' in open-metric-learning"}),
        (
            "Accuracy@5",
            {"'Success@5' in BEIR, sentence-transformers", "in ir_measures it is the share of pairs in order"},
        ),
        (
            "hits@10",
            {"'Success@10' in knowledge graphs", "in ranx it is a number of hits, not a share, which is not offered"},
        ),
        ("Recall@1", {"'R@1' in ranx, ir_measures, BEIR", "'Success@1' in metric learning"}),
    ],
)
def test_a_name_with_several_meanings_is_refused_with_all_of_them(spelling: str, meanings: set[str]) -> None:
    with pytest.raises(InputError) as caught:
        parse(spelling)
    message = str(caught.value)
    assert message.startswith(f"'{spelling}' has several meanings: ")
    assert message.endswith("Write the name of the measure that is meant.")
    for meaning in meanings:
        assert meaning in message
    for ours in re.findall(r"'([^']+)' in", message):
        assert str(parse(ours)) == ours


def test_every_alias_parses_or_is_ambiguous() -> None:
    for _, spelling, ours in aliases():
        written, target = spelling.format(k=10), ours.format(k=10)
        try:
            assert parse(written) == parse(target)
        except InputError as error:
            assert f"'{target}'" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("P@0", "The cutoff of 'P@0' must be a whole number of at least 1, or a share of all items such as 1%."),
        ("P@-3", "The cutoff of 'P@-3' must be a whole number of at least 1, or a share of all items such as 1%."),
        ("P@2.5", "The cutoff of 'P@2.5' must be a whole number of at least 1, or a share of all items such as 1%."),
        ("P@", "The cutoff of 'P@' must be a whole number of at least 1, or a share of all items such as 1%."),
        *(
            (
                f"{name}@R",
                f"The cutoff of '{name}@R' must be a whole number of at least 1, or a share of all items such as "
                "1%; at the query's number of relevant items it is 'Rprec'.",
            )
            for name in ("P", "R", "F1", "RelP")
        ),
        *(
            (
                name,
                f"The cutoff of '{name}' must be a whole number of at least 1, or a share of all items such as 1%.",
            )
            for name in ("P@0%", "P@101%", "P@1.2345%", "P@%")
        ),
        ("Judged@1%", "The cutoff of 'Judged@1%' must be a whole number of at least 1."),
        (
            "nDCG@R",
            "The cutoff of 'nDCG@R' must be a whole number of at least 1, or a share of all items such as 1%.",
        ),
        (
            "AP@0",
            "The cutoff of 'AP@0' must be a whole number of at least 1 (or R, the query's number of relevant items), "
            "or a share of all items such as 1%.",
        ),
        (
            "P@99999999999999999999",
            "The cutoff of 'P@99999999999999999999' is larger than any gallery; write a smaller one.",
        ),
        ("P", "'P' needs a cutoff; write for example 'P@10'."),
        ("success", "'Success' needs a cutoff; write for example 'Success@10'."),
        ("AUC@10", "'AUC@10': 'AUC' takes no cutoff; write 'AUC'."),
        ("nDCG(rel=2)", "'nDCG' has no parameter 'rel'; its parameters are: gain, ideal."),
        ("AP(rel=0)", "rel=0 in 'AP': rel must be a number above 0 (default all above 0)."),
        ("P(x=1)@5", "'P' has no parameter 'x'; its parameters are: rel."),
        (
            "rbp",
            "'rbp' has several meanings: 'RBP' in tieproof; 'RBP(p=0.9,gain=linear)' in trec_eval. Write the name of "
            "the measure that is meant.",
        ),
        ("nDCG(exp)@5", "'exp' in 'nDCG(exp)@5': parameters are written name=value, as in 'nDCG(gain=exp)'."),
        ("nDCG(gain=log)", "gain=log in 'nDCG': gain must be one of linear, exp (default linear)."),
        ("RBP(p=1)", "p=1 in 'RBP': p must be a number between 0 and 1, both excluded (default 0.8)."),
        ("RBP(p=nan)", "p=nan in 'RBP': p must be a number between 0 and 1, both excluded (default 0.8)."),
        ("RBP(p=x)", "p=x in 'RBP': p must be a number between 0 and 1, both excluded (default 0.8)."),
    ],
)
def test_what_is_refused(spelling: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(spelling)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("spelling", "nearest"),
    [("nDGC@10", "nDCG"), ("Sucess@1", "Success"), ("averageprecision", "AP"), ("reciprank", "RR")],
)
def test_an_unknown_measure_is_told_the_nearest(spelling: str, nearest: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(spelling)
    message = str(caught.value)
    assert message.startswith(f"Unknown measure '{spelling}'. Nearest: ")
    assert nearest in message.split("Nearest: ")[1].split(". Known")[0].split(", ")
    assert f"Known measures: {', '.join(REGISTRY)}; written for example 'nDCG@10'." in message


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("infAP", "'infAP' is not offered: in trec_eval, ir_measures it is an estimate from a sample of judgments."),
        ("gm_map", "'gm_map' is not offered: in trec_eval it is a geometric mean over queries;"),
        ("official", "in trec_eval it is a set of measures; name it where several measures can be named"),
        ("nauc_ndcg_at_10_diff1", "'nauc_ndcg_at_10_diff1' is not offered: in MTEB it is what another measure gains"),
        (
            "recall",
            "in trec_eval it is a name for several cutoffs at once; write them, as in P.5,10; in ranx it is a ",
        ),
        ("NERR10", "'NERR10' is not offered: in ir_measures it is a model of users"),
    ],
)
def test_what_is_not_offered_is_refused_with_the_reason(spelling: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(spelling)
    assert message in str(caught.value)


@pytest.mark.parametrize("spelling", ["", "@10", "(", "12", "P(", "AP)", "xyzzy"])
def test_nonsense_is_refused_by_name(spelling: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"Unknown measure '{spelling}'")):
        parse(spelling)


def test_not_a_string_is_refused() -> None:
    with pytest.raises(InputError, match="a measure is a string such as 'nDCG@10', not int: 10"):
        parse(10)  # type: ignore[arg-type]


def test_cutoffs_of_objects_are_checked() -> None:
    for cutoff in (0, True, 2.0, "R", "5"):
        with pytest.raises(InputError, match=f"The cutoff of 'P@{cutoff}' must be a whole number of at least 1"):
            P @ cutoff  # type: ignore[operator]
    with pytest.raises(InputError, match="'P@5' already has the cutoff 5"):
        P @ 5 @ 3


def test_documentation_can_be_written_from_the_registry() -> None:
    for definition in REGISTRY.values():
        assert all((definition.meaning, definition.formula, definition.source))
        assert definition.meaning.endswith((".", "1")) or ";" in definition.meaning
        assert all(parameter.meaning for parameter in definition.parameters)


def test_two_measures_cannot_share_a_name() -> None:
    with pytest.raises(ValueError, match="a measure named 'P' is registered already"):
        define(REGISTRY["P"])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nDCG@10,AP", ["nDCG@10", "AP"]),
        ("nDCG@10, AP", ["nDCG@10", "AP"]),
        (" nDCG@10 AP\tRR\n", ["nDCG@10", "AP", "RR"]),
        ("nDCG(gain=exp,ideal=list)@5,P@1", ["nDCG(gain=exp,ideal=list)@5", "P@1"]),
        ("NDCG( gain = 'exp' , ideal=list )@10 , AP", ["nDCG(gain=exp,ideal=list)@10", "AP"]),
        ("nDCG (gain=exp) @10,AP @R", ["nDCG(gain=exp)@10", "AP@R"]),
        ("P.5,10", ["P@5", "P@10"]),
        ("ndcg_cut.5,10,20,map", ["nDCG@5", "nDCG@10", "nDCG@20", "AP"]),
        ("P@5,10", ["P@5", "P@10"]),
        ("P_5 10", ["P@5", "P@10"]),
        ("Rank-1,5,10", ["Success@1", "Success@5", "Success@10"]),
        ("AP,", ["AP"]),
    ],
)
def test_a_string_may_name_several_measures(text: str, names: list[str]) -> None:
    assert list(map(str, parse_list(text))) == names
    assert parse_measures(text) == parse_measures([text]) == parse_measures(names)
    result = tp.evaluate_scores([[2, 1]], [[1, 0]], measures=text)
    assert list(result.measures) == names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nDCG@10,APP", "Unknown measure 'APP'"),
        ("AP,10", "Unknown measure '10'"),
        ("10,AP", "Unknown measure '10'"),
        (",", "Unknown measure ','"),
        ("P( 5", "Unknown measure 'P('"),
        ("map@5,10", "'map@5' has several meanings"),
        ("P@5,0", "cutoff of 'P@0' must be a whole number"),
    ],
)
def test_what_is_wrong_in_a_list_is_named(text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        tp.evaluate_scores([[2, 1]], [[1, 0]], measures=text)


@pytest.mark.parametrize("spelling", registered_measures())
def test_a_list_of_one_is_the_measure(spelling: str) -> None:
    assert parse_list(spelling) == [parse(spelling)]


def test_measures_are_listed_in_the_order_of_how_many_people_look_for_them() -> None:
    assert next(iter(REGISTRY)) == "AP"
    assert [name for name in REGISTRY if name in ("nDCG", "ERR", "bpref", "SetP")] == ["nDCG", "ERR", "bpref", "SetP"]
