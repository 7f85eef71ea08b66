/* The table of buckets that engine/buckets.py speaks of. */

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
#define RUN 16

/* Fill in how many thresholds are above each bucket and, in the highest bit, whether the interval of one touches it:
   it has the buckets first[t] … last[t], and both fall. */
static inline void make_table(
    const uint32_t *restrict first, const uint32_t *restrict last, int64_t count, int64_t size, uint16_t *restrict table)
{
    /* From the lowest bucket up: what is written too far is written again. */
    int64_t bucket = 0;
    for (int64_t t = count; t >= 0; t--) {
        int64_t end = t ? first[t - 1] : size;
        do {
            for (int64_t i = 0; i < RUN; i++)
                table[bucket + i] = (uint16_t)t;
            bucket += RUN;
        } while (bucket < end);
        bucket = end;
    }
    for (int64_t t = 0, lowest = size; t < count; t++) {
        int64_t top = last[t] < lowest ? last[t] : lowest - 1;
        for (int64_t b = first[t]; b <= top; b++)
            table[b] |= TOUCHED;
        lowest = first[t];
    }
}

/* For each threshold the first of the next tie. */
static inline void ties_behind(Ints gap, Places behind)
{
    uint32_t next = (uint32_t)gap.length;
    for (int64_t t = gap.length - 1; t >= 0; t--) {
        AT(behind, t) = next;
        if (AT(gap, t) != CONTINUED)
            next = (uint32_t)t;
    }
}

#endif
