/* Buckets that are numbered with 16 bits, so that a vector compares many items with a threshold: lists.inc. */

#ifndef TIEPROOF_LISTS_H
#define TIEPROOF_LISTS_H

#include "types.h"

/* The outermost buckets of items are -OUTER_BUCKET and OUTER_BUCKET; NO_ITEM is below all of them, and fills up
   the last vector. */
#define OUTER_BUCKET INT16_MAX
#define NO_ITEM INT16_MIN

/* The number of thresholds that are compared with an item together, and the number of items in the longest vector. */
#define BUCKET_GROUP 4
#define BUCKET_LANES 32

/* Count up to NEAR_ITEMS items, in whole vectors, above and in the bucket of each of BUCKET_GROUP thresholds. This
   and the next one are separate functions, because compilers do not vectorize their loops inside the loops of
   another function. */
static __attribute__((noinline)) void compare_buckets_with_group(
    const int16_t *bucket, int64_t count, const int16_t threshold[BUCKET_GROUP], int64_t above[BUCKET_GROUP],
    int64_t within[BUCKET_GROUP])
{
    int16_t t0 = threshold[0], t1 = threshold[1], t2 = threshold[2], t3 = threshold[3];
    uint16_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, w0 = 0, w1 = 0, w2 = 0, w3 = 0;
    for (int64_t i = 0; i < count; i++) {
        int16_t b = bucket[i];
        a0 += b > t0;
        a1 += b > t1;
        a2 += b > t2;
        a3 += b > t3;
        w0 += b == t0;
        w1 += b == t1;
        w2 += b == t2;
        w3 += b == t3;
    }
    above[0] = a0;
    above[1] = a1;
    above[2] = a2;
    above[3] = a3;
    within[0] = w0;
    within[1] = w1;
    within[2] = w2;
    within[3] = w3;
}

/* Write the mark of each of BUCKET_GROUP buckets to the items in that bucket. */
static __attribute__((noinline)) void mark_buckets_of_group(
    const int16_t *bucket, int64_t count, const int16_t wanted[BUCKET_GROUP], const uint8_t mark[BUCKET_GROUP],
    uint8_t *marked)
{
    int16_t t0 = wanted[0], t1 = wanted[1], t2 = wanted[2], t3 = wanted[3];
    uint8_t m0 = mark[0], m1 = mark[1], m2 = mark[2], m3 = mark[3];
    for (int64_t i = 0; i < count; i++) {
        int16_t b = bucket[i];
        marked[i] |= (uint8_t)((b == t0 ? m0 : 0) | (b == t1 ? m1 : 0) | (b == t2 ? m2 : 0) | (b == t3 ? m3 : 0));
    }
}

/* List the items with a mark; `count` is a multiple of GLANCE. No branch depends on a single mark, which a
   processor could hardly predict. */
static inline int64_t find_marked(const uint8_t *marked, int64_t count, int16_t *item)
{
    int16_t glance[NEAR_ITEMS / GLANCE + 1];
    int64_t glances = 0, found = 0;
    for (int64_t i = 0; i < count; i += GLANCE) {
        uint64_t any;
        memcpy(&any, marked + i, sizeof any);
        glance[glances] = (int16_t)i;
        glances += any != 0;
    }
    for (int64_t j = 0; j < glances; j++)
        for (int16_t i = 0; i < GLANCE; i++) {
            item[found] = (int16_t)(glance[j] + i);
            found += marked[glance[j] + i] != 0;
        }
    return found;
}

#endif
