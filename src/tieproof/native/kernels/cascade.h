/* The contributions of the ties of a ranking to the expected reciprocal rank of the item at which a reader stops:
   measures/families/cascade.py.

   The reader stops at each item with a probability of its own, which is 0 for items that are not relevant. `stops`
   contains the probabilities of the relevant items of a tie in descending order. A hit is a relevant item that the
   reader reaches. */

#ifndef TIEPROOF_CASCADE_H
#define TIEPROOF_CASCADE_H

#include "measures.h"

#define FORGOTTEN 0x1p-80 /* Readers who continue with a smaller probability change no digit. */

/* A tie of l items after k other items. Only its first s places count, which are above the cutoff. */
typedef struct {
    int64_t k, l, s;
    Doubles stops;
} CascadeTie;

typedef struct {
    int64_t alike, mixed;
} MostHits;

static inline CascadeTie cascade_tie(Longs k, Longs l, Longs m, Longs s, Longs first, Doubles stops, int64_t t)
{
    return (CascadeTie){AT(k, t), AT(l, t), AT(s, t), PART(stops, AT(first, t), AT(first, t) + AT(m, t))};
}

static inline bool are_alike(CascadeTie tie)
{
    return AT(tie.stops, 0) == AT(tie.stops, tie.stops.length - 1);
}

static inline bool is_ambiguous(CascadeTie tie)
{
    return tie.s > 0 && (tie.stops.length < tie.l || !are_alike(tie));
}

/* The number of hits that count. By Maclaurin's inequality, the mean probability of continuing after h hits is at
   most the h-th power of the mean probability of continuing after one hit. Hits do not count once this bound is
   below FORGOTTEN. */
static inline int64_t hits_that_count(CascadeTie tie)
{
    int64_t hits = 0, most = tie.stops.length < tie.s ? tie.stops.length : tie.s;
    double sum = 0.0;
    for (int64_t j = 0; j < tie.stops.length; j++)
        sum += 1.0 - AT(tie.stops, j);
    for (double on = 1.0; hits < most && on >= FORGOTTEN; hits++)
        on *= sum / (double)tie.stops.length;
    return hits;
}

/* The value if the relevant items take the places after `before` other items, with the largest probabilities first
   (`falling`) or last. */
static inline double cascade_of_row(CascadeTie tie, int64_t before, bool falling)
{
    double value = 0.0, on = 1.0;
    for (int64_t j = 0; j < tie.stops.length && before + j < tie.s; j++) {
        double stop = AT(tie.stops, falling ? j : tie.stops.length - 1 - j);
        value += on * stop / (double)(tie.k + before + j + 1);
        on *= 1.0 - stop;
    }
    return value;
}

/* Compute mean and variance if all relevant items have the same probability of stopping, place by place from the
   last.

   For each number h of hits so far, the rows of `room` contain the weight of the next hit; the mean contribution
   of the remaining places; how much larger this contribution is if the place before is a hit instead of another
   item, times the number of remaining relevant items; and the variance. All terms are positive. The third row is a
   sum over ranks: a random one of the remaining relevant items is moved forward to the place before, rank by rank,
   and when it passes another relevant item, the two exchange their roles. */
static inline void spread_of_alike(CascadeTie tie, Doubles room, double *mean, double *variance)
{
    int64_t m = tie.stops.length, hits = hits_that_count(tie);
    double stop = AT(tie.stops, 0), on = 1.0;
    double *restrict weight = ROW(room, 0).at, *restrict value = ROW(room, 1).at;
    double *restrict more = ROW(room, 2).at, *restrict spread = ROW(room, 3).at;
    for (int64_t h = 0; h <= hits; h++) {
        weight[h] = h < hits ? stop * on : 0.0;
        value[h] = spread[h] = 0.0;
        more[h] = weight[h] * (double)(m - h) / (double)(tie.k + tie.s);
        on *= 1.0 - stop;
    }
    for (int64_t place = tie.s - 1; place >= 0; place--) {
        int64_t others = tie.l - m, first = place > others ? place - others : 0;
        double left = (double)(tie.l - place), rank = (double)(tie.k + place + 1);
        double step = place ? 1.0 / ((double)(tie.k + place) * rank) : 0.0;
        int64_t last = hits <= place ? hits : place + 1;
        for (int64_t h = first; h < last; h++) {
            double to_come = (double)(m - h), share = to_come / left, rest = (double)(others - (place - h)) / left;
            double change = more[h] / to_come;
            spread[h] = share * spread[h + 1] + rest * spread[h] + share * rest * change * change;
            value[h] = share * (weight[h] / rank + value[h + 1]) + rest * value[h];
            more[h] = step * weight[h] * to_come + (share * more[h + 1] + rest * more[h]);
        }
    }
    *mean = value[0];
    *variance = spread[0];
}

