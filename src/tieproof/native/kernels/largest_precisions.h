/* The probabilities of the largest precision at the relevant items of one tie: measures/interpolated.py.

   A walk down the tie keeps, for a value x and each number of hits, the probability of so many hits if no precision so
   far was x or more. The walks of a block of values are side by side, so that loops over them become vectors. */

#ifndef TIEPROOF_LARGEST_PRECISIONS_H
#define TIEPROOF_LARGEST_PRECISIONS_H

#include "array.h"

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
