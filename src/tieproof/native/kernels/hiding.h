/* Set the nearness of items that a query leaves out of the count to minus infinity: engine/resolve.py. */

#include "masks.h"

/* `value` has the nearness of the items from `column` on; the query has the runs first … last-1. */
static inline void OF(hide)(Ints run, int64_t first, int64_t last, int64_t column, Reals value)
{
    int64_t width = value.length;
    for (int64_t i = first_run(run, first, last, column); i < last && AT2(run, i, 0) < column + width; i++) {
        int64_t start = AT2(run, i, 0) - column, stop = AT2(run, i, 1) - column;
        stop = stop < width ? stop : width;
        for (int64_t c = start > 0 ? start : 0; c < stop; c++)
            AT(value, c) = -(REAL)INFINITY;
    }
}
