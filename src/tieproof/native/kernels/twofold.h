/* Inner products and squared distances of single pairs of rows with twice the digits of double:
   distances/exact/twofold.py.

   Sums are compensated (Ogita, Rump, Oishi 2005, "Accurate sum and dot product", algorithm Dot2), and the part that
   they collect is returned beside the sum. */

#include "pair_parts.h"

#undef LANES
#define LANES 16

/* The error of the rounded product of two numbers; the product of two floats has none. */
static inline double OF(error_of_product)(double a, double b, double product)
{
    if (sizeof(REAL) == 4)
        return 0.0;
    double t = SPLITTER * a, a_high = t - (t - a), a_low = a - a_high;
    t = SPLITTER * b;
    double b_high = t - (t - b), b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

static inline void OF(add_number)(double number, double error, double *sum, double *low)
{
    Pair total = two_sum(*sum, number);
    *sum = total.hi;
    *low += total.lo + error;
}

static inline void OF(add_product)(REAL a, REAL b, double *sum, double *low)
{
    double product = (double)a * (double)b;
    OF(add_number)(product, OF(error_of_product)(a, b, product), sum, low);
}

static inline void OF(add_square)(REAL a, REAL b, double *sum, double *low)
{
    Pair difference = two_sum(a, -(double)b);
    double square = difference.hi * difference.hi;
    double error = error_of_product_double(difference.hi, difference.hi, square);
    OF(add_number)(square, error + 2 * difference.hi * difference.lo, sum, low);
}

static inline void OF(write_twofold)(const double *sum, const double *low, double *out)
{
    Pair total = {0.0, 0.0};
    for (int lane = 0; lane < LANES; lane++)
        total = plus(total, two_sum(sum[lane], low[lane]));
    out[0] = total.hi;
    out[1] = total.lo;
}

#define TWOFOLD(name, add)                                                             \
    KERNEL void OF(name)(Reals x, Reals y, Longs rows, Longs columns, Doubles out)     \
    {                                                                                  \
        for (int64_t i = 0; i < rows.length; i++) {                                    \
            FETCH_AHEAD(y, columns, i);                                                \
            const REAL *a = ROW(x, AT(rows, i)).at, *b = ROW(y, AT(columns, i)).at;    \
            double sum[LANES] = {0.0}, low[LANES] = {0.0};                             \
            int64_t d = 0;                                                             \
            for (; d + LANES <= x.columns; d += LANES)                                 \
                for (int lane = 0; lane < LANES; lane++)                               \
                    OF(add)(a[d + lane], b[d + lane], &sum[lane], &low[lane]);         \
            for (int lane = 0; d < x.columns; d++, lane++)                             \
                OF(add)(a[d], b[d], &sum[lane], &low[lane]);                           \
            OF(write_twofold)(sum, low, &AT2(out, i, 0));                              \
        }                                                                              \
    }

TWOFOLD(twofold_products, add_product)
TWOFOLD(twofold_squares, add_square)
#undef TWOFOLD
