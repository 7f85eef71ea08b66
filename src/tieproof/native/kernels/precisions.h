/* Sums of precisions over ties. */

#ifndef TIEPROOF_PRECISIONS_H
#define TIEPROOF_PRECISIONS_H

#include "measures.h"

/* The variance of a sum over the places of a tie and over the pairs of its places.

   Within a tie of l items, of which m are relevant, the measures of the average-precision family are

       Z = sum_i X_i a_i + sum_{i<j} X_i X_j b_j,

   where X_i is 1 if place i contains a relevant item, and otherwise 0. All arrangements of the relevant items are
   equally likely. The textbook formula E[Z²] - E[Z]² loses digits by cancellation. Here Z is split into orthogonal
   parts (Hoeffding's decomposition for sampling without replacement), so that only squares are added:

       Var Z = m (l-m) / (l (l-1)) · sum_i (g_i - mean g)²
             + m (m-1) (l-m) (l-m-1) / (l (l-1) (l-2) (l-3)) · sum_{i<j} B_ij²

   The matrix of pairs has the entries b_max(i,j), and 0 on its diagonal. The sum of its row i is
   r_i = (i-1) b_i + sum_{j>i} b_j. In the first sum, g_i = a_i + (m-1)/(l-2) r_i. In the second sum, B is the matrix
   of pairs with its rows and columns centered: B_ij = b_max(i,j) - (r_i + r_j)/(l-2) + sum r / ((l-1)(l-2)). Adding a
   constant to all a_i or to all b_i changes nothing. */

/* Var Z for a single relevant item, which adds a_i at place i of a tie of l items, and 0 at places beyond the last
   a_i. */
static inline double variance_of_one(Doubles a, int64_t l)
{
    double mean = 0.0, squares = 0.0;
    for (int64_t j = 0; j < a.length; j++)
        mean += AT(a, j);
    mean /= l;
    for (int64_t j = 0; j < a.length; j++)
        squares += (AT(a, j) - mean) * (AT(a, j) - mean);
    return (squares + (l - a.length) * mean * mean) / l;
}

/* Var Z from a and b at the first places of a tie of l items; at later places, both are 0. `row` is working memory
   of the same length. */
static inline double variance_of(Doubles a, Doubles b, Doubles row, int64_t l, int64_t m)
{
    int64_t size = a.length, beyond = l - size;
    double n = l, relevant = m, others = l > 2 ? l - 2 : 1;
    double share = (relevant - 1) / others;
    double all_b = 0.0;
    for (int64_t j = 0; j < size; j++)
        all_b += AT(b, j);
    double up_to_here = 0.0, total_g = 0.0, total_row = 0.0;
    for (int64_t j = 0; j < size; j++) {
        up_to_here += AT(b, j);
        AT(row, j) = j * AT(b, j) + (all_b - up_to_here);
        total_g += AT(a, j) + share * AT(row, j);
        total_row += AT(row, j);
    }
    double mean = total_g / n, center = total_row / ((n - 1.0) * others);
    double linear = 0.0, pairs = 0.0, outside = 0.0, sum_x = 0.0, scatter = 0.0;
    for (int64_t j = 0; j < size; j++) {
        double distance = AT(a, j) + share * AT(row, j) - mean;
        linear += distance * distance;
        double x = AT(row, j) / others;
        double mean_before = j ? sum_x / j : 0.0;
        double away = AT(b, j) - x + center - mean_before;
        pairs += j * (away * away) + scatter;
        double step = x - mean_before;
        scatter += j / (j + 1.0) * step * step;
        sum_x += x;
        outside += (center - x) * (center - x);
    }
    linear += beyond * mean * mean;
    pairs += beyond * outside + beyond * (beyond - 1) / 2.0 * center * center;
    double one = relevant / n * ((n - relevant) / (n - 1));
    double two = one * ((relevant - 1) / others) * ((n - relevant - 1) / (l > 3 ? l - 3 : 1));
    return one * linear + two * pairs;
}

/* The contribution of one tie to a sum of precisions at worst, on average and at best, and its variance:
   measures/precision_sums.py. */

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

/* The contribution of one tie to a sum of the means of the precisions before and at its relevant items:
   measures/precision_sums.py. */

/* The sum of 1/i over i = k … k+length-1, without i = 0. */
static inline Pair inverses_before(Doubles sums, int64_t k, int64_t length)
{
    int64_t start = k > 1 ? k - 1 : 0, stop = k + length - 1;
    return between(sums, start, stop > start ? stop : start);
}

/* The sum over `count` hits, at the ranks from k+1 on, of the mean of the precision at the hit and the precision
   before it. */
static inline Pair trapezoids(Doubles sums, int64_t k, int64_t n, int64_t count)
{
    Pair before = plus(times(inverses_before(sums, k, count), pair((double)(n - k))), pair((double)count));
    return times(plus(precisions(sums, k, n, count), before), pair(0.5));
}

