"""The provider of ir_measures: its numbers without ties, the interval with ties, and every form of input."""

import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp

ir_measures = pytest.importorskip("ir_measures")
pd = pytest.importorskip("pandas")

from tieproof.integrations import ir_measures as ours  # noqa: E402
from tieproof.integrations.ir_measures import __main__ as command_line  # noqa: E402
from tieproof.integrations.ir_measures.bounded import ALL, DIVERSITY, MEASURES  # noqa: E402
from tieproof.integrations.ir_measures.provider import SHARED  # noqa: E402

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:All lists of the run have 22 documents"),
]

Judgments = dict[str, dict[str, Any]]
BOUNDS = ("lower", "expected", "upper")
PAGE = Path(__file__).parents[2] / "docs" / "integrations" / "ir_measures.md"
QUERIES, DOCUMENTS = 12, 30


def data(ties: bool) -> tuple[Judgments, Judgments]:
    """Grades from -1 to 3 and scores of some documents for twelve queries each; eleven queries have both."""
    random = np.random.default_rng(8)
    qrels: Judgments = {}
    run: Judgments = {}
    for q in range(QUERIES):
        judged = random.permutation(DOCUMENTS)[:20]
        qrels[f"q{q}"] = {f"d{d}": int(random.integers(-1, 4)) for d in judged}
        ranked = random.permutation(DOCUMENTS)[:22]
        scores = random.integers(0, 2, size=22) if ties else random.permutation(22)
        run[f"q{q + 1}"] = {f"d{d}": float(score) for d, score in zip(ranked, scores, strict=True)}
    qrels["q3"] = dict.fromkeys(qrels["q3"], 0)  # no relevant document
    return qrels, run


def values(provider: Any, measure: Any, qrels: Any, run: Any) -> dict[str, float]:
    return {found.query_id: found.value for found in provider.iter_calc([measure], qrels, run)}


@pytest.fixture
def pipeline() -> Iterator[list[Any]]:
    """The providers that ir_measures chooses from; they are restored afterwards."""
    providers: list[Any] = ir_measures.DefaultPipeline.providers
    before = list(providers)
    yield providers
    providers[:] = before


PARAMETERS: list[dict[str, Any]] = [{}, {"rel": 2}, {"judged_only": True}, {"rel": 3, "judged_only": True}]
GAINS: list[dict[str, Any]] = [
    {},
    {"judged_only": True},
    {"gains": {1: 0, 2: 5, 3: 1}},
    {"gains": {0: -1, 1: 2}, "judged_only": True},
]
TREC = [
    *(("AP", {**more, **cut}) for more in PARAMETERS for cut in ({}, {"cutoff": 5})),
    *(("nDCG", {**more, **cut}) for more in GAINS for cut in ({}, {"cutoff": 5})),
    *((name, {**more, "cutoff": 5}) for name in ("P", "R", "Success") for more in PARAMETERS),
    *((name, more) for name in ("RR", "Rprec") for more in PARAMETERS),
    *(("Bpref", more) for more in ({}, {"rel": 2})),
    *((name, more) for name in ("SetP", "SetRelP", "SetAP") for more in PARAMETERS),
    *(("SetR", more) for more in ({}, {"rel": 2})),
    *(("SetF", {**more, **beta}) for more in PARAMETERS for beta in ({}, {"beta": 0.5})),
    *(("IPrec", {**more, "recall": recall}) for more in PARAMETERS for recall in (0.0, 0.1, 0.3, 0.5)),
    *((name, {}) for name in ("NumRet", "NumRelRet")),
    ("NumRelRet", {"rel": 2}),
]
"""The measures that pytrec_eval computes for ir_measures."""


@pytest.mark.parametrize(("name", "parameters"), TREC, ids=[f"{name}{parameters}" for name, parameters in TREC])
def test_what_pytrec_eval_computes_without_ties(name: str, parameters: dict[str, Any]) -> None:
    qrels, run = data(ties=False)
    measure = getattr(ir_measures, name)(**parameters)
    theirs = values(ir_measures.pytrec_eval, measure, qrels, run)
    assert len(theirs) == QUERIES
    mean = ir_measures.pytrec_eval.calc_aggregate([measure], qrels, run)[measure]
    for bound in BOUNDS:
        bounded = MEASURES[name](bound=bound, **parameters)
        assert values(ir_measures, bounded, qrels, run) == pytest.approx(theirs, rel=1e-12, abs=1e-15)
        assert bounded.calc_aggregate(qrels, run) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize(("name", "parameters"), TREC, ids=[f"{name}{parameters}" for name, parameters in TREC])
