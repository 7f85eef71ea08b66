"""The sets of published runs: their main measure, how their queries were averaged, and where they are from."""

from typing import Literal, NamedTuple


class Runs(NamedTuple):
    """A set of public runs with published numbers.

    name : the name of its folder
    main : the measure that the leaderboard ranks by, or the first one that its source prints
    digits : the digits to which its numbers were rounded
    runs, published : where the runs and the judgments are from, and where the numbers
    license : that of the source of the runs
    empty : how a query without a relevant document counts
    missing : how a query that a system did not answer counts
    """

    name: str
    main: str
    runs: str
    published: str
    license: str
    digits: int = 4
    empty: Literal["skip", "zero"] = "skip"
    missing: Literal["zero", "skip"] = "zero"


NONE_NAMED = "none named"
BROWSER = "usnistgov/trec-browser 06c261d, `browser/src/docs"
JUDGMENTS = "Narabzad/llm-relevance-judgement-comparison 28823f1"
DL_RUNS = "Parry-Parry/sigir25-annotation 935c789"
SEMEVAL = "bnsriram/NLPCommunityQuestionAnswering 8e89aea, `SemEval2016_task3_submissions_and_scores`"
SEMEVAL_LICENCE = "free for general research use, citing Nakov et al. 2016"


def semeval(subtask: str, missing: Literal["zero", "skip"] = "zero") -> Runs:
    """A subtask of SemEval-2016 task 3, whose scorer is `_scorer/ev.py`."""
    return Runs(
        f"semeval-2016-task3-{subtask}",
        "AP(norm=hits)@10",
        SEMEVAL,
        f"the same, `_results/results_subtask_{subtask}_all.txt`",
        SEMEVAL_LICENCE,
        empty="zero",
        missing=missing,
    )


SETS = (
    Runs(
        "trec-dl-2019-passage",
        "nDCG@10",
        f"{DL_RUNS}, `runs/trec-dl-2019`; {JUDGMENTS}, `data/qrels.dl19-passage.txt`",
        f"{BROWSER}/trec28/deep/results.md`",
        NONE_NAMED,
    ),
    Runs(
        "trec-dl-2020-passage",
        "nDCG@10",
        f"{DL_RUNS}, `runs/trec-dl-2020`; {JUDGMENTS}, `data/qrels.dl20-passage.txt`",
        f"{BROWSER}/trec29/deep/results.md`",
        NONE_NAMED,
    ),
    Runs(
        "trec-dl-2021-passage",
        "nDCG@10",
        f"{JUDGMENTS}, `runs/dl21`, `data/qrels.dl21-passage.txt`",
        f"{BROWSER}/trec30/deep/results.md`",
        NONE_NAMED,
    ),
    Runs(
        "trec-2003-robust",
        "AP",
        "joaopalotti/trectools 8a896de, `examples/robust03`",
        f"{BROWSER}/trec12/robust/results.md`",
        "BSD-3-Clause",
    ),
    Runs(
        "trec-covid-round1",
        "nDCG@10",
        "irgroup/trec-covid fa3e74a, `submission/round01`, `qrels/qrels-rnd1.txt`",
        f"{BROWSER}/trec-covid/round1/results.md`",
        NONE_NAMED,
    ),
    Runs(
        "trec-cast-2021-ecir2023",
        "nDCG@5",
        "iai-group/ecir2023-reproducibility a92c211, `data/runs/2021`, `data/qrels/2021.txt`",
        "the same, `data/runs/2021/README.md`",
        "Apache-2.0",
    ),
    Runs(
        "clef-tar-2017",
        "AP",
        "CLEF-TAR/tar dbc13d0, `2017-TAR/participant-runs`, `2017-TAR/testing/qrels/qrel_abs_test.txt`",
        "the same, `2017-TAR/participant-results-abstract`",
        "MIT",
        digits=3,
        missing="skip",
    ),
    semeval("A"),
    semeval("B"),
    semeval("C"),
    semeval("D", missing="skip"),
    Runs(
        "vpr-bench-spedtest",
        "P@1",
        "MubarizZaffar/VPR-Bench 77ad30f, `precomputed_matches/SPEDTEST`, `datasets/SPEDTEST/ground_truth_new.npy`",
        "the share of correct ones among the matches that are committed there",
        "MIT",
    ),
)
"""The sets with a leaderboard."""

UCR = Runs(
    "ucr-1nn",
    "1 - P@1",
    "PyPI aeon 1.6.0, `aeon/datasets/data`; PyPI tslearn 0.10.0, `Trace.npz`",
    "the column ED (w=0) of the UCR archive's DataSummary.csv, from Chang-George-Dong/TrojanTime 72aef95",
    "BSD-3-Clause (aeon), BSD-2-Clause (tslearn); the archive asks to cite Dau et al. 2018",
)
"""One classifier, by the nearest neighbor, on several data sets."""

NCF = Runs(
    "ncf-ml-1m",
    "Success@10",
    "hexiangnan/neural_collaborative_filtering 4aab159, `Data/ml-1m.test.*`, `Pretrain/*.h5`",
    "not published: what the repository's `evaluate.py` gives for its weights",
    "Apache-2.0 (MovieLens: for research)",
)
"""Two models of recommendation, without a published number."""
