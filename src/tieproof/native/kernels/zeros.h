/* Items that share no term with a query: engine/zeros.py. */

#include "types.h"

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
                total += of_query[each * step] == 0 ? AT(weight, each) : 0;
            for (int64_t each = c; total > before && AT(item, q) < 0; each++)
                if (of_query[each * step] == 0)
                    AT(item, q) = start + each;
            c = stop < width ? AT2(targets->run, i, 1) - start : width;
            i++;
        }
        AT(count, q) += total;
    }
}

/* Replace the zeros of a tile. */
KERNEL void OF(hide_zeros)(Reals entries, double hidden)
{
    for (int64_t r = 0; r < entries.length; r++) {
        REAL *restrict row = ROW(entries, r).at;
        for (int64_t c = 0; c < entries.columns; c++)
            row[c] = row[c] == 0 ? (REAL)hidden : row[c];
    }
}
