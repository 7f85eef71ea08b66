/* The items that a query leaves out of the count, as ascending runs of consecutive items: engine/ranked.py. */

#ifndef TIEPROOF_MASKS_H
#define TIEPROOF_MASKS_H

#include "array.h"

/* The first of the runs start … stop-1 that ends after `item`. */
static inline int64_t first_run(Ints run, int64_t start, int64_t stop, int64_t item)
{
    while (start < stop) {
        int64_t middle = (start + stop) >> 1;
        if (AT2(run, middle, 1) <= item)
            start = middle + 1;
        else
            stop = middle;
    }
    return start;
}

/* The range of the items start … stop-1 without the items at both ends that a query with these runs leaves out. */
static inline void counted(
    Ints run, int64_t first, int64_t last, int64_t start, int64_t stop, int64_t *left, int64_t *right)
{
    *left = 0, *right = stop - start;
    int64_t place = first_run(run, first, last, start);
    if (place < last && AT2(run, place, 0) <= start) {
        int64_t end = AT2(run, place, 1) - start;
        *left = end < *right ? end : *right;
    }
    place = first_run(run, first, last, stop - 1);
    if (place < last && AT2(run, place, 0) < stop && stop <= AT2(run, place, 1)) {
        int64_t begin = AT2(run, place, 0) - start;
        *right = begin > *left ? begin : *left;
    }
}

/* Drop the items that a query with these runs leaves out of the ascending list; return how many remain. */
static inline int64_t leave_out(Ints run, int64_t first, int64_t last, int64_t column, int64_t found, Places close)
{
    if (!found)
        return found;
    int64_t place = first_run(run, first, last, column + AT(close, 0));
    if (place == last || AT2(run, place, 0) > column + AT(close, found - 1))
        return found;
    int64_t kept = 0;
    for (int64_t i = 0; i < found; i++) {
        int64_t item = column + AT(close, i);
        while (place < last && AT2(run, place, 1) <= item)
            place++;
        AT(close, kept) = AT(close, i);
        kept += place == last || item < AT2(run, place, 0);
    }
    return kept;
}

#endif
