/* All kernels, one library. Headers whose functions exist for several types of elements are included for each. */

#include "array.h"
#include "arrangements.h"
#include "documents.h"
#include "lines.h"
#include "precision_terms.h"
#include "processor.h"
#include "sums_by_query.h"

#include "as_double.h"
#include "judged.h"
#include "list_counts.h"

#include "as_float.h"
#include "judged.h"
#include "list_counts.h"

#include "as_long.h"
#include "judged.h"
#include "list_counts.h"

#include "as_int.h"
#include "judged.h"
#include "list_counts.h"

#include "as_char.h"
#include "judged.h"

/* What this was made of, for native/library.py, and how, for the tests. */
KERNEL const char *made_of(void)
{
    return MADE_OF;
}

KERNEL const char *flags(void)
{
    return FLAGS;
}