/* The rows of the room with the high and the low parts of row i of a table of pairs, which begins at row `from`. */
#define HI(room, from, i) (ROW(room, (from) + 2 * (i)).at)
#define LO(room, from, i) (ROW(room, (from) + 2 * (i) + 1).at)

static inline Pair tabled(Doubles room, int64_t from, int64_t i, int64_t j)
{
    return (Pair){HI(room, from, i)[j], LO(room, from, i)[j]};
}

static inline void put(Doubles room, int64_t from, int64_t i, int64_t j, Pair value)
{
    HI(room, from, i)[j] = value.hi;
    LO(room, from, i)[j] = value.lo;
}

/* Update row j of the means of Q_i Q_j when the n-th item joins. Row j - 1 still contains its values before that. */
static inline void join_row(
    double *restrict hi, double *restrict lo, const double *restrict hi_before, const double *restrict lo_before,
    int64_t j, int64_t n, Pair on)
{
    Pair share = over(pair(1.0), exactly(n)), twice = times(times(on, on), share), behind = times(exactly(n - j), share);
    on = times(on, share);
    for (int64_t i = 0; i <= j; i++) {
        Pair sum = times((Pair){hi[i], lo[i]}, behind);
        sum = plus(sum, times(times((Pair){hi_before[i], lo_before[i]}, on), pair((double)(j - i))));
        hi[i] = sum.hi;
        lo[i] = sum.lo;
    }
    for (int64_t i = 1; i <= j; i++) {
        Pair front = times(times((Pair){hi_before[i - 1], lo_before[i - 1]}, twice), pair((double)i));
        Pair sum = plus((Pair){hi[i], lo[i]}, front);
        hi[i] = sum.hi;
        lo[i] = sum.lo;
    }
}

/* Write the mean of Q_i Q_j to row j of the table, for i <= j <= hits, where Q_i is the probability of continuing
   after the first i hits.

   Items join one by one. Each is among the first i items, among the next j - i, or behind these, with the
   probabilities of a random order. */
static inline void mean_products(CascadeTie tie, int64_t hits, Doubles room)
{
    for (int64_t j = 0; j <= hits; j++)
        for (int64_t i = 0; i <= hits; i++)
            put(room, 0, j, i, pair(i + j == 0 ? 1.0 : 0.0));
    for (int64_t n = 1; n <= tie.stops.length; n++) {
        Pair on = minus(pair(1.0), pair(AT(tie.stops, n - 1)));
        for (int64_t j = hits < n ? hits : n; j > 0; j--)
            join_row(HI(room, 0, j), LO(room, 0, j), HI(room, 0, j - 1), LO(room, 0, j - 1), j, n, on);
    }
}

/* Convert the table of Q_i Q_j to the table of B_i B_j for 1 <= i <= j, where B_i = Q_(i-1) - Q_i. Column 0 is
   left as it is. */
static inline void mean_products_of_steps(int64_t hits, Doubles room)
{
    for (int64_t j = hits; j > 0; j--)
        for (int64_t i = j; i > 0; i--) {
            Pair left = i < j ? tabled(room, 0, j - 1, i) : tabled(room, 0, j, i - 1);
            Pair same = plus(tabled(room, 0, j - 1, i - 1), tabled(room, 0, j, i));
            put(room, 0, j, i, minus(same, plus(tabled(room, 0, j, i - 1), left)));
        }
}

/* share, rest : the probabilities that the place contains a hit, or another item; at_rank : `share` divided by the
   rank */
typedef struct {
    Pair share, rest, at_rank;
} CascadePlace;

/* What is expected from a place on, after h hits, computed from what is expected after the place. */
INLINED Pair ahead_of(CascadePlace at, Pair step, Pair after_hit, Pair after_other)
{
    return plus(plus(times(step, at.at_rank), times(after_hit, at.share)), times(after_other, at.rest));
}

static inline void step_back(
    double *restrict hi, double *restrict lo, const double *restrict hi_hit, const double *restrict lo_hit,
    const double *restrict hi_step, const double *restrict lo_step, int64_t h, CascadePlace at)
{
    for (int64_t i = 1; i <= h; i++) {
        Pair step = {hi_step[i], lo_step[i]}, hit = {hi_hit[i], lo_hit[i]};
        Pair ahead = ahead_of(at, step, hit, (Pair){hi[i], lo[i]});
        hi[i] = ahead.hi;
        lo[i] = ahead.lo;
    }
}

/* Compute mean and variance in pairs if the probabilities of stopping differ. The probability B_i that the reader
   stops at the i-th hit is independent of the rank of that hit. The mean square therefore needs the means of all B_i
   B_j, and the places one by one from the last.

   After the table of B_i B_j, the room contains values for each number h of hits so far. For 1 <= i <= h, row h
   contains the mean of sum_j B_i B_j / rank of hit j over the hits j to come; for i = 0, it contains the mean of
   sum_j B_j / rank of hit j. The last row contains the mean squares. */
