/* Sums over the ranks of relevant items, of which the arithmetic is that of pairs of doubles. */

#ifndef TIEPROOF_MEASURES_H
#define TIEPROOF_MEASURES_H

#include "types.h"

/* The arithmetic of `Pair` in measures/numbers.py: the same operations, so the same bits. */

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

/* Running sums of pairs of doubles: measures/numbers.py. */

/* Replace the terms of each block by their running sums from the start of the block. The first row of `terms` has
   their high parts, the second their low parts. */
KERNEL void sum_inside_blocks(Doubles terms, int64_t block)
{
    Pair total = pair(0.0);
    for (int64_t i = 0; i < terms.columns; i++) {
        Pair term = {AT2(terms, 0, i), AT2(terms, 1, i)};
        total = i % block ? plus(total, term) : term;
        AT2(terms, 0, i) = total.hi;
        AT2(terms, 1, i) = total.lo;
    }
}

/* For each query, sums of weights over the ranks of relevant items: measures/families/weighted_ranks.py. */

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

/* The rank of the first relevant item of each query, or of the last one: measures/families/relevant_ranks.py.

   Let J be the place of the first relevant item in a tie of l items, m of them relevant, counted from the front or
   from the back of the tie. Then P(J > j) = C(l-j, m) / C(l, m), which is a product. */

/* A walk through the places of a tie: P(J = j) at place j, and P(J > j). */
typedef struct {
    int64_t l, m, j;
    double here, beyond;
} Walk;

static inline Walk walk(int64_t l, int64_t m)
{
    return (Walk){l, m, 0, 0.0, 1.0};
}

static inline void step(Walk *walk)
{
    int64_t left = walk->l - walk->j, others = left - walk->m;
    walk->here = walk->beyond * (walk->m / (double)left);
    walk->beyond *= (others > 0 ? others : 0) / (double)left;
    walk->j++;
}

/* The number of places of a tie that can change a value by 2^-60 of itself.

   P(J > j) <= (1 - m/l)^j < 2^(-1.44 j m/l). No two values differ by more than a factor of (k + l)^2, and no two
   of their squared distances from the mean by more than a factor of (k + l)^4 l^2. */
static inline int64_t places_that_matter(int64_t k, int64_t l, int64_t m)
{
    int bits;
    frexp((double)(k + l), &bits);
    int64_t places = (64 + 6 * (int64_t)bits) * l / m + 1;
    return places < l - m + 1 ? places : l - m + 1;
}

/* The mean and the variance of a value of a tie. */
typedef struct {
    double mean, variance;
} Moments;

/* The mean and the variance of whether any of m relevant items among l is in the first s places. The probability
   of any is a sum, and the probability of none a product, of positive terms, so that neither loses digits if it is
   small. m and s can be exchanged, so the smaller one is the number of steps. */
static inline Moments any_of(int64_t l, int64_t m, int64_t s)
{
    int64_t steps = m < s ? m : s;
    Walk at = walk(l, m < s ? s : m);
    double some = 0.0;
    while (at.j < steps) {
        step(&at);
        some += at.here;
    }
    return (Moments){at.beyond < 0.5 ? 1.0 - at.beyond : some, some * at.beyond};
}

/* The moments of 1/(k+J), which counts as 0 for J > s, from the distances 1/(k+1) - 1/(k+J). */
static inline Moments first_reciprocal(int64_t k, int64_t l, int64_t m, int64_t s)
{
    int64_t steps = places_that_matter(k, l, m);
    if (steps > s)
        steps = s;
    double first = k + 1.0, mean = 0.0, mean_distance = 0.0, variance = 0.0;
    Walk at = walk(l, m);
    for (int64_t j = 0; j < steps; j++) {
        step(&at);
        mean += at.here / (first + j);
        mean_distance += at.here * (j / ((first + j) * first));
    }
    double rest = at.beyond;
    mean_distance += rest / first;
    at = walk(l, m);
    for (int64_t j = 0; j < steps; j++) {
        step(&at);
        double distance = j / ((first + j) * first) - mean_distance;
        variance += at.here * (distance * distance);
    }
    variance += rest * (mean * mean);
    return (Moments){mean_distance < 0.5 / first ? 1.0 / first - mean_distance : mean, variance};
}

