/* Ties at levels, which follow from the number of bits that differ: engine/levels.py. */

#ifndef TIEPROOF_LEVELS_H
#define TIEPROOF_LEVELS_H

#include "products.h"

/* The number of counts that are kept side by side for each of few levels, because neighboring items are often at the
   same. */
#define LANES 4

/* The most items of a run: their places are found for several queries together, and then counted query by query. */
#define IN_RUN 512

/* The level of an item is offset + bits that differ or, with a table, its entry at half of (this - square). */
typedef struct {
    Ints offset, square;
    Shorts table;
    int64_t number;
} Levels;

/* The relevant items of each query, start … stop-1, one of which may be the query itself, at level `own`. */
typedef struct {
    Longs start, stop, own;
} RelevantMembers;

/* The counts of one query: of all items at each level, and of relevant items; a bit for each level that has any. */
typedef struct {
    uint32_t *all, *relevant, *marks;
} LevelCounts;

/* The counts of query number `i` of a group in `room`. */
static inline LevelCounts counts_of(Places room, int64_t i, int64_t levels, int64_t lanes)
{
    int64_t words = levels / 32 + 1;
    uint32_t *all = room.at + i * ((lanes + 1) * levels + words);
    return (LevelCounts){all, all + lanes * levels, all + (lanes + 1) * levels};
}

/* The place of the count of each item of a piece, or of its level in the table. */
static inline void places_of(
    const Levels *levels, int64_t query, const int32_t *restrict differing, int64_t first, int32_t count,
    uint32_t *restrict place)
{
    const int32_t *restrict offset = levels->offset.at + first;
    if (levels->table.length) {
        int32_t square = AT(levels->square, query);
        for (int32_t i = 0; i < count; i++)
            place[i] = (uint32_t)(differing[i] + offset[i] - square) >> 1;
    } else {
        for (int32_t i = 0; i < count; i++)
            place[i] = (uint32_t)(LANES * (differing[i] + offset[i]) + i % LANES);
    }
}

/* Count all items of a run. */
static inline void add_levels(
    const uint16_t *restrict table, const uint32_t *restrict place, int64_t length, uint32_t *restrict all)
{
    if (table) {
#pragma GCC unroll 16
        for (int64_t i = 0; i < length; i++)
            all[table[place[i]]]++;
    } else {
#pragma GCC unroll 16
        for (int64_t i = 0; i < length; i++)
            all[place[i]]++;
    }
}

/* Count relevant items first … last-1 of a run. */
static inline void add_relevant(
    const uint16_t *table, const uint32_t *place, int64_t first, int64_t last, LevelCounts counts)
{
    for (int64_t i = first; i < last; i++) {
        uint32_t level = table ? table[place[i]] : place[i] / LANES;
        counts.relevant[level]++;
        counts.marks[level / 32] |= (uint32_t)1 << level % 32;
    }
}

/* The position in a run, or its nearer end. */
static inline int64_t inside(int64_t place, int64_t first, int64_t count)
{
    return place < first ? 0 : place > first + count ? count : place - first;
}

/* The sum of the counts first … last-1. */
SEPARATE int64_t sum_of_counts(const uint32_t *counts, int64_t first, int64_t last)
{
    uint32_t sum = 0;
    for (int64_t i = first; i < last; i++)
        sum += counts[i];
    return sum;
}

/* Write the ties of a query with a relevant item from column `tie` on, and return the column after the last one. */
static inline int64_t write_ties_of_levels(
    int64_t query, LevelCounts counts, int64_t levels, int64_t lanes, Longs ties, int64_t tie)
{
    int64_t nearer = 0, found = 0, next = 0;
    for (int64_t word = 0; word <= levels / 32; counts.marks[word++] = 0)
        for (uint32_t left = counts.marks[word]; left; left &= left - 1) {
            int64_t level = 32 * word + __builtin_ctz(left), relevant = counts.relevant[level];
            counts.relevant[level] = 0;
            if (!relevant) /* the query itself */
                continue;
            nearer += sum_of_counts(counts.all, lanes * next, lanes * level);
            next = level + 1;
            int64_t here = sum_of_counts(counts.all, lanes * level, lanes * next);
            AT2(ties, 0, tie) = query;
            AT2(ties, 1, tie) = nearer;
            AT2(ties, 2, tie) = found;
            AT2(ties, 3, tie) = here;
            AT2(ties, 4, tie) = relevant;
            tie++;
            nearer += here;
            found += relevant;
        }
    return tie;
}

/* `room` contains zeros before and after. */
KERNEL int64_t count_levels(
    Chars queries, Bytes blocks, const Levels *levels, const RelevantMembers *members, int64_t way, Places room, Longs ties)
{
    DotWay bits = way_to_differ(way);
    TakenRows some;
    int32_t differing[HIGHEST][WIDEST];
    uint32_t place[HIGHEST][IN_RUN];
    const uint16_t *table = levels->table.length ? levels->table.at : NULL;
    int64_t items = levels->offset.length, lanes = table ? 1 : LANES, tie = 0;
    int64_t width = bits.blocks * IN_BLOCK, longest = IN_RUN / width * width;
    for (int64_t first = 0, end; first < queries.length; first = end) {
        take_rows(bits, queries, first, &some);
        end = some.end;
        for (int64_t run = 0; run < items; run += longest) {
            int64_t length = longest < items - run ? longest : items - run;
            for (int64_t i = 0; i < length; i += width) {
                int64_t count = width < length - i ? width : length - i;
                multiply_rows(bits, &some, queries.columns, blocks, (run + i) / IN_BLOCK, differing);
                for (int64_t q = first; q < end; q++)
                    places_of(levels, q, differing[q - first], run + i, (int32_t)count, place[q - first] + i);
            }
            for (int64_t q = first; q < end; q++) {
                LevelCounts counts = counts_of(room, q - first, levels->number, lanes);
                const uint32_t *own = place[q - first];
                int64_t from = inside(AT(members->start, q), run, length);
                int64_t to = inside(AT(members->stop, q), run, length);
                add_levels(table, own, length, counts.all);
                add_relevant(table, own, from, to, counts);
            }
        }
        for (int64_t q = first; q < end; q++) {
            LevelCounts counts = counts_of(room, q - first, levels->number, lanes);
            if (members->own.length) {
                counts.all[lanes * AT(members->own, q)]--;
                counts.relevant[AT(members->own, q)]--;
            }
            tie = write_ties_of_levels(q, counts, levels->number, lanes, ties, tie);
            memset(counts.all, 0, (size_t)(lanes * levels->number) * sizeof *counts.all);
        }
    }
    return tie;
}

#endif
