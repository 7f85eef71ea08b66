/* Where a query's thresholds and left-out items are: a coarse guide to its keys, its intervals, its runs. */

#ifndef TIEPROOF_SEARCH_H
#define TIEPROOF_SEARCH_H

#include "types.h"

/* A coarse table of each query's keys, so that searches among them are short: engine/ranked.py. */

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

/* Find the positions of intervals of nearness among the thresholds of their queries: engine/resolve.py. */

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

/* Search for items among the thresholds of their queries. */

/* Items that are searched for together. */
#define TOGETHER 8

/* The smallest first step among keys: if most items have the same step, the processor predicts the loop's length. */
#define FEW_KEYS 8

/* The range of keys in which to search for the first one that is not nearer than `nearest`. All keys before the
   range are nearer, and all keys after it are not. */
static inline void bracket(const Thresholds *thresholds, int64_t q, double nearest, int64_t *first, int64_t *end)
{
    int64_t start = AT(thresholds->start, q), stop = AT(thresholds->stop, q);
    double top = AT(thresholds->key, start), scale = AT(thresholds->scale, q);
    *first = start, *end = stop;
    if (top <= nearest) {
        *end = start;
    } else if (scale > 0.0) {
        int64_t table = place_of(start, q), steps = steps_of(start, stop);
        int64_t step = step_of(nearest, top, scale, steps);
        if (step + 1 < steps)
            *end = start + AT(thresholds->guide, table + step + 1);
        if (step > 0)
            *first = start + AT(thresholds->guide, table + step);
    }
}

/* Move each `first` to the first key up to `end` that is not nearer. All searches take the same steps together, so
   that they overlap in the processor. */
static inline void search(const double *key, const double *nearest, const int64_t *end, int64_t *first)
{
    int64_t longest = 2 * FEW_KEYS - 1;
    for (int j = 0; j < TOGETHER; j++)
        longest = end[j] - first[j] > longest ? end[j] - first[j] : longest;
    for (int64_t step = (int64_t)1 << (63 - __builtin_clzll((uint64_t)longest)); step; step >>= 1) {
        for (int j = 0; j < TOGETHER; j++) {
            int64_t ahead = first[j] + step, asked = ahead <= end[j] ? ahead - 1 : 0;
            first[j] = ((ahead <= end[j]) & (key[asked] > nearest[j])) ? ahead : first[j];
        }
    }
}

/* The items that a query leaves out of the count, as ascending runs of consecutive items: engine/ranked.py. */

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

/* Convert flags of one byte each to a list of the positions of the flags that are set. */

#ifdef __BMI2__
#include <immintrin.h>
#endif

/* The number of positions whose flags are computed and listed together, and of rows and columns of a tile that are
   transposed together. */
#define GROUP 64

#ifdef __AVX512F__
static const int32_t SIXTEEN[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#endif

/* Append the positions that are set in a block of flags, which begins at position `start`; return the new number
   of listed positions. Many flags are tested together, because few are usually set. `close` has room for eight
   more positions. */
static inline int64_t list_flags(const uint8_t *flag, uint32_t start, uint32_t *close, int64_t found)
{
#ifdef __AVX512F__
    __m512i set = _mm512_loadu_si512(flag);
    for (uint64_t left = _mm512_test_epi8_mask(set, set); left; left >>= 16, start += 16) {
        __mmask16 part = (__mmask16)left;
        int count = __builtin_popcount(part);
        __m512i places = _mm512_add_epi32(_mm512_set1_epi32((int32_t)start), _mm512_loadu_si512(SIXTEEN));
        _mm512_mask_storeu_epi32(
            close + found, (__mmask16)((1u << count) - 1), _mm512_maskz_compress_epi32(part, places));
        found += count;
    }
#else
    for (uint32_t place = 0; place < GROUP; place += 8) {
        uint64_t word;
        memcpy(&word, flag + place, sizeof word);
        if (!word)
            continue;
#ifdef __BMI2__
        uint64_t places = _pext_u64(0x0706050403020100, word * 255);
        uint32_t *next = close + found;
        for (int i = 0; i < 8; i++)
            next[i] = start + place + (uint32_t)(places >> (8 * i) & 7);
        found += __builtin_popcountll(word);
#else
        for (uint32_t i = 0; i < 8; i++) {
            close[found] = start + place + i;
            found += flag[place + i];
        }
#endif
    }
#endif
    return found;
}

#endif
