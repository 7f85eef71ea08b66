/* For each query, sums of weights over the ranks of relevant items: measures/weighted_ranks.py. */

#ifndef TIEPROOF_WEIGHTED_SUMS_H
#define TIEPROOF_WEIGHTED_SUMS_H

#include "pair_parts.h"

/* For runs of up to this length, the squared distances of weights to their mean are summed term by term. */
#define SUMMED 64

/* The weights of ranks: see `WeightTables` in measures/rank_weights.py. */
typedef struct {
    Doubles sums, squares;
    double persistence;
} WeightTables;

static inline Pair entry(Doubles sums, int64_t index)
{
    return (Pair){AT2(sums, 0, index), AT2(sums, 1, index)};
}

/* p^exponent, by repeated squaring. */
static inline Pair power(double p, int64_t exponent)
{
    Pair result = pair(1.0), square = pair(p);
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = times(result, square);
        square = times(square, square);
    }
    return result;
}

/* The sum of the weights of ranks start+1 … stop. */
static inline Pair sum_of_run(const WeightTables *weights, int64_t start, int64_t stop)
{
    if (!weights->sums.at)
        return exactly(stop - start);
    if (weights->persistence > 0.0)
        return times(power(weights->persistence, start), entry(weights->sums, stop - start));
    return between(weights->sums, start, stop);
}

/* The sum of squared distances of tabled weights to their mean.

   sum w² - (sum w)² / length loses a factor of about (start / length)² by cancellation, and a factor of start /
   length more because of the last digits of the table. Pairs have enough digits for long runs; short runs are
   summed around their mean. */
static inline double spread_of_tabled(const WeightTables *weights, int64_t start, int64_t stop)
{
    int64_t length = stop - start;
    if (length < 2)
        return 0.0;
    if (length > SUMMED) {
        Pair sum = between(weights->sums, start, stop);
        return minus(between(weights->squares, start, stop), over(times(sum, sum), exactly(length))).hi;
    }
    double fall[SUMMED], total = 0.0, spread = 0.0;
    Pair first = between(weights->sums, start, start + 1);
    for (int64_t j = 0; j < length; j++) {
        fall[j] = minus(between(weights->sums, start + j, start + j + 1), first).hi;
        total += fall[j];
    }
    double mean = total / length;
    for (int64_t j = 0; j < length; j++)
        spread += (fall[j] - mean) * (fall[j] - mean);
    return spread;
}

/* The sum of squared distances of the weights of ranks start+1 … stop to their mean. */
static inline double spread_of_run(const WeightTables *weights, int64_t start, int64_t stop)
{
    if (!weights->sums.at)
        return 0.0;
    if (weights->persistence > 0.0) {
        Pair scale = power(weights->persistence, start);
        return times(scale, scale).hi * spread_of_tabled(weights, 0, stop - start);
    }
    return spread_of_tabled(weights, start, stop);
}

/* The sum of squared distances of a tie's l weights to their mean; weights beyond rank `end` are 0. */
static inline double spread_in_tie(const WeightTables *weights, int64_t k, int64_t l, int64_t end)
{
    int64_t s = end - k;
    double share = sum_of_run(weights, k, end).hi;
    double missing = (l - s) / (s * (double)l);
    return spread_of_run(weights, k, end) + share * share * missing;
}

/* A sum of pairs with a known bound. Each term is cut at 2^-50 of the bound: the upper parts are added without any
   rounding, and the rounding errors of the lower parts are below 2^-100 of the bound. */
typedef struct {
    double upper, lower;
} Sum;

static inline void add(Sum *sum, double anchor, Pair term)
{
    double upper = (anchor + term.hi) - anchor; /* floats near the anchor, 6 · 2^i, are evenly spaced */
    sum->upper += upper;
    sum->lower += (term.hi - upper) + term.lo;
}

static inline double both(Sum a, Sum b)
{
    return plus(two_sum(a.upper, a.lower), two_sum(b.upper, b.lower)).hi;
}

/* Divide the estimates of each query by its divisor, or by 1 where that is 0. */
static inline void divide_by_query(Doubles divisors, Doubles estimates)
{
    for (int64_t q = 0; q < divisors.length; q++) {
        double by = AT(divisors, q) == 0.0 ? 1.0 : AT(divisors, q);
        for (int64_t i = 0; i < 3; i++)
            AT2(estimates, i, q) /= by;
        AT2(estimates, 3, q) /= by * by;
    }
}

KERNEL void sum_weights(
    Longs starts, Longs k, Longs l, Longs m, Longs last, const WeightTables *weights, Doubles bounds, Doubles divisors,
    Doubles estimates)
{
    for (int64_t q = 0; q < last.length; q++) {
        int exponent;
        frexp(AT(bounds, q), &exponent);
        double anchor = 6.0 * ldexp(1.0, exponent), variance = 0.0;
        Sum certain = {0.0, 0.0}, worst = certain, mean = certain, best = certain;
        for (int64_t t = AT(starts, q); t < AT(starts, q + 1) && AT(k, t) < AT(last, q); t++) {
            int64_t start = AT(k, t), length = AT(l, t), relevant = AT(m, t), end = start + length;
            if (end > AT(last, q))
                end = AT(last, q);
            if (relevant == length) {
                add(&certain, anchor, sum_of_run(weights, start, end));
                continue;
            }
            int64_t from = start + length - relevant, to = start + relevant;
            add(&worst, anchor, sum_of_run(weights, from < end ? from : end, end));
            add(&best, anchor, sum_of_run(weights, start, to < end ? to : end));
            Pair share = times(sum_of_run(weights, start, end), pair((double)relevant));
            add(&mean, anchor, over(share, exactly(length)));
            double one = relevant / (double)length * ((length - relevant) / (length - 1.0));
            variance += one * spread_in_tie(weights, start, length, end);
        }
        AT2(estimates, 0, q) = both(certain, worst);
        AT2(estimates, 1, q) = both(certain, mean);
        AT2(estimates, 2, q) = both(certain, best);
        AT2(estimates, 3, q) = variance;
    }
    divide_by_query(divisors, estimates);
}

#endif
