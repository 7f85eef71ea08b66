/* A tile of city-block distances: distances/cityblock.py. */

#include "array.h"

/* The numbers of rows of y, and of their dimensions, that stay in a cache while the rows of x are processed one by
   one. */
#undef STRIP
#undef DEEP
#define STRIP (1024 / (int64_t)sizeof(REAL))
#define DEEP 32
#define DIMENSIONS_TOGETHER 8

/* sums[j] -= |value[d] - y[d, j]| for each d in turn. */
static inline void OF(take_off)(const REAL *value, REAL (*y)[STRIP], int64_t dimensions, int64_t count, REAL *sums)
{
    REAL *restrict of = sums;
    int64_t d = 0;
    for (; d + DIMENSIONS_TOGETHER <= dimensions; d += DIMENSIONS_TOGETHER) {
        for (int64_t j = 0; j < count; j++) {
            REAL sum = of[j];
            for (int k = 0; k < DIMENSIONS_TOGETHER; k++)
                sum -= (REAL)fabs(value[d + k] - y[d + k][j]);
            of[j] = sum;
        }
    }
    for (; d < dimensions; d++)
        for (int64_t j = 0; j < count; j++)
            of[j] -= (REAL)fabs(value[d] - y[d][j]);
}

/* out[i, j] = - sum over d of |x[i, d] - y[j, d]|, added up in the order of d. */
KERNEL void OF(city_block_tile)(Reals x, Reals y, Reals out)
{
    _Alignas(64) REAL strip[DEEP][STRIP];
    for (int64_t i = 0; i < out.length; i++)
        memset(ROW(out, i).at, 0, (size_t)out.columns * sizeof(REAL));
    for (int64_t start = 0; start < out.columns; start += STRIP) {
        int64_t count = out.columns - start < STRIP ? out.columns - start : STRIP;
        for (int64_t first = 0; first < x.columns; first += DEEP) {
            int64_t dimensions = x.columns - first < DEEP ? x.columns - first : DEEP;
            for (int64_t j = 0; j < count; j++)
                for (int64_t d = 0; d < dimensions; d++)
                    strip[d][j] = AT2(y, start + j, first + d);
            for (int64_t i = 0; i < out.length; i++)
                OF(take_off)(&AT2(x, i, first), strip, dimensions, count, &AT2(out, i, start));
        }
    }
}
