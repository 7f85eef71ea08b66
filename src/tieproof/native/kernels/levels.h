/* Items at each level of codes, which follows from the number of bits that differ: engine/levels.py. */

#ifndef TIEPROOF_LEVELS_H
#define TIEPROOF_LEVELS_H

#include "differing_bits.h"

/* The number of counts that are kept side by side for each level, because neighboring items are often at the same. */
#define LANES 4

/* The most items of a run: their places are found for several queries together, and then counted query by query. */
#define IN_RUN 512

/* The place of the count of each item of a piece. */
static inline void places_of(
    const int32_t *restrict differing, const int32_t *restrict offset, int32_t count, uint32_t *restrict place)
{
    for (int32_t i = 0; i < count; i++)
        place[i] = (uint32_t)(LANES * (differing[i] + offset[i]) + i % LANES);
}

/* Count items first … last-1 of a run. */
static inline void add_levels(const uint32_t *restrict place, int64_t first, int64_t last, uint32_t *restrict lanes)
{
#pragma GCC unroll 16
    for (int64_t i = first; i < last; i++)
        lanes[place[i]]++;
}

/* Add up the lanes of each level, and clear them. */
static inline void add_lanes(Longs counts, uint32_t *restrict lanes)
{
    for (int64_t level = 0; level < counts.length; level++, lanes += LANES) {
        AT(counts, level) += (int64_t)lanes[0] + lanes[1] + lanes[2] + lanes[3];
        memset(lanes, 0, LANES * sizeof *lanes);
    }
}

/* The position in a run, or its nearer end. */
static inline int64_t inside(int64_t place, int64_t first, int64_t count)
{
    return place < first ? 0 : place > first + count ? count : place - first;
}

/* `counts` has a row for the relevant items of each query, followed by a row for the other items of each. */
KERNEL void count_levels(
    Chars queries, Bytes blocks, Ints offset, Longs start, Longs stop, int64_t way, Places lanes, Longs counts)
{
    DotWay bits = way_to_differ(way);
    int32_t differing[HIGHEST][WIDEST];
    uint32_t place[HIGHEST][IN_RUN];
    int64_t count = queries.length, items = offset.length, levels = counts.columns;
    int64_t width = bits.blocks * IN_BLOCK, longest = IN_RUN / width * width;
    uint32_t *of_relevant = lanes.at, *of_others = lanes.at + HIGHEST * LANES * levels;
    for (int64_t first = 0; first < count; first += bits.rows) {
        int64_t end = first;
        for (int64_t run = 0; run < items; run += longest) {
            int64_t length = longest < items - run ? longest : items - run;
            for (int64_t i = 0; i < length; i += width) {
                int64_t some = width < length - i ? width : length - i;
                end = multiply_rows(bits, queries, first, blocks, (run + i) / IN_BLOCK, differing);
                for (int64_t row = 0; row < end - first; row++)
                    places_of(differing[row], offset.at + run + i, (int32_t)some, place[row] + i);
            }
            for (int64_t q = first; q < end; q++) {
                const uint32_t *own = place[q - first];
                int64_t shift = (q - first) * LANES * levels;
                int64_t from = inside(AT(start, q), run, length), to = inside(AT(stop, q), run, length);
                add_levels(own, 0, from, of_others + shift);
                add_levels(own, from, to, of_relevant + shift);
                add_levels(own, to, length, of_others + shift);
            }
        }
        for (int64_t q = first; q < end; q++) {
            add_lanes(ROW(counts, q), of_relevant + (q - first) * LANES * levels);
            add_lanes(ROW(counts, count + q), of_others + (q - first) * LANES * levels);
        }
    }
}

KERNEL void ties_of_levels(Longs counts, Longs ties)
{
    Longs query = ROW(ties, 0), k = ROW(ties, 1), n = ROW(ties, 2), l = ROW(ties, 3), m = ROW(ties, 4);
    int64_t queries = counts.length / 2, tie = 0;
    for (int64_t q = 0; q < queries; q++) {
        int64_t nearer = 0, found = 0;
        for (int64_t level = 0; level < counts.columns; level++) {
            int64_t relevant = AT2(counts, q, level), others = AT2(counts, queries + q, level);
            if (relevant > 0) {
                AT(query, tie) = q;
                AT(k, tie) = nearer;
                AT(n, tie) = found;
                AT(l, tie) = relevant + others;
                AT(m, tie) = relevant;
                tie++;
            }
            nearer += relevant + others;
            found += relevant;
        }
    }
}

#endif
