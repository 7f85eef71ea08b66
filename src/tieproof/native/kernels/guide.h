/* A coarse table of each query's keys, so that searches among them are short: engine/ranked.py. */

#ifndef TIEPROOF_GUIDE_H
#define TIEPROOF_GUIDE_H

#include "array.h"

#define KEYS 8

/* The index at which the table of a query begins; the keys of the query begin at `start`. */
static inline int64_t place_of(int64_t start, int64_t query)
{
    return start / KEYS + query;
}

/* The number of steps of a query whose keys are start … stop-1. */
static inline int64_t steps_of(int64_t start, int64_t stop)
{
    return (stop - start) / KEYS;
}

/* The step of a nearness, 0 … steps-1, counted from the step of the nearest key. */
static inline int64_t step_of(double nearness, double top, double scale, int64_t steps)
{
    double step = (top - nearness) * scale, last = (double)(steps - 1);
    step = step > 0.0 ? step : 0.0;
    return (int64_t)(step < last ? step : last);
}

/* Write the table of a query whose descending keys are start … stop-1. */
static inline void fill_guide(int64_t q, int64_t start, int64_t stop, Doubles key, Ints guide, Doubles scale)
{
    int64_t steps = steps_of(start, stop);
    AT(scale, q) = 0.0;
    if (steps < 2)
        return;
    double top = AT(key, start), extent = top - AT(key, stop - 1);
    if (!(0.0 < extent && extent < INFINITY) || !((double)steps / extent < INFINITY))
        return;
    double per_step = AT(scale, q) = (double)steps / extent;
    int64_t table = place_of(start, q), reached = 0;
    for (int64_t t = start; t < stop; t++) {
        int64_t step = step_of(AT(key, t), top, per_step, steps);
        while (reached < step)
            AT(guide, table + ++reached) = (int32_t)(t - start);
    }
}

KERNEL void fill_guides(Longs queries, Longs start, Longs stop, Doubles key, Ints guide, Doubles scale)
{
    for (int64_t i = 0; i < queries.length; i++) {
        int64_t q = AT(queries, i);
        fill_guide(q, AT(start, q), AT(stop, q), key, guide, scale);
    }
}

#endif