static inline void spread_of_mixed(CascadeTie tie, Doubles room, double *mean, double *variance)
{
    int64_t m = tie.stops.length, hits = hits_that_count(tie), ahead = 2 * (hits + 1), squares = 2 * ahead;
    mean_products(tie, hits, room);
    mean_products_of_steps(hits, room);
    for (int64_t h = 0; h <= hits; h++) {
        put(room, squares, 0, h, pair(0.0));
        for (int64_t i = 0; i <= hits; i++)
            put(room, ahead, h, i, pair(0.0));
    }
    for (int64_t place = tie.s - 1; place >= 0; place--) {
        int64_t others = tie.l - m, first = place > others ? place - others : 0;
        Pair left = exactly(tie.l - place), over_rank = over(pair(1.0), exactly(tie.k + place + 1));
        for (int64_t h = first; h < hits && h <= place; h++) {
            CascadePlace at = {over(exactly(m - h), left), over(exactly(others - (place - h)), left), {0.0, 0.0}};
            at.at_rank = times(at.share, over_rank);
            Pair hit = tabled(room, ahead, h + 1, h + 1);
            Pair square = plus(times(tabled(room, 0, h + 1, h + 1), over_rank), plus(hit, hit));
            square = ahead_of(at, square, tabled(room, squares, 0, h + 1), tabled(room, squares, 0, h));
            put(room, squares, 0, h, square);
            Pair step = minus(tabled(room, 0, h, 0), tabled(room, 0, h + 1, 0));
            put(room, ahead, h, 0, ahead_of(at, step, tabled(room, ahead, h + 1, 0), tabled(room, ahead, h, 0)));
            step_back(
                HI(room, ahead, h), LO(room, ahead, h), HI(room, ahead, h + 1), LO(room, ahead, h + 1),
                HI(room, 0, h + 1), LO(room, 0, h + 1), h, at);
        }
    }
    Pair value = tabled(room, ahead, 0, 0);
    double spread = minus(tabled(room, squares, 0, 0), times(value, value)).hi;
    *mean = value.hi;
    *variance = spread > 0.0 ? spread : 0.0;
}

KERNEL MostHits most_hits(Longs k, Longs l, Longs m, Longs s, Longs first, Doubles stops)
{
    MostHits most = {0, 0};
    for (int64_t t = 0; t < k.length; t++) {
        CascadeTie tie = cascade_tie(k, l, m, s, first, stops, t);
        if (!is_ambiguous(tie))
            continue;
        int64_t hits = hits_that_count(tie), *of = are_alike(tie) ? &most.alike : &most.mixed;
        *of = hits > *of ? hits : *of;
    }
    return most;
}

KERNEL void cascade_terms(
    Longs k, Longs l, Longs m, Longs s, Longs first, Doubles stops, Doubles alike, Doubles mixed, Doubles terms)
{
    for (int64_t t = 0; t < k.length; t++) {
        CascadeTie tie = cascade_tie(k, l, m, s, first, stops, t);
        double upper = cascade_of_row(tie, 0, true), lower = upper, mean = upper, variance = 0.0, on = 1.0;
        if (is_ambiguous(tie)) {
            lower = cascade_of_row(tie, tie.l - tie.stops.length, false);
            if (are_alike(tie))
                spread_of_alike(tie, alike, &mean, &variance);
            else
                spread_of_mixed(tie, mixed, &mean, &variance);
            mean = mean < lower ? lower : mean > upper ? upper : mean;
            double most = (upper - mean) * (mean - lower); /* the variance is at most this (Bhatia and Davis 2000) */
            variance = !are_alike(tie) && variance > most ? most : variance;
        }
        for (int64_t j = 0; j < tie.stops.length; j++)
            on *= 1.0 - AT(tie.stops, j);
        AT2(terms, 0, t) = lower;
        AT2(terms, 1, t) = mean;
        AT2(terms, 2, t) = upper;
        AT2(terms, 3, t) = variance;
        AT2(terms, 4, t) = on;
    }
}

KERNEL void add_cascades(Longs starts, Doubles terms, Doubles estimates)
{
    for (int64_t q = 0; q < starts.length - 1; q++) {
        double on = 1.0;
        for (int64_t t = AT(starts, q); t < AT(starts, q + 1); t++) {
            for (int64_t row = 0; row < 3; row++)
                AT2(estimates, row, q) += on * AT2(terms, row, t);
            AT2(estimates, 3, q) += on * on * AT2(terms, 3, t);
            on *= AT2(terms, 4, t);
        }
    }
}

#endif
