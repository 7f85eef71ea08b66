"""The tools of this library that two or more of its integrations need, beside the public names.

The folders compat, integrations and trials import from here, from `tieproof` and from its public modules, so that
each of them could be a package of its own, and an integration of yours may do the same. Docstrings tell of each:

- Arguments, checked as all calls check them: `as_…`, `check_…`, `our_name` of a distance, `parse_scores`; `joined`
  puts rows of a kind together, and `fits` compares JSON with a schema.
- Types: `Array` and its kin, `DistanceFunction`, `Embeddings`, `Labels`, `Bound`.
- Files: `reading` says in an error which file was read, `check` that it exists, `npy` reads arrays; `atomic_write`
  and `PartsFolder` never leave half a file; `EXTENSION` is that of records; `is_number` tells of a cell.
- Values: `of_queries` and `over_queries` choose and average them, `aligned` matches the queries of several results.
- What people see: `Shown` and its `Table`, `AsPage`, `table`, `count`, `in_one_line`, `progress_bar`, `style` of
  pictures, and the `WIDTH` of texts and the `NARROWEST`.
"""

from typing import TYPE_CHECKING

from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.analyses.compare.same_queries import aligned as aligned
    from tieproof.distances import DistanceFunction as DistanceFunction
    from tieproof.distances import our_name as our_name
    from tieproof.evaluation.evaluated import over_queries as over_queries
    from tieproof.evaluation.intervals import Bound as Bound
    from tieproof.evaluation.problems import as_rows as as_rows
    from tieproof.evaluation.progress import progress_bar as progress_bar
    from tieproof.evaluation.saving import EXTENSION as EXTENSION
    from tieproof.evaluation.scoring import parse_scores as parse_scores
    from tieproof.inputs.arrays import Embeddings as Embeddings
    from tieproof.inputs.arrays import as_array as as_array
    from tieproof.inputs.arrays import as_embeddings as as_embeddings
    from tieproof.inputs.arrays import check_count as check_count
    from tieproof.inputs.arrays import check_finite as check_finite
    from tieproof.inputs.labels import as_label_array as as_label_array
    from tieproof.inputs.labels import as_labels as as_labels
    from tieproof.inputs.multi_vectors import joined as joined
    from tieproof.inputs.options import check_choice as check_choice
    from tieproof.inputs.options import check_whole as check_whole
    from tieproof.inputs.readers import npy as npy
    from tieproof.inputs.readers.lines import is_number as is_number
    from tieproof.inputs.readers.location import check as check
    from tieproof.inputs.readers.location import reading as reading
    from tieproof.inputs.relevance import Labels as Labels
    from tieproof.inputs.schemas import fits as fits
    from tieproof.show import style as style
    from tieproof.show.parts import NARROWEST as NARROWEST
    from tieproof.show.parts import WIDTH as WIDTH
    from tieproof.show.parts import count as count
    from tieproof.show.parts import table as table
    from tieproof.show.printable import in_one_line as in_one_line
    from tieproof.show.shown import AsPage as AsPage
    from tieproof.show.shown import Shown as Shown
    from tieproof.show.shown import Table as Table
    from tieproof.ties import Array as Array
    from tieproof.ties import BoolArray as BoolArray
    from tieproof.ties import FloatArray as FloatArray
    from tieproof.ties import IntArray as IntArray
    from tieproof.ties import of_queries as of_queries
    from tieproof.whole_files import PartsFolder as PartsFolder
    from tieproof.whole_files import atomic_write as atomic_write
else:
    __getattr__, __dir__ = exports(__name__)