def test_what_pytrec_eval_computes_is_within_the_interval(name: str, parameters: dict[str, Any]) -> None:
    qrels, run = data(ties=True)
    theirs = values(ir_measures.pytrec_eval, getattr(ir_measures, name)(**parameters), qrels, run)
    lower, expected, upper = (values(ir_measures, MEASURES[name](bound=b, **parameters), qrels, run) for b in BOUNDS)
    assert lower.keys() == theirs.keys()
    for query, value in theirs.items():
        assert lower[query] - 1e-12 <= value <= upper[query] + 1e-12
        assert lower[query] <= expected[query] <= upper[query]
    assert (lower != upper) != name.startswith(("Set", "Num"))


@pytest.mark.parametrize("name", ["NumQ", "NumRel"])
def test_counts_of_the_qrels_are_theirs_and_count_queries_that_the_run_lacks(name: str) -> None:
    """pytrec_eval leaves out the query q0, so that ir_measures counts it as 0."""
    qrels, run = data(ties=True)
    theirs = values(ir_measures.pytrec_eval, getattr(ir_measures, name), qrels, run)
    of_q0 = {"NumQ": 1, "NumRel": sum(grade > 0 for grade in qrels["q0"].values())}[name]
    assert theirs["q0"] == 0
    for bound in BOUNDS:
        assert values(ir_measures, MEASURES[name](bound=bound), qrels, run) == {**theirs, "q0": of_q0}
        assert MEASURES[name](bound=bound).calc_aggregate(qrels, run) == sum(theirs.values()) + of_q0


def test_judgments_are_those_of_ir_measures() -> None:
    """Negative grades, and queries without a relevant document, count there."""
    qrels, run = data(ties=False)
    theirs = values(ir_measures.judged, ir_measures.Judged @ 7, qrels, run)
    for bound in BOUNDS:
        found = values(ir_measures, ours.Judged(bound=bound) @ 7, qrels, run)
        assert {query: found[query] for query in theirs} == pytest.approx(theirs, rel=1e-12)
        assert not any(found[query] for query in found.keys() - theirs.keys())
    assert len(set(theirs.values())) > 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("cut", "name"), [({}, "ndcg_burges"), ({"cutoff": 5}, "ndcg_burges@5")])
def test_exponential_gains_are_those_of_ranx(cut: dict[str, int], name: str) -> None:
    """ranx is called directly, because its provider in ir_measures refuses frames of pandas 3."""
    library = pytest.importorskip("ranx")
    qrels, run = data(ties=False)
    queries = sorted(qrels.keys() & run.keys())
    relevant = {
        query: {d: grade for d, grade in qrels[query].items() if grade > 0} or {"none": 0} for query in queries
    }
    ranked = {query: run[query] for query in queries}
    theirs = library.evaluate(library.Qrels(relevant), library.Run(ranked), name, return_mean=False)
    found = values(ir_measures, ours.nDCG(dcg="exp-log2", bound="lower", **cut), qrels, run)
    assert [found[query] for query in queries] == pytest.approx(list(theirs), rel=1e-12)


def test_expected_reciprocal_rank_is_that_of_gdeval() -> None:
    """gdeval needs numbered queries, does not know negative grades, and prints five digits."""
    if not shutil.which("perl"):
        pytest.skip("gdeval needs perl")
    qrels, run = data(ties=False)
    numbered = {query[1:]: {d: max(grade, 0) for d, grade in grades.items()} for query, grades in qrels.items()}
    ranked = {query[1:]: scores for query, scores in run.items()}
    theirs = values(ir_measures.gdeval, ir_measures.ERR @ 5, numbered, ranked)
    found = values(ir_measures, ours.ERR(bound="upper") @ 5, numbered, ranked)
    assert found == pytest.approx(theirs, abs=6e-6)
    assert len(set(found.values())) > 5


