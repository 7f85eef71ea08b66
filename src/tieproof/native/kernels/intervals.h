/* Find the positions of intervals of nearness among the thresholds of their queries: engine/resolve.py. */

#ifndef TIEPROOF_INTERVALS_H
#define TIEPROOF_INTERVALS_H

#include "structures.h"

/* After this many numbers, the last number is compared: if no two numbers can be distinguished, all of them are
   nearer. */
#define FAR_ENOUGH 8

/* The end of those of the descending numbers start … stop-1 that are larger than `value` after `shift` is added to
   them. It is usually near `start`. With `or_equal`, numbers that are equal to `value` are included. */
static inline int64_t end_of_nearer(
    Doubles falling, int64_t start, int64_t stop, double shift, double value, bool or_equal)
{
    int64_t step = 1;
    while (start + step <= stop) {
        double number = AT(falling, start + step - 1) + shift;
        if (number < value || (number == value && !or_equal))
            break;
        start += step;
        step *= 2;
        if (step == FAR_ENOUGH && start < stop) {
            number = AT(falling, stop - 1) + shift;
            if (number > value || (number == value && or_equal))
                return stop;
        }
    }
    stop = stop < start + step ? stop : start + step - 1;
    while (start < stop) {
        int64_t middle = (start + stop) >> 1;
        double number = AT(falling, middle) + shift;
        if (number < value || (number == value && !or_equal))
            stop = middle;
        else
            start = middle + 1;
    }
    return start;
}

KERNEL int64_t settle(
    Doubles low,
    Doubles high,
    Longs starts,
    Longs stops,
    Doubles key,
    Doubles reach,
    const Counts *counts,
    const Undecided *undecided)
{
    Undecided of = *undecided;
    Ints gap = counts->gap, equal = counts->equal;
    int64_t rest = 0;
    for (int64_t i = 0; i < low.length; i++) {
        int64_t q = AT(of.query, i), start = AT(starts, q), stop = start + AT(of.last, i);
        double near = AT(high, i) + AT(reach, q);
        int64_t first = end_of_nearer(key, start + AT(of.first, i), stop, 0.0, near, false);
        int64_t last = end_of_nearer(key, first, stop, AT(reach, q), AT(low, i), true);
        bool is_equal = first < last && AT(low, i) == AT(high, i) && AT(reach, q) == 0.0;
        if (is_equal || first == last) {
            if (last < AT(stops, q))
                AT(gap, last) += (int32_t)AT(of.weight, i);
            if (is_equal)
                AT(equal, first) += (int32_t)AT(of.weight, i);
            continue;
        }
        AT(of.query, rest) = q;
        AT(of.item, rest) = AT(of.item, i);
        AT(of.weight, rest) = AT(of.weight, i);
        AT(of.first, rest) = first - start;
        AT(of.last, rest) = last - start;
        rest++;
    }
    return rest;
}

#endif
