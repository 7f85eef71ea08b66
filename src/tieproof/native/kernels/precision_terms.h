/* What one tie adds to a sum of precisions at worst, on average and at best, and the variance:
   measures/kernels.py. */

#ifndef TIEPROOF_PRECISION_TERMS_H
#define TIEPROOF_PRECISION_TERMS_H

#include "arrangements.h"
#include "weighted_sums.h"

/* Variances over s places below k items go by closed form where s > LONG and k <= FAR · s. Their cancellation grows as
   (k/s)^5; at these limits it leaves some 1e-14 of the pairs' 1e-30. */
#define LONG 32
#define FAR 200

/* Places up to which one relevant item is followed through all of them; beyond, running sums are quicker. */
#define SHORT 64

/* The sum of the precisions at `count` relevant items from rank k+1 on. */
static inline Pair precisions(Doubles sums, int64_t k, int64_t n, int64_t count)
{
    return plus(times(between(sums, k, k + count), pair((double)(n - k))), pair((double)count));
}

/* (m/l) sum_{i=0..s-1} (first + i rho)/(rank + i), rho = (m-1)/(l-1), given the sum of 1/(rank + i). */
static inline Pair mean_precisions(int64_t first, Pair inverses, int64_t rank, int64_t l, int64_t m, int64_t s)
{
    int64_t others = l > 1 ? l - 1 : 1;
    Pair sum = times(exactly(first * others - (m - 1) * rank), inverses);
    sum = times(plus(sum, exactly((m - 1) * s)), exactly(m));
    return over(sum, exactly(l * others));
}

/* Var Z in constant time: every sum in terms of w = sum 1/r and ww = sum 1/r² over the ranks of the places. */
static inline double variance_of_many(Pair w, Pair ww, int64_t k, int64_t ahead, int64_t l, int64_t m, int64_t s)
{
    double n = ahead, size = l, relevant = m;
    Pair first = pair(-(double)(k + 1)), length = pair(size);
    Pair before = plus(times(w, first), pair((double)s));                           /* sum (i-1) w */
    Pair before_w = plus(times(ww, first), w);                                      /* sum (i-1) w² */
    Pair before_before = plus(times(before_w, first), before);                      /* sum (i-1)² w² */
    Pair pairs = times(minus(times(w, w), ww), pair(0.5));                          /* sum_{i<j} w w */
    Pair pairs_before = plus(times(pairs, first), before);                          /* sum_{i<j} (i-1) w w */
    Pair row_row = plus(plus(before_before, before_w), times(pairs_before, pair(4.0))); /* sum r² */

    /* Multiplied by what they are divided by in the end: what is left after the cancellation needs no pair. */
    double weight_spread = minus(times(ww, length), times(w, w)).hi / size;
    double common = minus(times(plus(before_w, pairs), length), times(times(w, pair(2.0)), before)).hi / size;
    Pair square_of_before = times(before, before);
    double row_spread = minus(times(row_row, length), times(square_of_before, pair(4.0))).hi / size;
    Pair square = times(minus(times(before_w, pair(size - 2.0)), row_row), pair(size - 1.0));
    double pair_spread = plus(square, times(square_of_before, pair(2.0))).hi / ((size - 1.0) * (size - 2.0));

    double c = n + 1.0, share = (relevant - 1) / (size - 2);
    double linear = c * c * weight_spread + 2.0 * c * share * common + share * share * row_spread;
    double one = relevant / size * ((size - relevant) / (size - 1));
    double two = one * ((relevant - 1) / (size - 2)) * ((size - relevant - 1) / (size - 3));
    return one * linear + two * pair_spread;
}

/* Var Z of one relevant item, from the same sums. */
static inline double variance_of_single(Pair w, Pair ww, int64_t n, int64_t l, int64_t s)
{
    double spread = minus(ww, over(times(w, w), exactly(s))).hi;
    spread += w.hi * w.hi * ((l - s) / (s * (double)l));
    return (n + 1.0) * (n + 1.0) * (spread / l);
}

/* Var Z by a walk through the places. */
static inline double variance_of_few(int64_t k, int64_t n, int64_t l, int64_t m, int64_t s, Doubles room)
{
    Doubles a = PART(ROW(room, 0), 0, s), b = PART(ROW(room, 1), 0, s), row = PART(ROW(room, 2), 0, s);
    double last = (double)(k + l);
    for (int64_t j = 0; j < s; j++) {
        int64_t rank = k + j + 1;
        /* Less the last value, where that is no end: the variance does not change, and nothing cancels. */
        AT(b, j) = l == s ? (l - j - 1) / (rank * last) : 1.0 / rank;
        AT(a, j) = (n + 1) * AT(b, j);
    }
    return m == 1 ? variance_of_one(a, l) : variance_of(a, b, row, l, m);
}

/* What a tie adds to a sum of precisions. */
typedef struct {
    double lower, expected, upper, variance;
} Terms;

/* The terms of a tie of which so many places count. */
static inline Terms terms_of_tie(
    int64_t before, int64_t ahead, int64_t length, int64_t relevant, int64_t places,
    const WeightTables *harmonic, Doubles room)
{
    Doubles sums = harmonic->sums, squares = harmonic->squares;
    double upper = precisions(sums, before, ahead, relevant < places ? relevant : places).hi;
    Terms terms = {upper, upper, upper, 0.0};
    if (relevant == length)
        return terms;

    /* At worst the relevant items are last: those that do not fit below the cutoff come at it. */
    int64_t hits = places - (length - relevant);
    hits = hits > 0 ? hits : 0;
    terms.lower = precisions(sums, before + places - hits, ahead, hits).hi;

    Pair weights = between(sums, before, before + places);
    terms.expected = mean_precisions(ahead + 1, weights, before + 1, length, relevant, places).hi;

    if (places > LONG && before <= FAR * places)
        terms.variance = variance_of_many(
            weights, between(squares, before, before + places), before, ahead, length, relevant, places);
    else if (relevant == 1 && places > SHORT)
        terms.variance = variance_of_single(
            weights, between(squares, before, before + places), ahead, length, places);
    else
        terms.variance = variance_of_few(before, ahead, length, relevant, places, room);
    return terms;
}

KERNEL void precision_terms(
    Longs k, Longs n, Longs l, Longs m, Longs s, const WeightTables *harmonic, Doubles room, Doubles terms)
{
    for (int64_t t = 0; t < k.length; t++) {
        Terms found = terms_of_tie(AT(k, t), AT(n, t), AT(l, t), AT(m, t), AT(s, t), harmonic, room);
        AT2(terms, 0, t) = found.lower;
        AT2(terms, 1, t) = found.expected;
        AT2(terms, 2, t) = found.upper;
        AT2(terms, 3, t) = found.variance;
    }
}

#endif
