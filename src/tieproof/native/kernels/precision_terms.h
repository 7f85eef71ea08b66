/* The contribution of one tie to a sum of precisions at worst, on average and at best, and its variance:
   measures/precision_sums.py. */

#ifndef TIEPROOF_PRECISION_TERMS_H
#define TIEPROOF_PRECISION_TERMS_H

#include "arrangements.h"
#include "weighted_sums.h"

/* Variances over s places after k items are computed in closed form if s > LONG and k <= FAR · s. Their
   cancellation grows as (k/s)^5. Pairs have a relative error of about 1e-30; at these limits, about 1e-14 remains. */
#define LONG 32
#define FAR 200

/* Up to this number of places, the variance for a single relevant item is summed place by place; for more places,
   running sums are faster. */
#define SHORT 64

/* The sum of the precisions at `count` relevant items from rank k+1 on. */
INLINED Pair precisions(Doubles sums, int64_t k, int64_t n, int64_t count)
{
    return plus(times(between(sums, k, k + count), pair((double)(n - k))), pair((double)count));
}

/* (m/l) sum_{i=0..s-1} (first + i rho)/(rank + i), where rho = (m-1)/(l-1), from the sum of 1/(rank + i). */
INLINED Pair mean_precisions(int64_t first, Pair inverses, int64_t rank, int64_t l, int64_t m, int64_t s)
{
    int64_t others = l > 1 ? l - 1 : 1;
    Pair sum = times(exactly(first * others - (m - 1) * rank), inverses);
    sum = times(plus(sum, exactly((m - 1) * s)), exactly(m));
    return over(sum, exactly(l * others));
}

/* Var Z in constant time. Every sum is expressed by w = sum 1/r and ww = sum 1/r² over the ranks r of the places. */
INLINED double variance_of_many(Pair w, Pair ww, int64_t k, int64_t ahead, int64_t l, int64_t m, int64_t s)
{
    double n = ahead, size = l, relevant = m;
    Pair first = pair(-(double)(k + 1)), length = pair(size);
    Pair before = plus(times(w, first), pair((double)s));                           /* sum (i-1) w */
    Pair before_w = plus(times(ww, first), w);                                      /* sum (i-1) w² */
    Pair before_before = plus(times(before_w, first), before);                      /* sum (i-1)² w² */
    Pair pairs = times(minus(times(w, w), ww), pair(0.5));                          /* sum_{i<j} w w */
    Pair pairs_before = plus(times(pairs, first), before);                          /* sum_{i<j} (i-1) w w */
    Pair row_row = plus(plus(before_before, before_w), times(pairs_before, pair(4.0))); /* sum r² */

    /* Each difference is multiplied by its denominator, and divided at the end: after the cancellation, doubles
       are precise enough. */
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

/* Var Z for a single relevant item, from w and ww. */
static inline double variance_of_single(Pair w, Pair ww, int64_t n, int64_t l, int64_t s)
{
    double spread = minus(ww, over(times(w, w), exactly(s))).hi;
    spread += w.hi * w.hi * ((l - s) / (s * (double)l));
    return (n + 1.0) * (n + 1.0) * (spread / l);
}

/* Var Z, computed place by place. */
static inline double variance_of_few(int64_t k, int64_t n, int64_t l, int64_t m, int64_t s, Doubles room)
{
    Doubles a = PART(ROW(room, 0), 0, s), b = PART(ROW(room, 1), 0, s), row = PART(ROW(room, 2), 0, s);
    double last = (double)(k + l);
    for (int64_t j = 0; j < s; j++) {
        int64_t rank = k + j + 1;
        /* If all places count, the last value is subtracted from all: the variance stays the same, and nothing
           cancels. */
        AT(b, j) = l == s ? (l - j - 1) / (rank * last) : 1.0 / rank;
        AT(a, j) = (n + 1) * AT(b, j);
    }
    return m == 1 ? variance_of_one(a, l) : variance_of(a, b, row, l, m);
}

/* Whether the variance of a tie is computed in closed form by `variance_of_many`. */
static inline bool is_many(int64_t k, int64_t l, int64_t m, int64_t s)
{
    return m < l && s > LONG && k <= FAR * s;
}

/* The variance of the contribution of another tie, of which the first s places count. */
static inline double variance_of_precisions(
    int64_t k, int64_t n, int64_t l, int64_t m, int64_t s, const WeightTables *harmonic, Doubles room)
{
    if (m == l)
        return 0.0;
    if (m > 1 || s <= SHORT)
        return variance_of_few(k, n, l, m, s, room);
    return variance_of_single(between(harmonic->sums, k, k + s), between(harmonic->squares, k, k + s), n, l, s);
}

/* Write the sums of precisions of `count` ties at worst, on average and at best. At worst, the relevant items are
   at the last places of the tie; of these, only the places above the cutoff count. This is a separate function,
   because then compilers vectorize its loops. */
static __attribute__((noinline)) void find_sums(
    int64_t count, const int64_t *restrict k, const int64_t *restrict n, const int64_t *restrict l,
    const int64_t *restrict m, const int64_t *restrict s, Doubles sums, double *restrict lower,
    double *restrict expected, double *restrict upper)
{
    for (int64_t i = 0; i < count; i++)
        upper[i] = precisions(sums, k[i], n[i], m[i] < s[i] ? m[i] : s[i]).hi;
    for (int64_t i = 0; i < count; i++) {
        int64_t others = l[i] - m[i], last = s[i] > others ? s[i] - others : 0;
        lower[i] = precisions(sums, k[i] + s[i] - last, n[i], last).hi;
    }
    for (int64_t i = 0; i < count; i++)
        expected[i] = mean_precisions(n[i] + 1, between(sums, k[i], k[i] + s[i]), k[i] + 1, l[i], m[i], s[i]).hi;
    for (int64_t i = 0; i < count; i++)
        if (m[i] == l[i])
            lower[i] = expected[i] = upper[i];
}

/* Ties of which the first s places count, and their contributions to sums of precisions. So many ties are
   processed together. */
#define SIDE_BY_SIDE 64
typedef struct {
    int64_t k[SIDE_BY_SIDE], n[SIDE_BY_SIDE], l[SIDE_BY_SIDE], m[SIDE_BY_SIDE], s[SIDE_BY_SIDE];
    double lower[SIDE_BY_SIDE], expected[SIDE_BY_SIDE], upper[SIDE_BY_SIDE], variance[SIDE_BY_SIDE];
} SomeTies;

/* Write the variances of ties with many places, side by side, as `find_sums` does. */
static __attribute__((noinline)) void find_variances_of_many(
    int64_t count, SomeTies *restrict ties, Doubles sums, Doubles squares)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t k = ties->k[i], s = ties->s[i];
        Pair w = between(sums, k, k + s), ww = between(squares, k, k + s);
        ties->variance[i] = variance_of_many(w, ww, k, ties->n[i], ties->l[i], ties->m[i], s);
    }
}

