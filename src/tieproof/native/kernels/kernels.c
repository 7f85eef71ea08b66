/* All kernels in one library. A file .inc has functions for several types of elements, and is included once for each. */

#include "cascade.h"
#include "codes.h"
#include "collisions.h"
#include "counting.h"
#include "digests.h"
#include "exact.h"
#include "levels.h"
#include "lists.h"
#include "measures.h"
#include "pooled.h"
#include "precisions.h"
#include "processor.h"
#include "products.h"
#include "ranking.h"
#include "rounding.h"
#include "runs.h"
#include "search.h"
#include "shifted.h"
#include "types.h"

#define REAL double
#define Reals Doubles
#define OF(name) name##_double
#include "codes.inc"
#include "tiles.inc"
#include "counting.inc"
#include "nearest.inc"
#include "sifting.inc"
#include "distances.inc"
#include "judged.inc"
#include "lists.inc"
#include "exact.inc"
#include "rounding.inc"
#include "digests.inc"
#include "terms.inc"
#include "zeros.inc"
#undef REAL
#undef Reals
#undef OF

#define REAL float
#define Reals Floats
#define OF(name) name##_float
#include "codes.inc"
#include "tiles.inc"
#include "counting.inc"
#include "nearest.inc"
#include "sifting.inc"
#include "distances.inc"
#include "judged.inc"
#include "lists.inc"
#include "exact.inc"
#include "rounding.inc"
#include "digests.inc"
#include "terms.inc"
#include "zeros.inc"
#undef REAL
#undef Reals
#undef OF

#define REAL int64_t
#define Reals Longs
#define OF(name) name##_long
#include "judged.inc"
#include "lists.inc"
#include "digests.inc"
#undef REAL
#undef Reals
#undef OF

#define REAL int32_t
#define Reals Ints
#define OF(name) name##_int
#include "judged.inc"
#include "lists.inc"
#include "digests.inc"
#undef REAL
#undef Reals
#undef OF

#define REAL int8_t
#define Reals Chars
#define OF(name) name##_char
#include "judged.inc"
#include "digests.inc"
#undef REAL
#undef Reals
#undef OF

#define REAL uint64_t
#define Reals Words
#define OF(name) name##_word
#include "digests.inc"
#undef REAL
#undef Reals
#undef OF

#include "resolve.h"

/* The digest of the sources, for native/calls.py, and the compiler's flags, for the tests. */
KERNEL const char *made_of(void)
{
    return MADE_OF;
}

KERNEL const char *flags(void)
{
    return FLAGS;
}