def test_persistence_is_that_of_moffat_and_zobel() -> None:
    qrels, run = data(ties=False)
    found = values(ir_measures, ir_measures.parse_measure("RBP(bound='lower',p=0.5,rel=2)"), qrels, run)
    for query, scores in run.items():
        ranking = sorted(scores, key=lambda document: -scores[document])
        judged = qrels.get(query, {})
        gain = sum(0.5**rank for rank, document in enumerate(ranking, 1) if judged.get(document, 0) >= 2)
        assert query not in qrels or found[query] == pytest.approx(gain, rel=1e-12)


def cutoff_of(measure: Any) -> dict[str, float]:
    """A cutoff, or a recall, if the measure accepts one."""
    return {name: at for name, at in (("cutoff", 10), ("recall", 0.5)) if name in measure.SUPPORTED_PARAMS}


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_interval_of_evaluate_run(bound: str) -> None:
    """Also the mean, to the last bit; queries without relevant documents, or missing from the run, score 0."""
    qrels, run = data(ties=True)
    for name, measure in MEASURES.items():
        if name in ("Judged", "FirstRank"):  # ir_measures has a rule of its own; a missing query has no first rank
            continue
        asked = measure(bound=bound, **cutoff_of(measure), **({"rel": 1} if name == "RBP" else {}))
        result = tp.evaluate_run(qrels, run, measures=[asked.ours()], missing="zero", empty="zero")
        found = ir_measures.calc([asked], qrels, run)
        expected = dict(zip(result.query_ids, getattr(result.per_query(asked.ours()), bound), strict=True))
        assert {each.query_id: each.value for each in found.per_query} == expected
        assert found.aggregated == {asked: getattr(result[asked.ours()], bound)}


def test_every_measure_is_there() -> None:
    assert {measure.definition.name for measure in MEASURES.values()} == set(tp.measures.REGISTRY)
    for name, measure in MEASURES.items():
        assert getattr(ours, name) is measure


@pytest.mark.parametrize("bound", BOUNDS)
def test_what_is_written_reads_back(bound: str) -> None:
    for name, measure in MEASURES.items():
        more: dict[str, Any] = {"rel": 1} if name == "RBP" else {}
        asked = measure(bound=bound, **more, **cutoff_of(measure))
        assert ir_measures.parse_measure(str(asked)) == asked
        assert pickle.loads(pickle.dumps(asked)) == asked
        assert ir_measures.DefaultPipeline.supports(asked)
        assert str(asked).startswith(f"{name}(bound='{bound}'")
    assert str(ir_measures.parse_measure("NDCG(dcg='exp-log2', bound='upper') @ 5")) == (
        "nDCG(bound='upper',dcg='exp-log2')@5"
    )
    assert str(ours.AP(norm="min") @ 10) == "AP(norm='min')@10"
    assert ir_measures.parse_measure("MAP(bound='lower')") == ours.AP(bound="lower")
    assert ir_measures.parse_measure("MRR(bound='lower')@10") == ours.RR(bound="lower") @ 10


def test_names_without_a_bound_are_measures_of_ir_measures() -> None:
    for text in ("nDCG@10", "AP", "MAP(rel=2)", "P@5", "MRR"):
        measure = ir_measures.parse_measure(text)
        assert type(measure) in SHARED
        assert type(measure).__module__.startswith("ir_measures.")
    qrels, run = data(ties=True)
    assert ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run) == (
        ir_measures.pytrec_eval.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)
    )
    names = ir_measures.measures.registry  # PyTerrier passes these on
    assert ir_measures.calc_aggregate([names["AP"]], qrels, run) == ir_measures.calc_aggregate(
        [ir_measures.AP], qrels, run
    )
    assert names["AP"](bound="lower") == ours.AP(bound="lower")


def test_no_other_provider_drops_the_bound() -> None:
    qrels, run = data(ties=True)
    with pytest.raises(ValueError, match="unsupported measure nDCG"):
        list(ir_measures.pytrec_eval.iter_calc([ours.nDCG(bound="lower") @ 10], qrels, run))
    assert not any(
        provider.supports(ours.AP(bound="lower"))
        for name, provider in ir_measures.providers.registry.items()
        if name != "tieproof"
    )


