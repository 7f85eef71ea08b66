/* All kernels, one library. Headers whose functions exist for several types of elements are included for each. */

#include "array.h"
#include "arrangements.h"
#include "collisions.h"
#include "pooled.h"
#include "precision_terms.h"
#include "processor.h"
#include "rounding.h"
#include "sums_by_query.h"

#include "as_double.h"
#include "rounding_tiles.h"
#include "as_float.h"
#include "rounding_tiles.h"

/* What this was made of, for native/library.py, and how, for the tests. */
KERNEL const char *made_of(void)
{
    return MADE_OF;
}

KERNEL const char *flags(void)
{
    return FLAGS;
}
