/* All kernels in one library. Headers with functions for several element types are included once for each type. */

#include "array.h"
#include "arrangements.h"
#include "cascade.h"
#include "collisions.h"
#include "curves.h"
#include "digests.h"
#include "digits.h"
#include "distinct.h"
#include "documents.h"
#include "first_and_last.h"
#include "guide.h"
#include "intervals.h"
#include "largest_precisions.h"
#include "levels.h"
#include "lines.h"
#include "order.h"
#include "pooled.h"
#include "precision_terms.h"
#include "processor.h"
#include "ranked.h"
#include "ranking.h"
#include "resolve.h"
#include "rounding.h"
#include "running_sums.h"
#include "scan.h"
#include "shifted.h"
#include "short_sums.h"
#include "sines.h"
#include "slices.h"
#include "sums_by_query.h"
#include "table.h"
#include "trapezoid_terms.h"
#include "weighted_sums.h"
#include "words.h"

#include "as_double.h"
#include "bit_tiles.h"
#include "cityblock.h"
#include "codes.h"
#include "counting_tiles.h"
#include "judged.h"
#include "list_counts.h"
#include "maxima.h"
#include "pairs.h"
#include "rounding_tiles.h"
#include "row_digests.h"
#include "terms.h"
#include "twofold.h"
#include "zeros.h"

#include "as_float.h"
#include "bit_tiles.h"
#include "cityblock.h"
#include "codes.h"
#include "counting_tiles.h"
#include "judged.h"
#include "list_counts.h"
#include "maxima.h"
#include "pairs.h"
#include "rounding_tiles.h"
#include "row_digests.h"
#include "terms.h"
#include "twofold.h"
#include "zeros.h"

#include "as_long.h"
#include "judged.h"
#include "list_counts.h"
#include "row_digests.h"

#include "as_int.h"
#include "judged.h"
#include "list_counts.h"
#include "row_digests.h"

#include "as_char.h"
#include "judged.h"
#include "row_digests.h"

#include "as_word.h"
#include "row_digests.h"

#include "without_tiles.h"

/* The digest of the sources, for native/loading.py, and the compiler's flags, for the tests. */
KERNEL const char *made_of(void)
{
    return MADE_OF;
}

KERNEL const char *flags(void)
{
    return FLAGS;
}