def test_the_provider_itself_takes_the_lower_bound() -> None:
    qrels, run = data(ties=True)
    provider = ir_measures.providers.registry["tieproof"]
    found = provider.calc_aggregate([ir_measures.nDCG @ 10, ours.nDCG(bound="upper") @ 10], qrels, run)
    lower = (ours.nDCG(bound="lower") @ 10).calc_aggregate(qrels, run)
    assert found[ir_measures.nDCG @ 10] == pytest.approx(lower, rel=1e-12)  # the mean is computed by ir_measures
    assert found[ours.nDCG(bound="upper") @ 10] > found[ir_measures.nDCG @ 10]


@pytest.mark.parametrize("bound", BOUNDS)
def test_first_choice(bound: Any, pipeline: list[Any]) -> None:
    qrels, run = data(ties=True)
    asked = [ir_measures.nDCG @ 10, ir_measures.infAP, ir_measures.RBP(rel=1), ours.AP(bound="upper")]
    before = ir_measures.calc_aggregate([ir_measures.infAP], qrels, run)
    ours.first_choice("upper" if bound == "lower" else "lower")
    ours.first_choice(bound)
    assert len(pipeline) == len(set(map(id, pipeline)))
    found = ir_measures.calc_aggregate(asked, qrels, run)
    assert found[asked[0]] == pytest.approx((ours.nDCG(bound=bound) @ 10).calc_aggregate(qrels, run), rel=1e-12)
    assert found[asked[1]] == before[asked[1]]
    assert found[asked[2]] == pytest.approx(ours.RBP(bound=bound, rel=1).calc_aggregate(qrels, run), rel=1e-12)
    assert found[asked[3]] == ours.AP(bound="upper").calc_aggregate(qrels, run)


def test_the_provider_says_that_it_supports_what_it_computes() -> None:
    """In the pipeline of ir_measures, measures without a bound are left to the other providers."""
    qrels, run = data(ties=True)
    for measure in (ir_measures.AP, ir_measures.nDCG @ 10, ours.RR(bound="upper"), ir_measures.infAP):
        provider = ours.TieproofProvider("expected")
        if provider.supports(measure):
            assert provider.calc_aggregate([measure], qrels, run).keys() == {measure}
        else:
            with pytest.raises(tp.InputError, match="tieproof does not compute 'infAP'"):
                provider.calc_aggregate([measure], qrels, run)
    last = ir_measures.DefaultPipeline.providers[-1]
    assert not last.supports(ir_measures.AP)
    assert last.supports(ours.AP(bound="lower"))


def test_first_choice_does_not_take_over_measures_of_another_meaning(pipeline: list[Any]) -> None:
    ours.first_choice("lower")
    assert not pipeline[0].supports(ir_measures.RBP)  # a sum of grades
    assert not pipeline[0].supports(ir_measures.define_byquery(lambda qrels, run: 1.0, name="AP"))
    with pytest.raises(tp.InputError, match=r"bound='middle'|'middle'"):
        ours.first_choice("middle")  # type: ignore[arg-type]


def forms(qrels: Judgments, run: Judgments) -> dict[str, tuple[Any, Any]]:
    judged = [ir_measures.Qrel(q, d, grade) for q, grades in qrels.items() for d, grade in grades.items()]
    ranked = [ir_measures.ScoredDoc(q, d, score) for q, scores in run.items() for d, score in scores.items()]
    order = np.random.default_rng(0).permutation(len(ranked))
    return {
        "dictionaries": (qrels, run),
        "lists": (judged, ranked),
        "iterators": (iter(judged), iter(ranked)),
        "frames": (pd.DataFrame(judged), pd.DataFrame(ranked)),
        "another order": (pd.DataFrame(judged[::-1]), [ranked[i] for i in order]),
    }


@pytest.mark.parametrize("form", ["dictionaries", "lists", "iterators", "frames", "another order"])
def test_every_form_of_input(form: str) -> None:
    asked = [
        ours.nDCG(bound="expected") @ 10,
        ours.AP(bound="lower", rel=2),
        ours.P(bound="lower", judged_only=True) @ 5,
    ]
    expected = ir_measures.calc_aggregate(asked, *data(ties=True))
    assert ir_measures.calc_aggregate(asked, *forms(*data(ties=True))[form]) == expected


def test_several_runs_against_the_same_judgments() -> None:
    qrels, run = data(ties=True)
    evaluator = ir_measures.evaluator([ours.RR(bound="lower"), ir_measures.RR], iter(forms(qrels, run)["lists"][0]))
    first = evaluator.calc_aggregate(run)
    assert evaluator.calc_aggregate(run) == first
    assert evaluator.calc_aggregate({"q1": run["q1"]}) != first


