/* The parts of counting a row that do not depend on the type of the items: the table of buckets, slots and levels:
   engine/counting.py, engine/memory.py. */

#ifndef TIEPROOF_COUNTING_H
#define TIEPROOF_COUNTING_H

#include "types.h"

/* The number of buckets for each threshold, and the number of additional buckets; the driver allocates their
   memory. */
#define BUCKETS 8
#define MORE_BUCKETS 1024

/* The highest bit of an entry of the table, and its other bits. */
#define TOUCHED 0x8000
#define NUMBER 0x7fff

/* The number of entries that are written together; the table has room for as many beyond its last entry. */
#define RUN 32

/* Write an entry from `start` up to `end`, and perhaps beyond. */
static inline void write_run(uint16_t *table, int64_t start, int64_t end, uint16_t entry)
{
    do {
        for (int64_t i = 0; i < RUN; i++)
            table[start + i] = entry;
        start += RUN;
    } while (start < end);
}

/* Fill the table: an entry is the number of thresholds above its bucket, and its highest bit is set if the
   interval of a threshold touches the bucket. The interval of threshold t has the buckets first[t] … last[t], and
   both ends descend. The table is filled from the lowest bucket up, so that entries written beyond an interval are
   overwritten. */
SEPARATE void make_table(
    const uint32_t *restrict first, const uint32_t *restrict last, int64_t count, int64_t size, uint16_t *restrict table)
{
    write_run(table, 0, first[count - 1], (uint16_t)count);
    for (int64_t t = count - 1; t >= 0; t--) {
        int64_t end = t ? first[t - 1] : size, touched = (int64_t)last[t] + 1;
        touched = touched < end ? touched : end;
        write_run(table, first[t], touched, (uint16_t)(t | TOUCHED));
        write_run(table, touched, end, (uint16_t)t);
    }
}

/* Count each item as its bucket suggests, but list the items that may be near a threshold, and return their
   number. These are counted, too, but because the highest bit of their entries is set, in slots that are never
   read. */
SEPARATE int64_t count_by_bucket(
    const uint32_t *restrict bucket,
    int64_t items,
    const uint16_t *restrict table,
    const int32_t *restrict weight,
    int32_t *restrict slots,
    uint32_t *restrict close)
{
    uint32_t found = 0, c = 0;
#define COUNT(i)                              \
    {                                         \
        uint32_t entry = table[bucket[c + i]]; \
        slots[entry] += weight[c + i];        \
        close[found] = c + i;                 \
        found += entry >> 15;                 \
    }
    for (; c + 4 <= (uint32_t)items; c += 4) {
        COUNT(0)
        COUNT(1)
        COUNT(2)
        COUNT(3)
    }
    for (; c < (uint32_t)items; c++)
        COUNT(0)
#undef COUNT
    return found;
}

/* Add items to the slots that were found for them. This is a separate loop, because a processor waits for a slot
   that is known late before it reads the next one. */
SEPARATE void add_to_slots(
    const uint32_t *restrict slot,
    const uint32_t *restrict close,
    int64_t items,
    const int32_t *restrict weight,
    int32_t *restrict slots)
{
    for (int64_t j = 0; j < items; j++)
        slots[slot[j]] += weight[close[j]];
}

/* Up to this number of levels, four counts of each level are kept side by side, because neighbors often have the
   same level. */
#define FEW_LEVELS 512

/* Count the items at each level and above. */
SEPARATE void count_from_above(
    const uint32_t *restrict level, int64_t items, int64_t levels, const int32_t *restrict weight, int32_t *restrict slots)
{
    int64_t lanes = levels <= FEW_LEVELS ? 4 : 1, c = 0;
    memset(slots, 0, (size_t)(lanes * levels) * sizeof *slots);
    if (lanes > 1) {
        for (; c + 4 <= items; c += 4) {
            slots[level[c]] += weight[c];
            slots[levels + level[c + 1]] += weight[c + 1];
            slots[2 * levels + level[c + 2]] += weight[c + 2];
            slots[3 * levels + level[c + 3]] += weight[c + 3];
        }
    }
    for (; c < items; c++)
        slots[level[c]] += weight[c];
    if (lanes > 1)
        for (int64_t i = 0; i < levels; i++)
            slots[i] += slots[levels + i] + slots[2 * levels + i] + slots[3 * levels + i];
    int32_t above = 0;
    for (int64_t i = levels - 1; i >= 0; i--)
        slots[i] = above += slots[i];
}

/* Convert counts of items at each level and above to the numbers of items that are above a threshold but not above
   the one before it, and of items at the threshold. The levels of the thresholds descend. */
SEPARATE void part_by_level(
    const uint32_t *restrict level,
    const int32_t *restrict gap,
    int64_t count,
    const int32_t *restrict from_above,
    int32_t *restrict nearer,
    int32_t *restrict equal)
{
    int32_t before = 0;
    for (int64_t t = 0; t < count; t++) {
        int32_t above = from_above[level[t] + 1], is_first = -(gap[t] != CONTINUED);
        nearer[t] = above - before; /* none where a tie goes on */
        equal[t] = (from_above[level[t]] - above) & is_first;
        before = above;
    }
}

/* Count the items at each tie as nearer than the next tie. */
SEPARATE void count_at_ties(const int32_t *restrict gap, int64_t count, const int32_t *restrict equal, int32_t *restrict slots)
{
    int64_t next = count;
    for (int64_t t = count - 1; t >= 0; t--) {
        slots[next] += equal[t]; /* none where a tie goes on */
        next = gap[t] == CONTINUED ? next : t;
    }
}

#endif
