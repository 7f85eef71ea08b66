"""The measures: each reads `Ties` and returns the lower, expected and upper value and the variance.

base.py has the protocol, the registry and the spelling, families/ the measures, and libraries.py their names in other
libraries; the other files are what they use.

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
from tieproof.measures.families.relevant_ranks import AP as AP
from tieproof.measures.families.relevant_ranks import AP_TRAPEZOID as AP_TRAPEZOID
from tieproof.measures.families.relevant_ranks import INP as INP
from tieproof.measures.families.relevant_ranks import RR as RR
from tieproof.measures.families.relevant_ranks import FirstRank as FirstRank
from tieproof.measures.families.relevant_ranks import FullRecall as FullRecall
from tieproof.measures.families.relevant_ranks import Success as Success
from tieproof.measures.families.weighted_ranks import AUC as AUC
from tieproof.measures.families.weighted_ranks import F1 as F1
from tieproof.measures.families.weighted_ranks import RBP as RBP
from tieproof.measures.families.weighted_ranks import P as P
from tieproof.measures.families.weighted_ranks import R as R
from tieproof.measures.families.weighted_ranks import RelP as RelP
from tieproof.measures.families.weighted_ranks import Rprec as Rprec
from tieproof.measures.families.weighted_ranks import nDCG as nDCG
from tieproof.measures.trec_eval import parse_list as parse_list

# isort: split
# Help texts and docs list the measures in the order of their registration, the most common ones first.
from tieproof.measures.families.cascade import ERR as ERR
from tieproof.measures.families.interpolated import PRECISION_RECALL as PRECISION_RECALL
from tieproof.measures.families.interpolated import IPrec as IPrec
from tieproof.measures.families.preferences import BinG as BinG
from tieproof.measures.families.preferences import bpref as bpref
from tieproof.measures.families.retrieved import Judged as Judged
from tieproof.measures.families.retrieved import NumNonRelJudgedRet as NumNonRelJudgedRet
from tieproof.measures.families.retrieved import NumQ as NumQ
from tieproof.measures.families.retrieved import NumRel as NumRel
from tieproof.measures.families.retrieved import NumRelRet as NumRelRet
from tieproof.measures.families.retrieved import NumRet as NumRet
from tieproof.measures.families.retrieved import RBPResidual as RBPResidual
from tieproof.measures.families.retrieved import SetAP as SetAP
from tieproof.measures.families.retrieved import SetF as SetF
from tieproof.measures.families.retrieved import SetP as SetP
from tieproof.measures.families.retrieved import SetR as SetR
from tieproof.measures.families.retrieved import SetRelP as SetRelP
from tieproof.measures.families.retrieved import Unjudged as Unjudged

if not TYPE_CHECKING:
    __getattr__, __dir__ = exports(__name__)