/* The moments of 1/(k+l+1-J) - 1/(k+l), where J is counted from the back of the tie. */
static inline Moments last_reciprocal(int64_t k, int64_t l, int64_t m)
{
    int64_t steps = places_that_matter(k, l, m);
    double last = (double)(k + l), mean = 0.0, variance = 0.0;
    Walk at = walk(l, m);
    for (int64_t j = 0; j < steps; j++) {
        step(&at);
        mean += at.here * (j / ((last - j > 1.0 ? last - j : 1.0) * last));
    }
    at = walk(l, m);
    for (int64_t j = 0; j < steps; j++) {
        step(&at);
        double distance = j / ((last - j > 1.0 ? last - j : 1.0) * last) - mean;
        variance += at.here * (distance * distance);
    }
    return (Moments){mean, variance};
}

/* The tie that determines the value of a query: its numbers k, l and m, and the number s of its places that count. */
typedef struct {
    int64_t k, l, m, s;
} Place;

static inline bool same(Place a, Place b)
{
    return a.k == b.k && a.l == b.l && a.m == b.m && a.s == b.s;
}

/* The first tie of a query, if it has one that begins above rank `last`. */
static inline bool find_first(Place *first, int64_t q, Longs starts, Longs k, Longs l, Longs m, int64_t last)
{
    int64_t t = AT(starts, q);
    if (t == AT(starts, q + 1) || AT(k, t) >= last)
        return false;
    int64_t places = last - AT(k, t);
    *first = (Place){AT(k, t), AT(l, t), AT(m, t), places < AT(l, t) ? places : AT(l, t)};
    return true;
}

KERNEL void find_successes(Longs queries, Longs starts, Longs k, Longs l, Longs m, Longs last, Doubles estimates)
{
    Place before = {-1, 0, 0, 0}, first;
    Moments found = {0.0, 0.0};
    for (int64_t i = 0; i < queries.length; i++) {
        int64_t q = AT(queries, i);
        if (!find_first(&first, q, starts, k, l, m, AT(last, q)))
            continue;
        bool certain = first.s > first.l - first.m;
        if (!certain && !same(first, before)) {
            found = any_of(first.l, first.m, first.s);
            before = first;
        }
        AT2(estimates, 0, q) = certain ? 1.0 : 0.0;
        AT2(estimates, 1, q) = certain ? 1.0 : found.mean;
        AT2(estimates, 2, q) = 1.0;
        AT2(estimates, 3, q) = certain ? 0.0 : found.variance;
    }
}

KERNEL void find_first_reciprocals(
    Longs queries, Longs starts, Longs k, Longs l, Longs m, Longs last, const WeightTables *harmonic, Doubles estimates)
{
    Place before = {-1, 0, 0, 0}, first;
    Moments found = {0.0, 0.0};
    for (int64_t i = 0; i < queries.length; i++) {
        int64_t q = AT(queries, i);
        if (!find_first(&first, q, starts, k, l, m, AT(last, q)))
            continue;
        int64_t others = first.l - first.m, end = first.k + first.s;
        double upper = 1.0 / (first.k + 1);
        if (others && !same(first, before)) {
            if (first.m == 1) {
                found.mean = over(sum_of_run(harmonic, first.k, end), exactly(first.l)).hi;
                found.variance = spread_in_tie(harmonic, first.k, first.l, end) / first.l;
            } else {
                found = first_reciprocal(first.k, first.l, first.m, first.s);
            }
            before = first;
        }
        AT2(estimates, 0, q) = first.s > others ? 1.0 / (first.k + others + 1) : 0.0;
        AT2(estimates, 1, q) = others ? found.mean : upper;
        AT2(estimates, 2, q) = upper;
        AT2(estimates, 3, q) = others ? found.variance : 0.0;
    }
}

KERNEL void find_last_reciprocals(
    Longs queries, Longs starts, Longs k, Longs n, Longs l, Longs m, Longs n_relevant, Doubles estimates)
{
    Place before = {-1, 0, 0, 0};
    Moments found = {0.0, 0.0};
    for (int64_t i = 0; i < queries.length; i++) {
        int64_t q = AT(queries, i), t = AT(starts, q + 1) - 1, relevant = AT(n_relevant, q);
        if (t < AT(starts, q) || AT(n, t) + AT(m, t) != relevant)
            continue;
        Place last = {AT(k, t), AT(l, t), AT(m, t), AT(l, t)};
        double lower = relevant / (double)(last.k + last.l);
        bool ambiguous = last.m < last.l;
        if (ambiguous && !same(last, before)) {
            found = last_reciprocal(last.k, last.l, last.m);
            before = last;
        }
        AT2(estimates, 0, q) = lower;
        AT2(estimates, 1, q) = ambiguous ? lower + relevant * found.mean : lower;
        AT2(estimates, 2, q) = relevant / (double)(last.k + last.m);
        AT2(estimates, 3, q) = ambiguous ? found.variance * relevant * relevant : 0.0;
    }
}

#endif
