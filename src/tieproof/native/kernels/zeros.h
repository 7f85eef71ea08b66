/* Items that share no term with a query: engine/zeros.py. */

#include "masks.h"
#include "structures.h"

/* Add the weights of the zeros of each query, which is a row of the tile or, if `turned`, a column; item[q] is one of
   these items, and -1 before. The items begin with `start`, and have the weights. */
KERNEL void OF(count_zeros)(
    Reals entries, bool turned, const Targets *targets, int64_t start, Longs weight, Longs count, Longs item)
{
    int64_t width = weight.length, step = turned ? entries.stride : 1;
    for (int64_t q = 0; q < count.length; q++) {
        int64_t row = AT(targets->row, q), i = AT(targets->first, q), last = AT(targets->last, q), total = 0;
        const REAL *of_query = turned ? &AT2(entries, 0, row) : &AT2(entries, row, 0);
        while (i < last && AT2(targets->run, i, 1) <= start)
            i++;
        for (int64_t c = 0; c < width;) {
            int64_t stop = width;
            if (i < last && AT2(targets->run, i, 0) < start + width)
                stop = AT2(targets->run, i, 0) > start ? AT2(targets->run, i, 0) - start : 0;
            int64_t before = total;
            for (int64_t each = c; each < stop; each++)
                total += OF(is_apart)(of_query[each * step]) ? AT(weight, each) : 0;
            for (int64_t each = c; total > before && AT(item, q) < 0; each++)
                if (OF(is_apart)(of_query[each * step]))
                    AT(item, q) = start + each;
            c = stop < width ? AT2(targets->run, i, 1) - start : width;
            i++;
        }
        AT(count, q) += total;
    }
}

/* Add the weights of the items of a tile, from `start` on, that are not listed, for each query; those of row r are
   first[r] … first[r + 1]-1. before[i] = the weight of the items of the tile before item i, and apart[r] = the first item
   that shares no term with row r. */
KERNEL void OF(count_unlisted)(
    const OF(NearPairs) *pairs, const Targets *targets, Longs first, Longs before, int64_t start, Longs apart,
    Longs count, Longs item)
{
    int64_t width = before.length - 1;
    Ints run = targets->run;
    for (int64_t r = 0; r < apart.length; r++)
        for (int64_t q = AT(first, r); q < AT(first, r + 1); q++) {
            int64_t last = AT(targets->last, q), i = first_run(run, AT(targets->first, q), last, start);
            AT(count, q) += AT(before, width);
            for (; i < last && AT2(run, i, 0) < start + width; i++) {
                int64_t from = AT2(run, i, 0) - start, to = AT2(run, i, 1) - start;
                AT(count, q) -= AT(before, to < width ? to : width) - AT(before, from > 0 ? from : 0);
            }
            if (AT(item, q) < 0 && AT(apart, r) < width)
                AT(item, q) = start + AT(apart, r);
        }
    for (int64_t p = 0; p < pairs->row.length; p++) {
        int64_t r = AT(pairs->row, p), i = AT(pairs->item, p), weight = AT(before, i + 1) - AT(before, i);
        for (int64_t q = AT(first, r); q < AT(first, r + 1); q++) {
            int64_t last = AT(targets->last, q), place = first_run(run, AT(targets->first, q), last, start + i);
            AT(count, q) -= place < last && AT2(run, place, 0) <= start + i ? 0 : weight;
        }
    }
}

/* Hide the zeros of a tile behind all thresholds. */
KERNEL void OF(hide_zeros)(Reals entries)
{
    for (int64_t r = 0; r < entries.length; r++) {
        REAL *restrict row = ROW(entries, r).at;
        for (int64_t c = 0; c < entries.columns; c++)
            row[c] = OF(is_apart)(row[c]) ? -(REAL)INFINITY : row[c];
    }
}