/* Write the contributions of the first `count` ties. */
static inline void find_terms(SomeTies *ties, int64_t count, const WeightTables *harmonic, Doubles room)
{
    find_sums(count, ties->k, ties->n, ties->l, ties->m, ties->s, harmonic->sums, ties->lower, ties->expected, ties->upper);
    SomeTies many;
    int64_t place[SIDE_BY_SIDE], found = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t k = ties->k[i], n = ties->n[i], l = ties->l[i], m = ties->m[i], s = ties->s[i];
        if (is_many(k, l, m, s)) {
            many.k[found] = k, many.n[found] = n, many.l[found] = l, many.m[found] = m, many.s[found] = s;
            place[found++] = i;
        } else {
            ties->variance[i] = variance_of_precisions(k, n, l, m, s, harmonic, room);
        }
    }
    find_variances_of_many(found, &many, harmonic->sums, harmonic->squares);
    for (int64_t i = 0; i < found; i++)
        ties->variance[place[i]] = many.variance[i];
}

KERNEL void precision_terms(
    Longs k, Longs n, Longs l, Longs m, Longs s, const WeightTables *harmonic, Doubles room, Doubles terms)
{
    SomeTies ties;
    for (int64_t first = 0; first < k.length; first += SIDE_BY_SIDE) {
        int64_t some = k.length - first < SIDE_BY_SIDE ? k.length - first : SIDE_BY_SIDE;
        for (int64_t i = 0; i < some; i++) {
            ties.k[i] = AT(k, first + i);
            ties.n[i] = AT(n, first + i);
            ties.l[i] = AT(l, first + i);
            ties.m[i] = AT(m, first + i);
            ties.s[i] = AT(s, first + i);
        }
        find_terms(&ties, some, harmonic, room);
        for (int64_t i = 0; i < some; i++) {
            AT2(terms, 0, first + i) = ties.lower[i];
            AT2(terms, 1, first + i) = ties.expected[i];
            AT2(terms, 2, first + i) = ties.upper[i];
            AT2(terms, 3, first + i) = ties.variance[i];
        }
    }
}

#endif
