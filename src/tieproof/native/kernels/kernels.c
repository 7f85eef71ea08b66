/* All kernels, one library. Headers whose functions exist for several types of elements are included for each. */

#include "array.h"
#include "arrangements.h"
#include "collisions.h"
#include "curves.h"
#include "digits.h"
#include "distinct.h"
#include "guide.h"
#include "intervals.h"
#include "levels.h"
#include "order.h"
#include "pooled.h"
#include "precision_terms.h"
#include "processor.h"
#include "ranked.h"
#include "ranking.h"
#include "resolve.h"
#include "rounding.h"
#include "scan.h"
#include "sines.h"
#include "slices.h"
#include "sums_by_query.h"
#include "table.h"

#include "as_double.h"
#include "cityblock.h"
#include "counting_tiles.h"
#include "hamming.h"
#include "pairs.h"

#include "as_float.h"
#include "cityblock.h"
#include "counting_tiles.h"
#include "hamming.h"
#include "pairs.h"

#include "without_tiles.h"

/* What this was made of, for native/library.py, and how, for the tests. */
KERNEL const char *made_of(void)
{
    return MADE_OF;
}

KERNEL const char *flags(void)
{
    return FLAGS;
}