/* The expected value of that sum over the orders of a tie. At rank 1, the precision before a hit is 0/0, and
   counts as 1. For k = 0, the formula of `mean_precisions` counts rho = (m-1)/(l-1) for the first place; `first`
   adds the difference from 1. */
static inline Pair mean_trapezoids(Doubles sums, int64_t k, int64_t n, int64_t l, int64_t m)
{
    Pair first = times(exactly(k == 0 ? l - m : 0), pair((double)m));
    first = over(over(first, exactly(l)), exactly(l > 1 ? l - 1 : 1));
    Pair at = mean_precisions(n + 1, between(sums, k, k + l), k + 1, l, m, l);
    Pair before = mean_precisions(n, inverses_before(sums, k, l), k, l, m, l);
    return times(plus(plus(at, before), first), pair(0.5));
}

/* Var Z for a_i = (n u_i + w_i)/2 and b_i = u_i/2, where w_i = 1/(k+i) and u_i = w_(i-1) + w_i.

   At rank 1, the precision before is 1, and no pair of places ends there, so that b has no effect. */
static inline double variance_of_trapezoids(int64_t k, int64_t n, int64_t l, int64_t m, Doubles room)
{
    int64_t last = k + l;
    Doubles a = PART(ROW(room, 0), 0, l), b = PART(ROW(room, 1), 0, l);
    for (int64_t j = 0; j < l; j++) {
        int64_t rank = k + j + 1, before = rank > 1 ? rank - 1 : 1;
        double w = (last - rank) / (rank * (double)last);
        double w_before = (last - 1 - before) / (before * (double)(last > 1 ? last - 1 : 1));
        AT(b, j) = (w_before + w) / 2.0;
        AT(a, j) = n * AT(b, j) + w / 2.0 + (rank == 1 ? 0.5 : 0.0);
    }
    return variance_of(a, b, PART(ROW(room, 2), 0, l), l, m);
}

KERNEL void trapezoid_terms(
    Longs k, Longs n, Longs l, Longs m, const WeightTables *harmonic, Doubles room, Doubles terms)
{
    Doubles sums = harmonic->sums;
    for (int64_t t = 0; t < k.length; t++) {
        int64_t start = AT(k, t), before = AT(n, t), length = AT(l, t), relevant = AT(m, t);
        double upper = trapezoids(sums, start, before, relevant).hi;
        bool certain = relevant == length;
        AT2(terms, 0, t) = certain ? upper : trapezoids(sums, start + length - relevant, before, relevant).hi;
        AT2(terms, 1, t) = certain ? upper : mean_trapezoids(sums, start, before, length, relevant).hi;
        AT2(terms, 2, t) = upper;
        AT2(terms, 3, t) = certain ? 0.0 : variance_of_trapezoids(start, before, length, relevant, room);
    }
}

/* Sums of precisions over the ties of each query, added up in the order of the ties: measures/families/relevant_ranks.py. */

/* Add the precisions at the first of the ties t … stop-1, those of a single item above the cutoff, to the three
   estimates of a query; return the first other tie. The sums stay in registers, and divisions overlap with them. */
static inline int64_t add_first_singles(
    Longs k, Longs n, Longs l, int64_t t, int64_t stop, int64_t last, int64_t q, Doubles estimates)
{
    double worst = AT2(estimates, 0, q), mean = AT2(estimates, 1, q), best = AT2(estimates, 2, q);
    for (; t < stop && AT(l, t) == 1 && AT(k, t) < last; t++) {
        double precision = (AT(n, t) + 1.0) / (AT(k, t) + 1.0);
        worst += precision;
        mean += precision;
        best += precision;
    }
    AT2(estimates, 0, q) = worst;
    AT2(estimates, 1, q) = mean;
    AT2(estimates, 2, q) = best;
    return t;
}

/* Ties above the cutoff are processed in groups, whatever their queries; their contributions are added in the
   order of the ties. */
