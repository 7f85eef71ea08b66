"""Exact, tie-aware evaluation of embeddings and rankings."""

from typing import TYPE_CHECKING

from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof import measures as measures
    from tieproof.analyses.collisions.collisions import collisions as collisions
    from tieproof.analyses.collisions.result import Collisions as Collisions
    from tieproof.analyses.compare.compare import compare as compare
    from tieproof.analyses.compare.over_ties import OverTies as OverTies
    from tieproof.analyses.compare.overlap import Overlap as Overlap
    from tieproof.analyses.compare.overlap import RankBiasedOverlap as RankBiasedOverlap
    from tieproof.analyses.compare.overlap import rbo as rbo
    from tieproof.analyses.compare.recomputed import NoiseReport as NoiseReport
    from tieproof.analyses.compare.recomputed import noise as noise
    from tieproof.analyses.compare.result import Comparison as Comparison
    from tieproof.analyses.compare.runs import Agreement as Agreement
    from tieproof.analyses.compare.runs import agreement as agreement
    from tieproof.analyses.compare.score_table import ScoreTable as ScoreTable
    from tieproof.analyses.compare.score_table import table as table
    from tieproof.analyses.compare.taus import Correlation as Correlation
    from tieproof.analyses.compare.taus import KendallTau as KendallTau
    from tieproof.analyses.compare.taus import kendall_tau as kendall_tau
    from tieproof.analyses.compare.verdicts import Difference as Difference
    from tieproof.analyses.compare.verdicts import QueryDifference as QueryDifference
    from tieproof.analyses.compare.verdicts import Verdict as Verdict
    from tieproof.analyses.leaderboard.leaderboard import leaderboard as leaderboard
    from tieproof.analyses.leaderboard.result import Place as Place
    from tieproof.analyses.leaderboard.result import Places as Places
    from tieproof.analyses.leaderboard.result import RankedSystems as RankedSystems
    from tieproof.analyses.neighbors.certificate import Certificate as Certificate
    from tieproof.analyses.neighbors.classification import KnnAccuracy as KnnAccuracy
    from tieproof.analyses.neighbors.classification import knn_accuracy as knn_accuracy
    from tieproof.analyses.neighbors.examination import TruthExamination as TruthExamination
    from tieproof.analyses.neighbors.examination import examine_truth as examine_truth
    from tieproof.analyses.neighbors.nearest import nearest as nearest
    from tieproof.analyses.neighbors.result import Neighbors as Neighbors
    from tieproof.analyses.neighbors.truth import truth as truth
    from tieproof.analyses.neighbors.verification import TruthVerification as TruthVerification
    from tieproof.analyses.neighbors.verification import verify_truth as verify_truth
    from tieproof.analyses.rates.curve import DetCurve as DetCurve
    from tieproof.analyses.rates.decisions import BestThreshold as BestThreshold
    from tieproof.analyses.rates.decisions import Decisions as Decisions
    from tieproof.analyses.rates.decisions import FoldAccuracy as FoldAccuracy
    from tieproof.analyses.rates.det import det_curve as det_curve
    from tieproof.analyses.rates.det import det_curve_of_pairs as det_curve_of_pairs
    from tieproof.analyses.rates.fnmr import fnmr_at_fmr as fnmr_at_fmr
    from tieproof.analyses.rates.fnmr import fnmr_at_fmr_of_distances as fnmr_at_fmr_of_distances
    from tieproof.analyses.rates.identification import OpenSetIdentification as OpenSetIdentification
    from tieproof.analyses.rates.identification import open_set_identification as open_set_identification
    from tieproof.analyses.rates.identification import (
        open_set_identification_of_scores as open_set_identification_of_scores,
    )
    from tieproof.analyses.rates.result import EqualErrorRate as EqualErrorRate
    from tieproof.analyses.rates.result import ErrorRates as ErrorRates
    from tieproof.analyses.rates.result import OperatingPoint as OperatingPoint
    from tieproof.analyses.recall.neighbor_recall import neighbor_recall as neighbor_recall
    from tieproof.analyses.recall.range_recall import RangeRecall as RangeRecall
    from tieproof.analyses.recall.range_recall import range_recall as range_recall
    from tieproof.analyses.recall.result import NeighborRecall as NeighborRecall
    from tieproof.analyses.recall.result import RecallAtK as RecallAtK
    from tieproof.errors import ClusterError as ClusterError
    from tieproof.errors import InputError as InputError
    from tieproof.errors import InputWarning as InputWarning
    from tieproof.errors import MissingExtraError as MissingExtraError
    from tieproof.errors import TieproofError as TieproofError
    from tieproof.errors import UnsafeProductError as UnsafeProductError
    from tieproof.evaluation.answers import evaluate_answers as evaluate_answers
    from tieproof.evaluation.batches import Evaluator as Evaluator
    from tieproof.evaluation.diversity import Diversity as Diversity
    from tieproof.evaluation.diversity import evaluate_diversity as evaluate_diversity
    from tieproof.evaluation.embeddings import evaluate as evaluate
    from tieproof.evaluation.evaluated import TieSummary as TieSummary
    from tieproof.evaluation.explained_variance import pcf as pcf
    from tieproof.evaluation.intervals import Interval as Interval
    from tieproof.evaluation.lists import evaluate_distances as evaluate_distances
    from tieproof.evaluation.lists import evaluate_scores as evaluate_scores
    from tieproof.evaluation.neighbors import evaluate_neighbors as evaluate_neighbors
    from tieproof.evaluation.one_order import Printed as Printed
    from tieproof.evaluation.records.record import load as load
    from tieproof.evaluation.records.verify import Verification as Verification
    from tieproof.evaluation.records.verify import verify as verify
    from tieproof.evaluation.result import Result as Result
    from tieproof.evaluation.runs import evaluate_run as evaluate_run
    from tieproof.inputs.multi_vectors import MultiVectors as MultiVectors
    from tieproof.inputs.shards.shards import Shards as Shards
    from tieproof.inputs.shards.shards import open as open  # noqa: A004
    from tieproof.installed import __version__ as __version__
    from tieproof.measures import AP as AP
    from tieproof.measures import AP_TRAPEZOID as AP_TRAPEZOID
    from tieproof.measures import AUC as AUC
    from tieproof.measures import DEFAULT_MEASURES as DEFAULT_MEASURES
    from tieproof.measures import ERR as ERR
    from tieproof.measures import F1 as F1
    from tieproof.measures import INP as INP
    from tieproof.measures import RBP as RBP
    from tieproof.measures import RR as RR
    from tieproof.measures import BinG as BinG
    from tieproof.measures import FirstRank as FirstRank
    from tieproof.measures import FullRecall as FullRecall
    from tieproof.measures import IPrec as IPrec
    from tieproof.measures import Judged as Judged
    from tieproof.measures import NumNonRelJudgedRet as NumNonRelJudgedRet
    from tieproof.measures import NumQ as NumQ
    from tieproof.measures import NumRel as NumRel
    from tieproof.measures import NumRelRet as NumRelRet
    from tieproof.measures import NumRet as NumRet
    from tieproof.measures import P as P
    from tieproof.measures import R as R
    from tieproof.measures import RBPResidual as RBPResidual
    from tieproof.measures import RelP as RelP
    from tieproof.measures import Rprec as Rprec
    from tieproof.measures import SetAP as SetAP
    from tieproof.measures import SetF as SetF
    from tieproof.measures import SetP as SetP
    from tieproof.measures import SetR as SetR
    from tieproof.measures import SetRelP as SetRelP
    from tieproof.measures import Success as Success
    from tieproof.measures import Unjudged as Unjudged
    from tieproof.measures import bpref as bpref
    from tieproof.measures import confidence as confidence
    from tieproof.measures import nDCG as nDCG
    from tieproof.measures.distribution.distribution import Between as Between
    from tieproof.measures.distribution.distribution import Distribution as Distribution
    from tieproof.measures.diversity import DiversityScore as DiversityScore
    from tieproof.ties import Bounds as Bounds
    from tieproof.ties import Estimate as Estimate
    from tieproof.ties import Ties as Ties
    from tieproof.trials.audit import audit as audit
    from tieproof.trials.audit.report import AuditReport as AuditReport
    from tieproof.trials.judge import judge as judge
else:
    __getattr__, __dir__ = exports(__name__)
