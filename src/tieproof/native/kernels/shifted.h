/* The ends of relevant items' distances under noise, and their merging with thresholds: engine/shifted.py. */

#ifndef TIEPROOF_SHIFTED_H
#define TIEPROOF_SHIFTED_H

#include "types.h"

typedef struct {
    double size, most;
} PossibleEnds;

/* The ends of some queries: what `merge_ends` reads, and what it writes. */
typedef struct {
    Longs length, ties;
    Doubles tie_key, end, key;
} Unmerged;

typedef struct {
    Doubles end;
    Bytes is_far;
    Doubles key, both;
    Bytes is_tie;
} Merged;

static inline double far_end(double distance, double radius, PossibleEnds steps)
{
    double end = distance + 2 * radius;
    return (0.25 - floor(-((end > steps.most ? steps.most : end) / steps.size))) * steps.size;
}

static inline double near_end(double distance, double radius, PossibleEnds steps)
{
    double end = distance - 2 * radius;
    return (floor((end < -steps.most ? -steps.most : end) / steps.size) - 0.25) * steps.size;
}

KERNEL int64_t step_ends(Doubles least, Doubles most, Doubles radius, const PossibleEnds *steps, Doubles ends, Longs unsure)
{
    int64_t count = 0;
    Doubles far = ROW(ends, 0), near = ROW(ends, 1);
    for (int64_t i = 0; i < least.length; i++) {
        AT(far, i) = far_end(AT(least, i), AT(radius, i), *steps);
        AT(near, i) = near_end(AT(least, i), AT(radius, i), *steps);
        bool same = AT(far, i) == far_end(AT(most, i), AT(radius, i), *steps) &&
                    AT(near, i) == near_end(AT(most, i), AT(radius, i), *steps);
        AT(unsure, count) = i;
        count += !same;
    }
    return count;
}

/* The end of the run of falling numbers that begins at `start`. */
static inline int64_t end_of_run(Doubles value, int64_t start, int64_t count)
{
    int64_t stop = start + 1;
    while (stop < count && AT(value, stop) <= AT(value, stop - 1))
        stop++;
    return stop < count ? stop : count;
}

/* Sort the first `count` numbers of the room, which are a few falling runs, with their places, so that they fall; equal
   numbers keep their order. Returns the row of the room in which they are then. */
static inline int64_t merge_runs(const RoomToSort *room, int64_t count)
{
    int64_t row = 0;
    for (int64_t runs = 2; runs > 1; row = 1 - row) {
        Doubles value = ROW(room->value, row), merged = ROW(room->value, 1 - row);
        Ints place = ROW(room->place, row), moved = ROW(room->place, 1 - row);
        runs = 0;
        for (int64_t start = 0, stop; start < count; start = stop, runs++) {
            int64_t middle = end_of_run(value, start, count), first = start, second = middle;
            stop = end_of_run(value, middle, count);
            for (int64_t i = start; i < stop; i++) {
                bool later = first == middle || (second < stop && AT(value, second) > AT(value, first));
                int64_t from = later ? second++ : first++;
                AT(merged, i) = AT(value, from);
                AT(moved, i) = AT(place, from);
            }
        }
    }
    return row;
}

KERNEL void merge_ends(const Unmerged *ends, bool by_key, const RoomToSort *room, const Merged *merged)
{
    int64_t first_end = 0, first_tie = 0, first = 0;
    Doubles value = ROW(room->value, 0);
    Ints place = ROW(room->place, 0);
    for (int64_t q = 0; q < ends->length.length; q++) {
        int64_t length = AT(ends->length, q), ties = AT(ends->ties, q);
        for (int64_t i = 0; i < 2 * length; i++) {
            int64_t near = i >= length, from = first_end + i - near * length;
            Doubles key = ROW(ends->key, near), end = ROW(ends->end, near);
            AT(value, i) = by_key ? AT(key, from) : -AT(end, from);
            AT(place, i) = (int32_t)i;
        }
        Ints order = ROW(room->place, merge_runs(room, 2 * length));
        for (int64_t i = 0; i < 2 * length; i++) {
            int64_t near = AT(order, i) >= length, from = first_end + AT(order, i) - near * length;
            Doubles key = ROW(ends->key, near), end = ROW(ends->end, near);
            AT(merged->end, 2 * first_end + i) = AT(end, from);
            AT(merged->is_far, 2 * first_end + i) = !near;
            AT(merged->key, 2 * first_end + i) = AT(key, from);
        }
        int64_t count = ties + 2 * length;
        for (int64_t i = 0; i < count; i++) {
            AT(value, i) = i < ties ? AT(ends->tie_key, first_tie + i) : AT(merged->key, 2 * first_end + i - ties);
            AT(place, i) = (int32_t)i;
        }
        int64_t row = merge_runs(room, count);
        Doubles falling = ROW(room->value, row);
        order = ROW(room->place, row);
        for (int64_t i = 0; i < count; i++) {
            AT(merged->both, first + i) = AT(falling, i);
            AT(merged->is_tie, first + i) = AT(order, i) < ties;
        }
        first_end += length;
        first_tie += ties;
        first += count;
    }
}

#endif
