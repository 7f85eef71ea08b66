/* Buckets of 16 bits, so that many items are compared with thresholds at a time: list_comparing.h. */

#ifndef TIEPROOF_NARROW_BUCKETS_H
#define TIEPROOF_NARROW_BUCKETS_H

#include "list_types.h"

/* The outermost bucket of items, on both sides of 0, and one below all of them for what is no item. */
#define OUTER_BUCKET INT16_MAX
#define NO_ITEM INT16_MIN

/* Thresholds that are compared with an item together, and items that fill the longest vector. */
#define BUCKET_GROUP 4
#define BUCKET_LANES 32

/* Count up to NEAR_ITEMS items, in whole vectors, above and in each of BUCKET_GROUP thresholds' buckets. It is a
   function of its own, as the next one is: in the loops of another one it is not made of vectors. */
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

/* Write the mark of a bucket, of BUCKET_GROUP, to the items that are in it. */
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

/* List the items with a mark, of a whole number of glances. No branch depends on a single mark: few are foreseen. */
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