KERNEL void sum_precisions(
    Longs starts, Longs k, Longs n, Longs l, Longs m, Longs last, const WeightTables *harmonic, Doubles room,
    Doubles divisors, Doubles estimates)
{
    SomeTies ties;
    int64_t of[SIDE_BY_SIDE], tie[SIDE_BY_SIDE], q = 0, t = AT(starts, 0);
    while (q < last.length) {
        int64_t some = 0, several = 0;
        while (q < last.length && some < SIDE_BY_SIDE) {
            if (t == AT(starts, q))
                t = add_first_singles(k, n, l, t, AT(starts, q + 1), AT(last, q), q, estimates);
            if (t >= AT(starts, q + 1) || AT(k, t) >= AT(last, q)) {
                t = AT(starts, ++q);
                continue;
            }
            int64_t places = AT(last, q) - AT(k, t);
            ties.k[several] = AT(k, t);
            ties.n[several] = AT(n, t);
            ties.l[several] = AT(l, t);
            ties.m[several] = AT(m, t);
            ties.s[several] = places < AT(l, t) ? places : AT(l, t);
            several += AT(l, t) > 1;
            of[some] = q;
            tie[some++] = t++;
        }
        find_terms(&ties, several, harmonic, room);
        several = 0;
        for (int64_t i = 0; i < some; i++) {
            if (AT(l, tie[i]) == 1) {
                double precision = (AT(n, tie[i]) + 1.0) / (AT(k, tie[i]) + 1.0);
                for (int64_t row = 0; row < 3; row++)
                    AT2(estimates, row, of[i]) += precision;
                continue;
            }
            AT2(estimates, 0, of[i]) += ties.lower[several];
            AT2(estimates, 1, of[i]) += ties.expected[several];
            AT2(estimates, 2, of[i]) += ties.upper[several];
            AT2(estimates, 3, of[i]) += ties.variance[several];
            several++;
        }
    }
    divide_by_query(divisors, estimates);
}

KERNEL void add_trapezoids(Longs starts, Longs k, Longs n, Longs l, Doubles several, Doubles estimates)
{
    int64_t place = 0;
    for (int64_t q = 0; q < starts.length - 1; q++) {
        for (int64_t t = AT(starts, q); t < AT(starts, q + 1); t++) {
            if (AT(l, t) > 1) {
                for (int64_t i = 0; i < 4; i++)
                    AT2(estimates, i, q) += AT2(several, i, place);
                place++;
                continue;
            }
            double above = AT(n, t), rank = AT(k, t);
            double before = rank > 0.0 ? above / rank : 1.0;
            double precision = (before + (above + 1.0) / (rank + 1.0)) / 2.0;
            for (int64_t i = 0; i < 3; i++)
                AT2(estimates, i, q) += precision;
        }
    }
}

/* The probabilities of the largest precision at the relevant items of one tie: measures/families/interpolated.py.

   A walk down the tie keeps, for a value x and each number of hits, the probability of so many hits if no precision so
   far was x or more. The walks of a block of values are side by side, so that loops over them become vectors. */

/* Move from `here` to `next` what has one more hit at the next place. */
static __attribute__((noinline)) void walk_on(
    double *restrict here, double *restrict next, double hit, double other, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        next[i] += here[i] * hit;
        here[i] *= other;
    }
}

/* Move it to `reached` instead, where the precision of this hit is x or more. */
static __attribute__((noinline)) void reach(
    double *restrict here, double *restrict next, double *restrict reached, const double *restrict x,
    double precision, double hit, double other, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double moved = here[i] * hit, reaching = x[i] <= precision ? moved : 0.0;
        reached[i] += reaching;
        next[i] += moved - reaching;
        here[i] *= other;
    }
}

/* Write the probabilities that no precision of the hits from `first` on, and that any one, is at least each value: the
   rows of `chances`. The values `at` ascend. `room` has a row for each number of hits, and a column for each value of
   a block. Numbers of hits that have the probability 0 are skipped. */
KERNEL void chances_of_precisions(
    int64_t k, int64_t n, int64_t l, int64_t m, int64_t first, Doubles at, Doubles room, Doubles chances)
{
    for (int64_t start = 0; start < at.length; start += room.columns) {
        int64_t count = at.length - start < room.columns ? at.length - start : room.columns, most = 0;
        const double *x = at.at + start;
        double *none = ROW(chances, 0).at + start, *reached = ROW(chances, 1).at + start;
        for (int64_t h = 0; h <= m; h++)
            for (int64_t i = 0; i < count; i++)
                AT2(room, h, i) = h == 0 ? 1.0 : 0.0;
        for (int64_t i = 0; i < count; i++)
            reached[i] = 0.0;
        for (int64_t place = 1; place <= l; place++) {
            int64_t left = l - place + 1, fewest = m > left ? m - left : 0, last = most < m ? most : m - 1;
            for (int64_t h = last; h >= fewest; h--) {
                double hit = (double)(m - h) / (double)left, other = (double)(left - m + h) / (double)left;
                double precision = (double)(n + h + 1) / (double)(k + place);
                double *here = ROW(room, h).at, *next = ROW(room, h + 1).at;
                bool counts = h + 1 >= first;
                if (counts && precision >= x[0])
                    reach(here, next, reached, x, precision, hit, other, count);
                else
                    walk_on(here, next, hit, other, count);
                if (h == most && !(counts && precision >= x[count - 1]))
                    most = h + 1; /* some walk goes on with one more hit */
            }
        }
        for (int64_t i = 0; i < count; i++)
            none[i] = AT2(room, m, i);
    }
}

#endif
