"""The measures: each reads `Ties` and returns the lower, expected and upper value and the variance.

base.py has the protocol, the registry and the spelling; every other file from which a measure is imported below is a
family of measures. rank_weights.py and numbers.py are the arithmetic that they use.

Kernels pass over all ties once. The ties of query q are starts[q] … starts[q+1]-1, nearest first; ties that begin at
rank last[q] or later do not count. Terms are added up in the order of the ties. The rows of `estimates`, (4, Q), are
the lower, expected and upper value and the variance; they are zeros when a kernel is called.
"""

from typing import TYPE_CHECKING

from tieproof.lazy import exports
from tieproof.measures.base import DEFAULT_MEASURES as DEFAULT_MEASURES
from tieproof.measures.base import REGISTRY as REGISTRY
from tieproof.measures.base import Definition as Definition
from tieproof.measures.base import Estimates as Estimates
from tieproof.measures.base import Measure as Measure
from tieproof.measures.base import Parameter as Parameter
from tieproof.measures.base import aliases as aliases
from tieproof.measures.base import define as define
from tieproof.measures.base import parse as parse
from tieproof.measures.relevant_ranks import AP as AP
from tieproof.measures.relevant_ranks import AP_TRAPEZOID as AP_TRAPEZOID
from tieproof.measures.relevant_ranks import INP as INP
from tieproof.measures.relevant_ranks import RR as RR
from tieproof.measures.relevant_ranks import FirstRank as FirstRank
from tieproof.measures.relevant_ranks import FullRecall as FullRecall
from tieproof.measures.relevant_ranks import Success as Success
from tieproof.measures.trec_eval import parse_list as parse_list
from tieproof.measures.weighted_ranks import AUC as AUC
from tieproof.measures.weighted_ranks import F1 as F1
from tieproof.measures.weighted_ranks import RBP as RBP
from tieproof.measures.weighted_ranks import P as P
from tieproof.measures.weighted_ranks import R as R
from tieproof.measures.weighted_ranks import RelP as RelP
from tieproof.measures.weighted_ranks import Rprec as Rprec
from tieproof.measures.weighted_ranks import nDCG as nDCG

# isort: split
# Help texts and docs list the measures in the order of their registration, the most common ones first.
from tieproof.measures.cascade import ERR as ERR
from tieproof.measures.interpolated import PRECISION_RECALL as PRECISION_RECALL
from tieproof.measures.interpolated import IPrec as IPrec
from tieproof.measures.preferences import BinG as BinG
from tieproof.measures.preferences import bpref as bpref
from tieproof.measures.retrieved import Judged as Judged
from tieproof.measures.retrieved import NumNonRelJudgedRet as NumNonRelJudgedRet
from tieproof.measures.retrieved import NumQ as NumQ
from tieproof.measures.retrieved import NumRel as NumRel
from tieproof.measures.retrieved import NumRelRet as NumRelRet
from tieproof.measures.retrieved import NumRet as NumRet
from tieproof.measures.retrieved import RBPResidual as RBPResidual
from tieproof.measures.retrieved import SetAP as SetAP
from tieproof.measures.retrieved import SetF as SetF
from tieproof.measures.retrieved import SetP as SetP
from tieproof.measures.retrieved import SetR as SetR
from tieproof.measures.retrieved import SetRelP as SetRelP
from tieproof.measures.retrieved import Unjudged as Unjudged

if not TYPE_CHECKING:
    __getattr__, __dir__ = exports(__name__)
