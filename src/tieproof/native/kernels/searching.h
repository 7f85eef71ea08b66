/* Search for items among the thresholds of their queries. */

#ifndef TIEPROOF_SEARCHING_H
#define TIEPROOF_SEARCHING_H

#include "guide.h"
#include "intervals.h"

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

#endif