def test_numbers_as_names() -> None:
    qrels = pd.DataFrame({"query_id": [7, 7], "doc_id": [1, 2], "relevance": [1, 0]})
    run = {"7": {"1": 0.5, "2": 0.5}}
    (found,) = ir_measures.iter_calc([ours.RR(bound="lower", judged_only=True)], qrels, run)
    assert (found.query_id, found.value) == (7, 0.5)


@pytest.mark.parametrize("run", [{}, [], {"q": {}}, {"q2": {}}], ids=str)
def test_nothing_retrieved(run: Any) -> None:
    qrels = {"q": {"a": 1}, "q2": {"b": 1}, "q3": {}}
    found = ir_measures.calc([ours.AP(bound="lower"), ours.P(bound="upper", judged_only=True) @ 1], qrels, run)
    assert {each.query_id: each.value for each in found.per_query} == {"q": 0.0, "q2": 0.0, "q3": 0.0}
    assert set(found.aggregated.values()) == {0.0}


def test_nothing_judged() -> None:
    run = {"q": {"a": 1.0}}
    empty: list[Any] = [{}, []]
    for qrels in empty:
        measure = ours.AP(bound="lower")
        assert np.isnan(measure.calc_aggregate(qrels, run))
        assert np.isnan(ir_measures.AP.calc_aggregate(qrels, run))


def test_a_run_of_other_queries_is_warned_about() -> None:
    with pytest.warns(
        tp.InputWarning, match="no query of the qrels.*such as 'q', but the run has queries such as 'topic'"
    ):
        assert ours.AP(bound="lower").calc_aggregate({"q": {"a": 1}}, {"topic": {"a": 1.0}}) == 0.0


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        (ours.AP, "'AP': bound must be one of lower, expected, upper.*write for example AP\\(bound='lower'\\)"),
        (ours.AP(bound="best"), "bound must be one of lower, expected, upper"),
        (ours.AP(bound="lower", dcg="log2"), "AP has no parameter 'dcg'; its parameters: bound, cutoff, rel,"),
        (ours.nDCG(bound="lower", rel=1), "nDCG has no parameter 'rel'"),
        (ours.AP(bound="lower", rel=0), "must be a whole number of at least 1"),
        (ours.AP(bound="lower", rel=True), "must be a whole number of at least 1"),
        (ours.AP(bound="lower", judged_only="no"), "judged_only must be one of False, True"),
        (ours.nDCG(bound="lower", dcg="log10"), "dcg must be one of log2, exp-log2"),
        (ours.nDCG(bound="lower", gains=[1]), "gains must be a dictionary"),
        (ours.P(bound="lower"), "'P' needs a cutoff"),
        (ours.P(bound="lower") @ 0, "must be a whole number of at least 1"),
        (ours.AP(bound="lower", norm="R2"), "norm must be one of R, min, hits"),
        (ours.RBP(bound="lower"), "needs rel.*Write RBP\\(bound='lower',rel=1\\)"),
    ],
    ids=str,
)
def test_measures_that_are_refused(measure: Any, said: str) -> None:
    qrels, run = data(ties=True)
    for provider in (ir_measures, ir_measures.providers.registry["tieproof"]):
        with pytest.raises(tp.InputError, match=said):
            provider.calc_aggregate([measure], qrels, run)


def test_measures_that_tieproof_lacks_are_refused() -> None:
    with pytest.raises(tp.InputError, match="does not compute 'infAP'; for ir_measures it has AP,"):
        ir_measures.providers.registry["tieproof"].calc_aggregate([ir_measures.infAP], *data(ties=True))


@pytest.mark.parametrize(
    ("qrels", "run", "said"),
    [
        (
            [ir_measures.Qrel("q", "a", 1)] * 2,
            {"q": {"a": 1.0}},
            "The qrels: document 'a' occurs twice for query 'q'",
        ),
        ({"q": {"a": 1}}, [ir_measures.ScoredDoc("q", "a", 1.0)] * 2, "The run: document 'a' occurs twice"),
        ({"q": ["a"]}, {}, "The qrels must be .* the value of query 'q' is list"),
        ({"q": {"a": "1"}}, {"q": {"a": 1.0}}, "The grades in the qrels must be numbers, not str: '1'"),
        ({"q": {"a": 1}}, {"q": {"a": float("nan")}}, "document 'a' for query 'q' is nan"),
    ],
)
def test_data_that_is_refused(qrels: Any, run: Any, said: str) -> None:
    with pytest.raises(tp.InputError, match=said):
        ours.AP(bound="lower").calc_aggregate(qrels, run)


