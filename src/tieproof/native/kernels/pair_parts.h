/* The arithmetic of `Pair` in measures/numbers.py: the same operations, so the same bits. */

#ifndef TIEPROOF_PAIR_PARTS_H
#define TIEPROOF_PAIR_PARTS_H

#include "array.h"

/* For functions in loops that a call would prevent from being vectorized. */
#define INLINED static inline __attribute__((always_inline))

#define SPLITTER 134217729.0 /* 2^27 + 1 */

/* The number hi + lo. Whole numbers beyond 2^53 are pairs, too. */
typedef struct {
    double hi, lo;
} Pair;

INLINED Pair pair(double hi)
{
    return (Pair){hi, 0.0};
}

INLINED Pair exactly(int64_t number)
{
    double hi = (double)number;
    return (Pair){hi, (double)(number - (int64_t)hi)};
}

/* a + b rounded, and its rounding error (Knuth). */
INLINED Pair two_sum(double a, double b)
{
    double total = a + b, part = total - a;
    return (Pair){total, (a - (total - part)) + (b - part)};
}

/* a + b rounded, and its rounding error, for |a| >= |b| (Dekker). */
INLINED Pair quick_two_sum(double a, double b)
{
    double total = a + b;
    return (Pair){total, b - (total - a)};
}

INLINED Pair plus(Pair a, Pair b)
{
    Pair high = two_sum(a.hi, b.hi), low = two_sum(a.lo, b.lo);
    high = quick_two_sum(high.hi, high.lo + low.hi);
    return quick_two_sum(high.hi, high.lo + low.lo);
}

INLINED Pair minus(Pair a, Pair b)
{
    return plus(a, (Pair){-b.hi, -b.lo});
}

INLINED Pair times(Pair a, Pair b)
{
    double product = a.hi * b.hi;
    double t = SPLITTER * a.hi, a_high = t - (t - a.hi), a_low = a.hi - a_high;
    t = SPLITTER * b.hi;
    double b_high = t - (t - b.hi), b_low = b.hi - b_high;
    double rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return quick_two_sum(product, rest + (a.hi * b.lo + a.lo * b.hi));
}

INLINED Pair over(Pair a, Pair b)
{
    double first = a.hi / b.hi;
    Pair rest = minus(a, times(b, pair(first)));
    double second = rest.hi / b.hi;
    rest = minus(rest, times(b, pair(second)));
    return plus(quick_two_sum(first, second), pair(rest.hi / b.hi));
}

/* The difference of two entries of a table of running sums, whose rows are hi and lo. */
INLINED Pair between(Doubles sums, int64_t start, int64_t stop)
{
    return minus((Pair){AT2(sums, 0, stop), AT2(sums, 1, stop)}, (Pair){AT2(sums, 0, start), AT2(sums, 1, start)});
}

#endif
