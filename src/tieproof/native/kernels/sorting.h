/* Sort a row of doubles together with their columns: into as many buckets as doubles, then within the buckets. */

#ifndef TIEPROOF_SORTING_H
#define TIEPROOF_SORTING_H

#include "array.h"

/* The largest number of entries for which insertion sort is fastest. */
#define SMALL_RUN 24

/* How often the entries of a cell are divided into cells again before they are sorted by comparisons; values may
   be distributed unevenly. */
#define DEEPEST 3

/* The number of entries whose cells are computed together. */
#define CHUNK 256

/* The largest number of bits in half of a cell's number, so that the counts stay in the nearest cache. */
#define HALF_BITS 11

/* Working memory for the entries of a row. */
typedef struct {
    double *value;
    int32_t *column;
    uint64_t *key, *other;
} SortRoom;

/* Sift an entry down the heap whose largest value is first. */
static inline void sift(double *value, int32_t *column, int64_t at, int64_t count)
{
    double moving = value[at];
    int32_t its_column = column[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && value[child + 1] > value[child];
        if (value[child] <= moving)
            break;
        value[at] = value[child];
        column[at] = column[child];
        at = child;
    }
    value[at] = moving;
    column[at] = its_column;
}

static inline void sort_by_heap(double *value, int32_t *column, int64_t count)
{
    for (int64_t at = count / 2 - 1; at >= 0; at--)
        sift(value, column, at, count);
    for (int64_t last = count - 1; last > 0; last--) {
        double largest = value[0];
        int32_t its_column = column[0];
        value[0] = value[last];
        column[0] = column[last];
        value[last] = largest;
        column[last] = its_column;
        sift(value, column, 0, last);
    }
}

static inline void sort_by_insertion(double *value, int32_t *column, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        double moving = value[i];
        int32_t its_column = column[i];
        int64_t at = i;
        for (; at > 0 && value[at - 1] > moving; at--) {
            value[at] = value[at - 1];
            column[at] = column[at - 1];
        }
        value[at] = moving;
        column[at] = its_column;
    }
}

/* The number of each value's cell. All cells have the same width, and their numbers increase with the values. */
static inline void cells_of(const double *value, int64_t count, double low, double scale, int32_t last, int32_t *cell)
{
    for (int64_t i = 0; i < count; i++) {
        double place = (value[i] - low) * scale;
        cell[i] = place < last ? (int32_t)place : last;
    }
}

static inline void range_of(const double *value, int64_t count, double *lowest, double *highest)
{
    double low[8], high[8]; /* several, because otherwise each minimum would wait for the one before */
    for (int64_t lane = 0; lane < 8; lane++)
        low[lane] = high[lane] = value[0];
    for (int64_t i = 0; i < count; i += 8) {
        int64_t start = i + 8 <= count ? i : count - 8;
        for (int64_t lane = 0; lane < 8; lane++) {
            low[lane] = value[start + lane] < low[lane] ? value[start + lane] : low[lane];
            high[lane] = value[start + lane] > high[lane] ? value[start + lane] : high[lane];
        }
    }
    *lowest = low[0];
    *highest = high[0];
    for (int64_t lane = 1; lane < 8; lane++) {
        *lowest = low[lane] < *lowest ? low[lane] : *lowest;
        *highest = high[lane] > *highest ? high[lane] : *highest;
    }
}

/* Replace each count by the sum of the counts before it. */
static inline void ends_before(int32_t *counts, int64_t length)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < length; i++) {
        int32_t here = counts[i];
        counts[i] = sum;
        sum += here;
    }
}

/* Sort finite values and their columns: first by the numbers of their cells, the lower half of the bits before the
   upper half; then within each cell, which usually contains one value. */
static void sort_row(double *value, int32_t *column, int64_t count, SortRoom room, int64_t depth)
{
    if (count <= SMALL_RUN) {
        sort_by_insertion(value, column, count);
        return;
    }
    double low, high;
    range_of(value, count, &low, &high);
    if (low == high)
        return;
    int64_t bits = 4;
    while (bits < HALF_BITS && count >> (2 * bits - 7) > 0)
        bits++;
    int64_t half = (int64_t)1 << bits;
    double scale = half * half / (high - low);
    if (depth == DEEPEST || !(scale > 0.0 && scale <= DBL_MAX)) {
        sort_by_heap(value, column, count);
        return;
    }

    int32_t firsts[1 << HALF_BITS], lasts[1 << HALF_BITS], cell[CHUNK];
    memset(firsts, 0, (size_t)half * sizeof *firsts);
    memset(lasts, 0, (size_t)half * sizeof *lasts);
    for (int64_t start = 0; start < count; start += CHUNK) {
        int64_t some = count - start < CHUNK ? count - start : CHUNK;
        cells_of(value + start, some, low, scale, (int32_t)(half * half - 1), cell);
        for (int64_t i = 0; i < some; i++)
            room.key[start + i] = (uint64_t)cell[i] << 32 | (uint64_t)(start + i);
        for (int64_t i = 0; i < some; i++) {
            firsts[cell[i] >> bits]++;
            lasts[cell[i] & (half - 1)]++;
        }
    }
    ends_before(firsts, half);
    ends_before(lasts, half);
    for (int64_t i = 0; i < count; i++)
        room.other[lasts[room.key[i] >> 32 & (uint64_t)(half - 1)]++] = room.key[i];
    for (int64_t i = 0; i < count; i++)
        room.key[firsts[room.other[i] >> (32 + bits)]++] = room.other[i];

    memcpy(room.value, value, (size_t)count * sizeof *value);
    memcpy(room.column, column, (size_t)count * sizeof *column);
    for (int64_t i = 0; i < count; i++) {
        value[i] = room.value[(uint32_t)room.key[i]];
        column[i] = room.column[(uint32_t)room.key[i]];
    }
    for (int64_t start = 0, stop; start < count; start = stop) {
        for (stop = start + 1; stop < count && room.key[stop] >> 32 == room.key[start] >> 32; stop++)
            ;
        if (stop == start + 1)
            continue;
        SortRoom rest = {room.value + start, room.column + start, room.key + start, room.other + start};
        sort_row(value + start, column + start, stop - start, rest, depth + 1);
    }
}

#endif