def test_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda library: None)
    monkeypatch.delitem(sys.modules, "tieproof.integrations.ir_measures")
    with pytest.raises(tp.MissingExtraError, match=r"pip install 'tieproof\[ir-measures\]'"):
        __import__("tieproof.integrations.ir_measures")


# The command line


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    qrels, run = data(ties=True)
    paths = [tmp_path / "qrels.txt", tmp_path / "run.txt"]
    for path, found, line in zip(paths, (qrels, run), ("{} 0 {} {}\n", "{} Q0 {} 1 {} tag\n"), strict=True):
        path.write_text("".join(line.format(q, d, value) for q, inner in found.items() for d, value in inner.items()))
    return list(map(str, paths))


def test_command_line(files: list[str]) -> None:
    measures = ["nDCG(bound='lower')@10 nDCG(bound='upper')@10", "nDCG@10"]
    command = [sys.executable, "-m", "tieproof.integrations.ir_measures", *files, *measures]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    qrels, run = data(ties=True)
    asked = [ours.nDCG(bound="lower") @ 10, ours.nDCG(bound="upper") @ 10, ir_measures.nDCG @ 10]
    expected = ir_measures.calc_aggregate(asked, qrels, run)
    assert shown.stdout.splitlines() == [f"{measure}\t{expected[measure]:.4f}" for measure in asked]


