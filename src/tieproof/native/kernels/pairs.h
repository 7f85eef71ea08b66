/* Inner products and city-block distances of single pairs of rows: distances/exact/bounds.py. */

#include "array.h"

/* The number of independent partial sums, which fill at least a vector register. They are added in order to the
   sum of the entries that remain at the end of a row. */
#undef LANES
#define LANES 32

static inline double OF(product)(const REAL *a, const REAL *b, int64_t length)
{
    double lanes[LANES] = {0.0}, total = 0.0;
    int64_t d = 0;
    for (; d + LANES <= length; d += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] += (double)a[d + lane] * (double)b[d + lane];
    for (; d < length; d++)
        total += (double)a[d] * (double)b[d];
    for (int lane = 0; lane < LANES; lane++)
        total += lanes[lane];
    return total;
}

static inline double OF(city_block)(const REAL *a, const REAL *b, int64_t length)
{
    double lanes[LANES] = {0.0}, total = 0.0;
    int64_t d = 0;
    for (; d + LANES <= length; d += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] += fabs((double)a[d + lane] - (double)b[d + lane]);
    for (; d < length; d++)
        total += fabs((double)a[d] - (double)b[d]);
    for (int lane = 0; lane < LANES; lane++)
        total += lanes[lane];
    return total;
}

KERNEL void OF(products)(Reals x, Reals y, Longs rows, Longs columns, Doubles out)
{
    for (int64_t i = 0; i < rows.length; i++) {
        FETCH_AHEAD(y, columns, i);
        AT(out, i) = OF(product)(ROW(x, AT(rows, i)).at, ROW(y, AT(columns, i)).at, x.columns);
    }
}

KERNEL void OF(city_blocks)(Reals x, Reals y, Longs rows, Longs columns, Doubles out)
{
    for (int64_t i = 0; i < rows.length; i++) {
        FETCH_AHEAD(y, columns, i);
        AT(out, i) = OF(city_block)(ROW(x, AT(rows, i)).at, ROW(y, AT(columns, i)).at, x.columns);
    }
}
