/* Count the pairs that tiles could not decide, and those that have no tile. */

#ifndef TIEPROOF_RESOLVE_H
#define TIEPROOF_RESOLVE_H

#include "exact.h"
#include "ranking.h"

/* Count the items that a tile could not decide, by sharper intervals and by exact keys: engine/resolve.py. */

KERNEL int64_t place_intervals(
    Doubles low, Doubles high, Longs origin, const Undecided *items, Longs starts, Longs stops, Ints gap)
{
    Undecided of = *items;
    int64_t rest = 0;
    for (int64_t here = 0; here < of.query.length; here += TOGETHER) {
        int64_t count = of.query.length - here < TOGETHER ? of.query.length - here : TOGETHER;
        double nearest[TOGETHER] = {0.0};
        int64_t first[TOGETHER] = {0}, end[TOGETHER] = {0};
        for (int64_t j = 0; j < count; j++) {
            int64_t shift = AT(origin, here + j);
            nearest[j] = AT(high, here + j);
            first[j] = shift + AT(of.first, here + j);
            end[j] = shift + AT(of.last, here + j);
        }
        search(low.at, nearest, end, first);
        for (int64_t j = 0; j < count; j++) {
            int64_t i = here + j, q = AT(of.query, i), shift = AT(origin, i), start = first[j];
            int64_t last = end_of_nearer(high, start, end[j], 0.0, AT(low, i), true);
            if (start == last) {
                int64_t place = AT(starts, q) + last - shift;
                if (place < AT(stops, q))
                    AT(gap, place) += (int32_t)AT(of.weight, i);
                continue;
            }
            AT(of.query, rest) = q;
            AT(of.item, rest) = AT(of.item, i);
            AT(of.weight, rest) = AT(of.weight, i);
            AT(of.first, rest) = start - shift;
            AT(of.last, rest) = last - shift;
            rest++;
        }
    }
    return rest;
}

/* `common` is the number of digits in the leading numbers of the keys of each base. */
KERNEL void leading(Longs keys, Longs base, Longs common, Longs lead)
{
    for (int64_t i = 0; i < keys.length; i++)
        AT(common, i) = keys.columns;
    int64_t most = (int64_t)1 << (62 - DIGIT);
    for (int64_t i = 0; i < keys.length; i++) {
        int64_t one = AT(base, i), first = 0, digit = 0;
        while (digit < AT(common, one) && -most < first && first < most) {
            first = first * BASE + AT2(keys, i, digit) - AT2(keys, one, digit);
            digit++;
        }
        AT(common, one) = digit;
    }
    for (int64_t i = 0; i < keys.length; i++) {
        int64_t one = AT(base, i), number = 0;
        for (int64_t digit = 0; digit < AT(common, one); digit++)
            number = number * BASE + AT2(keys, i, digit) - AT2(keys, one, digit);
        AT(lead, i) = number;
    }
}

/* The sign of key a - key b in lexicographic order. */
static inline int sign_of_difference(Longs keys, int64_t a, int64_t b)
{
    for (int64_t digit = 0; digit < keys.columns; digit++)
        if (AT2(keys, a, digit) != AT2(keys, b, digit))
            return AT2(keys, a, digit) > AT2(keys, b, digit) ? 1 : -1;
    return 0;
}

/* Count an item as equal to the tie that starts at `head`, and as nearer than the next tie. */
static inline void add_equal(const Counts *counts, int64_t head, int64_t end, int32_t weight)
{
    AT(counts->equal, head) += weight;
    for (head++; head < end; head++) {
        if (AT(counts->gap, head) != CONTINUED) {
            AT(counts->gap, head) += weight;
            return;
        }
    }
}

/* Search for each item among the thresholds that it may meet, by `lead` or by the whole key. */
KERNEL void place_by_keys(
    Longs keys, Longs lead, Longs origin, const Undecided *items, Longs starts, Longs stops, const Counts *counts)
{
    Undecided of = *items;
    for (int64_t i = 0; i < of.query.length; i++) {
        int64_t own = AT(starts, AT(of.query, i)), end = AT(stops, AT(of.query, i)), shift = AT(origin, i);
        int64_t start = shift + AT(of.first, i), last = shift + AT(of.last, i), length = last - start;
        int32_t weight = (int32_t)AT(of.weight, i);
        while (length > 0) {
            int64_t half = length >> 1, is_nearer = AT(lead, start + half) > AT(lead, i);
            start += is_nearer * (half + 1);
            length = half - is_nearer * (2 * half + 1 - length);
        }
        int64_t stop = start < last && AT(lead, start) == AT(lead, i) ? last : start;
        bool is_equal = false;
        while (start < stop && !is_equal) {
            int64_t middle = (start + stop) >> 1;
            int order = sign_of_difference(keys, i, middle);
            is_equal = order == 0;
            if (order >= 0)
                stop = middle;
            else
                start = middle + 1;
        }
        if (is_equal) {
            int64_t head = own + stop - shift;
            while (AT(counts->gap, head) == CONTINUED)
                head--;
            add_equal(counts, head, end, weight);
        } else if (own + start - shift < end) {
            AT(counts->gap, own + start - shift) += weight;
        }
    }
}

/* Pairs that are counted or kept without tiles: engine/resolve.py, engine/keeping.py. */

KERNEL void hide_in_rows(Ints run, Longs first, Longs last, int64_t start, Floats nearness)
{
    for (int64_t q = 0; q < nearness.length; q++)
        hide_float(run, AT(first, q), AT(last, q), start, ROW(nearness, q));
}

/* The k-th largest of the values start[q] … start[q + 1] - 1 of each query; if they are fewer, minus infinity. */
KERNEL void floors(Longs start, Doubles value, int64_t k, Doubles floor)
{
    for (int64_t q = 0; q < floor.length; q++) {
        int64_t first = AT(start, q), count = AT(start, q + 1) - first;
        AT(floor, q) = count >= k ? kth_largest_double(value.at + first, count, k) : -INFINITY;
    }
}

#endif