def test_command_line_of_queries(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["ir_measures", "--provider", "tieproof", "-q", "-p", "-1", *files, "RR@10"])
    command_line.main()
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    qrels, run = data(ties=True)
    found = (ours.RR(bound="lower") @ 10).calc(qrels, run)
    assert {query: float(value) for query, _, value in lines} == {
        **{each.query_id: each.value for each in found.per_query},
        "all": found.aggregated,
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nDCG(bound='best')@10"], "bound must be one of lower, expected, upper"),
        (["infAP(bound='lower')"], "ir_measures does not accept this measure: 'bound'. These have the bound: AP, "),
        (["AP(norm='min')"], "ir_measures does not accept this measure"),
        (["--provider", "tieproof", "infAP"], "tieproof does not compute 'infAP'"),
    ],
)
def test_what_the_command_line_refuses_is_one_line(
    arguments: list[str],
    said: str,
    files: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["ir_measures", *files, *arguments])
    with pytest.raises(SystemExit) as caught:
        command_line.main()
    assert caught.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Error: ")
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_the_command_line_says_which_columns_files_have(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    short = tmp_path / "short.txt"
    short.write_text("q1 0 a\n")
    monkeypatch.setattr(sys, "argv", ["ir_measures", str(short), files[1], "AP(bound='lower')"])
    with pytest.raises(SystemExit) as caught:
        command_line.main()
    assert caught.value.code == 2
    assert "It reads judgments as lines 'query 0 document grade'" in capsys.readouterr().err


# PyTerrier


def test_pyterrier() -> None:
    """PyTerrier's Experiment needs no Java if a system is a frame of results."""
    terrier = pytest.importorskip("pyterrier")
    qrels, run = data(ties=True)
    judged = pd.DataFrame(
        [(q, d, grade) for q, grades in qrels.items() for d, grade in grades.items()],
        columns=["qid", "docno", "label"],
    )
    ranked = pd.DataFrame(
        [(q, d, score) for q, scores in run.items() for d, score in scores.items()], columns=["qid", "docno", "score"]
    )
    topics = pd.DataFrame({"qid": sorted(qrels), "query": "words"})
    asked = [ours.nDCG(bound=bound) @ 10 for bound in BOUNDS]
    shown = terrier.Experiment([ranked], topics, judged, [*asked, "map"], names=["system"])
    expected = ir_measures.calc_aggregate([*asked, ir_measures.AP], qrels, run)
    for measure in asked:
        assert shown[str(measure)][0] == pytest.approx(expected[measure], rel=1e-12)
    assert shown["map"][0] == pytest.approx(expected[ir_measures.AP], rel=1e-12)
    for_each = terrier.Experiment([ranked], topics, judged, asked, names=["system"], perquery=True)
    for measure in asked:
        of_queries = for_each[for_each["measure"] == str(measure)]
        assert dict(zip(of_queries["qid"], of_queries["value"], strict=True)) == values(
            ir_measures, measure, qrels, run
        )
    assert terrier.Evaluate(ranked, judged, asked) == {str(measure): expected[measure] for measure in asked}
    in_batches = terrier.Experiment(
        [terrier.Transformer.from_df(ranked)], topics, judged, asked, names=["system"], batch_size=5
    )
    for measure in asked:
        assert in_batches[str(measure)][0] == pytest.approx(expected[measure], rel=1e-12)
    assert not terrier.java.started()


def test_the_page_lists_all_parameters() -> None:
    listed = {}
    for line in PAGE.read_text(encoding="utf-8").partition("|---|---|\n")[2].partition("\n\n")[0].splitlines():
        names, parameters = (re.sub(r"\([^)]*\)", "", cell).split(", ") for cell in line.split("|")[1:3])
        for name in names:
            if "which" not in name:
                listed[name.strip().removeprefix("and ")] = {each.strip() for each in parameters} - {""}
    assert listed == {name: set(measure.SUPPORTED_PARAMS) - {"bound"} for name, measure in ALL.items()}


def test_examples_of_the_page_run(capsys: pytest.CaptureFixture[str], pipeline: list[Any]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    first, *others = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    printed, of_subtopics = re.findall(r"```text\n((?:alpha_)?nDCG.*?)```", text, flags=re.DOTALL)
    (renamed,) = re.findall(r"`a` `z` instead, and it prints ([0-9.]+)", text)
    exec(first.replace('"a"', '"z"'), {})
    assert capsys.readouterr().out == "".join([*printed.splitlines(keepends=True)[:3], f"nDCG@10 {renamed}\n"])
    names: dict[str, Any] = {}
    exec(first, names)
    assert capsys.readouterr().out == printed
    for code in others:
        exec(code, names)
    assert capsys.readouterr().out.startswith(of_subtopics)


# Measures of diversity


def diverse(ties: bool) -> tuple[list[Any], Judgments]:
    """Judgments of twelve queries for up to three subtopics, and scores of some documents for eleven of them."""
    random = np.random.default_rng(9)
    _, run = data(ties)
    rows: dict[tuple[str, str, str], int] = {
        (f"q{q}", f"d{d}", str(subtopic)): int(random.integers(0, 3))
        for q in range(QUERIES)
        for subtopic in range(q % 3 + 1)
        for d in random.permutation(DOCUMENTS)[:12]
    }
    rows |= dict.fromkeys((key for key in rows if key[0] == "q3"), 0)  # no relevant document
    return [ir_measures.Qrel(q, d, grade, subtopic) for (q, d, subtopic), grade in rows.items()], run


DIVERSE: list[tuple[str, dict[str, Any]]] = [
    (name, {**more, "cutoff": cutoff})
    for name in DIVERSITY
    for cutoff in (5, 20)
    for more in PARAMETERS[:2] + ([{"alpha": 0.25}] if name.startswith("alpha") else [])
]


@pytest.mark.parametrize(("name", "parameters"), DIVERSE, ids=[f"{name}{parameters}" for name, parameters in DIVERSE])
def test_what_pyndeval_computes(name: str, parameters: dict[str, Any]) -> None:
    """Without ties the same values, and with ties values within the interval."""
    pytest.importorskip("pyndeval")
    measure = getattr(ir_measures, name)(**parameters)
    for ties in (False, True):
        qrels, run = diverse(ties)
        theirs = values(ir_measures.pyndeval, measure, qrels, run)
        assert len(set(theirs.values())) > 5
        lower, expected, upper = (
            values(ir_measures, DIVERSITY[name](bound=bound, **parameters), qrels, run) for bound in BOUNDS
        )
        assert lower.keys() == expected.keys() == upper.keys() == theirs.keys()
        assert (lower != upper) == ties
        for query, value in theirs.items():
            assert lower[query] - 1e-12 <= value <= upper[query] + 1e-12
            assert ties or expected[query] == pytest.approx(value, rel=1e-12)
        if not ties:
            mean = ir_measures.pyndeval.calc_aggregate([measure], qrels, run)[measure]
            assert DIVERSITY[name](bound="upper", **parameters).calc_aggregate(qrels, run) == pytest.approx(mean)


@pytest.mark.parametrize("name", DIVERSITY)
def test_diversity_as_evaluate_diversity_has_it(name: str) -> None:
    qrels, run = diverse(ties=True)
    judged: Any = {}
    for row in qrels:
        judged.setdefault(row.query_id, {}).setdefault(row.iteration, {})[row.doc_id] = row.relevance
    result = tp.evaluate_diversity(judged, run, measures=[f"{name}@7"])
    for bound in BOUNDS:
        asked = DIVERSITY[name](bound=bound) @ 7
        for form in (qrels, iter(qrels), pd.DataFrame(qrels)):
            found = values(ir_measures, asked, form, run)
            assert {query: found[query] for query in result.queries} == {
                query: getattr(each[f"{name}@7"], bound) for query, each in result.queries.items()
            }
        assert {found[query] for query in ("q0", "q3")} == {0.0}
        assert ir_measures.parse_measure(str(asked)) == pickle.loads(pickle.dumps(asked)) == asked
        assert ir_measures.parse_measure(f"{name}(bound='{bound}')@7") == asked


def test_only_judged_documents_are_ranked() -> None:
    qrels, run = diverse(ties=True)
    judged = {(row.query_id, row.doc_id) for row in qrels}
    kept = {q: {d: score for d, score in scores.items() if (q, d) in judged} for q, scores in run.items()}
    asked = ours.alpha_nDCG(bound="lower") @ 10
    found = values(ir_measures, asked(judged_only=True), qrels, run)
    assert found == values(ir_measures, asked, qrels, kept) != values(ir_measures, asked, qrels, run)


def test_diversity_beside_other_measures(pipeline: list[Any]) -> None:
    """With one subtopic, both kinds read the same judgments; a document of two subtopics has no single grade."""
    qrels, run = diverse(ties=True)
    single = [row for row in qrels if row.query_id in ("q0", "q3", "q6", "q9")]
    asked = [ours.alpha_nDCG(bound="lower") @ 10, ours.AP(bound="lower")]
    with pytest.warns(tp.InputWarning, match="more than one subtopic"):
        found = ir_measures.calc_aggregate(asked, single, run)
    assert found[asked[1]] == asked[1].calc_aggregate(single, run)
    ours.first_choice("lower")
    assert pipeline[0].supports(ir_measures.ERR_IA @ 5)
    assert not pipeline[0].supports(ir_measures.ERR_IA)  # pyndeval has no cutoff by default, either
    assert not pipeline[0].supports(ir_measures.StRecall @ 5)
    first = ir_measures.calc_aggregate([ir_measures.ERR_IA @ 5], qrels, run)[ir_measures.ERR_IA @ 5]
    assert first == pytest.approx((ours.ERR_IA(bound="lower") @ 5).calc_aggregate(qrels, run), rel=1e-12)
    with pytest.raises(tp.InputError, match="occurs twice for query"):
        ir_measures.calc_aggregate(asked, qrels, run)


def test_refused_diversity() -> None:
    qrels, run = diverse(ties=True)
    calls = {
        "cutoff from 1 to 100": ours.ERR_IA(bound="lower"),
        r"ERR_IA\(bound='lower'\)@101' needs": ours.ERR_IA(bound="lower") @ 101,
        "bound must be one of": ours.ERR_IA @ 10,
        "has no parameter 'alpha'": ours.ERR_IA(bound="lower", alpha=0.5) @ 10,
        "alpha must be a number of at least 0 and below 1": ours.alpha_DCG(bound="lower", alpha=1) @ 10,
        "rel, the lowest relevant grade": ours.nERR_IA(bound="lower", rel=0) @ 10,
    }
    for message, measure in calls.items():
        with pytest.raises(tp.InputError, match=message):
            measure.calc_aggregate(qrels, run)
    with pytest.raises(tp.InputError, match="two grades for document"):
        (ours.ERR_IA(bound="lower") @ 10).calc_aggregate([*qrels, qrels[0]], run)
    assert (ours.ERR_IA(bound="lower") @ 10).calc_aggregate(qrels, {}) == 0.0
