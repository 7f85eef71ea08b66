/* The parts of counting a row that do not depend on the items' type: the table of buckets, slots and levels:
   engine/counting.py. */

#ifndef TIEPROOF_TABLE_H
#define TIEPROOF_TABLE_H

#include "structures.h"

/* Buckets per threshold, and beside these; the driver makes room for them. */
#define BUCKETS 8
#define SOME 256

/* The highest bit of an entry, and the others. */
#define TOUCHED 0x8000
#define NUMBER 0x7fff

/* Entries that are written together, and how many there is room for beyond the last. */
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

/* Fill in how many thresholds are above each bucket and, in the highest bit, whether the interval of one touches it:
   it has the buckets first[t] … last[t], and both fall. From the lowest bucket up: what is written too far is written
   again. */
APART void make_table(
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

/* Count all items as their buckets suggest, but list those that a threshold may be near to; return how many. These
   are counted, too, but with the highest bit of their entries set: in slots that nobody looks at. */
APART int64_t count_by_bucket(
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

/* Add items to the slots that were found for them, a loop of its own: where a slot is known late, the processor
   waits for it before it reads the next one. */
APART void add_to_slots(
    const uint32_t *restrict slot,
    const uint32_t *restrict close,
    int64_t items,
    const int32_t *restrict weight,
    int32_t *restrict slots)
{
    for (int64_t j = 0; j < items; j++)
        slots[slot[j]] += weight[close[j]];
}

/* Levels up to which four counts of each are kept side by side, since neighbours often have the same. */
#define FEW_LEVELS 512

/* How many items there are at each level and above. */
APART void count_from_above(
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

/* From how many items there are at each level and above to those before each threshold, whose levels fall, and at it. */
APART void part_by_level(
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
APART void count_at_ties(const int32_t *restrict gap, int64_t count, const int32_t *restrict equal, int32_t *restrict slots)
{
    int64_t next = count;
    for (int64_t t = count - 1; t >= 0; t--) {
        slots[next] += equal[t]; /* none where a tie goes on */
        next = gap[t] == CONTINUED ? next : t;
    }
}

#endif
