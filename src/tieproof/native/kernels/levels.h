/* Hamming distances of labelled items: engine/levels.py. */

#ifndef TIEPROOF_LEVELS_H
#define TIEPROOF_LEVELS_H

#include "processor.h"
#include "structures.h"

/* The number of items that stay in the cache while all queries are compared with them. */
#define BLOCK 4096

/* The distances of items from a query. */
static inline void distances_from(
    const uint64_t *restrict query,
    const uint64_t *restrict item,
    int64_t count,
    int64_t words,
    uint32_t *restrict distance)
{
    if (words == 1) {
        uint64_t own = query[0];
        for (int64_t i = 0; i < count; i++)
            distance[i] = (uint32_t)__builtin_popcountll(own ^ item[i]);
        return;
    }
    if (words == 2) {
        uint64_t first = query[0], second = query[1];
        for (int64_t i = 0; i < count; i++)
            distance[i] = (uint32_t)(__builtin_popcountll(first ^ item[2 * i]) + __builtin_popcountll(second ^ item[2 * i + 1]));
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t differing = 0;
        for (int64_t w = 0; w < words; w++)
            differing += (uint64_t)__builtin_popcountll(query[w] ^ item[i * words + w]);
        distance[i] = (uint32_t)differing;
    }
}

typedef void Distances(const uint64_t *, const uint64_t *, int64_t, int64_t, uint32_t *);

APART void distances(const uint64_t *query, const uint64_t *item, int64_t count, int64_t words, uint32_t *distance)
{
    distances_from(query, item, count, words, distance);
}

#ifdef __AVX512F__
/* The distances if the processor counts the bits of eight words at once, as most processors of the highest level do. */
__attribute__((target("avx512vpopcntdq"), noinline)) static void distances_by_eight(
    const uint64_t *query, const uint64_t *item, int64_t count, int64_t words, uint32_t *distance)
{
    distances_from(query, item, count, words, distance);
}
#endif

static inline Distances *fastest_distances(void)
{
#ifdef __AVX512F__
    if (counts_bits_by_eight())
        return distances_by_eight;
#endif
    return distances;
}

/* Count the items at each distance. Four counts are kept side by side, because neighboring items are often
   equally far. */
static inline void add_levels(
    Distances *distances_of,
    const uint64_t *query,
    Words items,
    int64_t start,
    int64_t stop,
    Places position,
    Longs lanes,
    Longs counts)
{
    if (start >= stop)
        return;
    uint32_t *distance = position.at;
    distances_of(query, items.at + start * items.columns, stop - start, items.columns, distance);
    int64_t length = stop - start, whole = length / 4 * 4, levels = counts.length;
    int64_t *restrict a = &AT2(lanes, 0, 0), *restrict b = &AT2(lanes, 1, 0);
    int64_t *restrict c = &AT2(lanes, 2, 0), *restrict d = &AT2(lanes, 3, 0);
    for (int64_t i = 0; i < whole; i += 4) {
        a[distance[i]]++;
        b[distance[i + 1]]++;
        c[distance[i + 2]]++;
        d[distance[i + 3]]++;
    }
    for (int64_t i = whole; i < length; i++)
        a[distance[i]]++;
    for (int64_t level = 0; level < levels; level++) {
        AT(counts, level) += a[level] + b[level] + c[level] + d[level];
        a[level] = b[level] = c[level] = d[level] = 0;
    }
}

/* The position, or the nearer end of the block if it is outside the block. */
static inline int64_t within(int64_t place, int64_t first, int64_t last)
{
    return place < first ? first : place > last ? last : place;
}

/* `counts` has a row for the relevant items of each query, followed by a row for the other items of each. */
KERNEL void count_levels(Words queries, Words items, Longs start, Longs stop, Places position, Longs lanes, Longs counts)
{
    int64_t count = queries.length;
    Distances *distances_of = fastest_distances();
    for (int64_t first = 0; first < items.length; first += BLOCK) {
        int64_t last = first + BLOCK < items.length ? first + BLOCK : items.length;
        for (int64_t q = 0; q < count; q++) {
            const uint64_t *query = &AT2(queries, q, 0);
            int64_t middle = within(AT(start, q), first, last), end = within(AT(stop, q), first, last);
            Longs relevant = ROW(counts, q), others = ROW(counts, count + q);
            add_levels(distances_of, query, items, middle, end, position, lanes, relevant);
            add_levels(distances_of, query, items, first, middle, position, lanes, others);
            add_levels(distances_of, query, items, end, last, position, lanes, others);
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
