/* Count the numbers of a list by comparing each number with each of a few thresholds: list_counts.h. */

#include "narrow_buckets.h"

/* Count the items above and at each of THRESHOLD_GROUP descending thresholds. This is a separate function, because
   compilers do not vectorize this loop inside the loops of another function. */
#define THRESHOLD_GROUP 4
static __attribute__((noinline)) void OF(compare_with_group)(
    const REAL *value, int64_t count, const REAL threshold[THRESHOLD_GROUP], int64_t above[THRESHOLD_GROUP],
    int64_t equal[THRESHOLD_GROUP])
{
    REAL t0 = threshold[0], t1 = threshold[1], t2 = threshold[2], t3 = threshold[3];
    OF(Tally) a0 = 0, a1 = 0, a2 = 0, a3 = 0, e0 = 0, e1 = 0, e2 = 0, e3 = 0;
    for (int64_t i = 0; i < count; i++) {
        REAL v = value[i];
        a0 += v > t0;
        a1 += v > t1;
        a2 += v > t2;
        a3 += v > t3;
        e0 += v == t0;
        e1 += v == t1;
        e2 += v == t2;
        e3 += v == t3;
    }
    above[0] += a0;
    above[1] += a1;
    above[2] += a2;
    above[3] += a3;
    equal[0] += e0;
    equal[1] += e1;
    equal[2] += e2;
    equal[3] += e3;
}

/* Count by comparing all items with all thresholds. */
static inline void OF(count_by_comparing)(
    const REAL *value, int64_t items, const REAL *threshold, int64_t count, int64_t *above, int64_t *equal)
{
    memset(above, 0, (size_t)count * sizeof *above);
    memset(equal, 0, (size_t)count * sizeof *equal);
    for (int64_t first = 0; first < items; first += NEAR_ITEMS) {
        const REAL *near = value + first;
        int64_t some = items - first < NEAR_ITEMS ? items - first : NEAR_ITEMS, t = 0;
        for (; t + THRESHOLD_GROUP <= count; t += THRESHOLD_GROUP)
            OF(compare_with_group)(near, some, threshold + t, above + t, equal + t);
        for (; t < count; t++) {
            REAL only = threshold[t];
            OF(Tally) a = 0, e = 0;
            for (int64_t i = 0; i < some; i++) {
                a += near[i] > only;
                e += near[i] == only;
            }
            above[t] += a;
            equal[t] += e;
        }
    }
}
#undef THRESHOLD_GROUP

/* Parameters of narrow buckets: a number's bucket is (number - origin) · scale, limited to `lowest` … `highest`. */
typedef struct {
    OF(Step) origin, scale, lowest, highest;
} OF(NarrowBuckets);

/* Choose buckets between descending thresholds, and at least one more on either side of them, unless the
   thresholds are too close to each other or too far apart. The outermost buckets are variables, because the loop
   below takes twice as long if they are constants. */
static inline OF(NarrowBuckets) OF(narrow_buckets)(const REAL *threshold, int64_t count)
{
    OF(Step) low = (OF(Step))threshold[count - 1], high = (OF(Step))threshold[0], inner = OUTER_BUCKET - 1;
    OF(Step) origin = low / 2 + high / 2, scale = OF(scale_of)(2 * inner, high - low);
    OF(Step) lowest = (low - origin) * scale, highest = (high - origin) * scale;
    return (OF(NarrowBuckets)){
        origin, scale, (lowest > -inner ? lowest : -inner) - 1, (highest < inner ? highest : inner) + 1};
}

/* The bucket of each number. It never decreases as numbers increase, because every operation rounds monotonically. */
static __attribute__((noinline)) void OF(find_narrow_buckets)(
    const REAL *value, int64_t count, const OF(NarrowBuckets) *of, int16_t *bucket)
{
    OF(Step) origin = of->origin, scale = of->scale, lowest = of->lowest, highest = of->highest;
    for (int64_t i = 0; i < count; i++) {
        OF(Step) place = ((OF(Step))value[i] - origin) * scale;
        place = place > lowest ? place : lowest;
        place = place < highest ? place : highest;
        bucket[i] = (int16_t)(int32_t)place;
    }
}

/* Items in the bucket of a threshold were counted as if they were equal to the threshold. Correct this for the
   marked items; a mark is the number of the first threshold in the item's bucket, counted from 1. */
static inline void OF(correct_marked)(
    const REAL *value, const uint8_t *marked, int64_t items, const REAL *threshold, const int16_t *limit,
    int64_t count, int64_t *above, int64_t *equal)
{
    int16_t item[NEAR_ITEMS + 1];
    int64_t found = find_marked(marked, items, item);
    for (int64_t j = 0; j < found; j++) {
        REAL number = value[item[j]];
        int64_t t = marked[item[j]] - 1;
        do {
            above[t] += number > threshold[t];
            equal[t] -= number != threshold[t];
            t++;
        } while (t < count && limit[t] == limit[t - 1]);
    }
}

/* Count by narrow buckets: an item in another bucket than a threshold is above the threshold if its bucket is. If
   a bucket contains more items than are `known` to be equal to its threshold, all items in it are compared by
   their values. */
static inline void OF(count_by_narrow_buckets)(
    const REAL *value, int64_t items, const REAL *threshold, const int64_t *known, int64_t count, int64_t *above,
    int64_t *equal)
{
    enum { MOST = SEVERAL_THRESHOLDS + BUCKET_GROUP };
    int16_t bucket[NEAR_ITEMS + BUCKET_LANES], limit[MOST], open[MOST];
    uint8_t mark[MOST], marked[NEAR_ITEMS + BUCKET_LANES];
    int64_t higher[MOST], within[MOST];
    OF(NarrowBuckets) buckets = OF(narrow_buckets)(threshold, count);
    OF(find_narrow_buckets)(threshold, count, &buckets, limit);
    for (int64_t t = count; t % BUCKET_GROUP; t++)
        limit[t] = limit[count - 1];
    memset(above, 0, (size_t)count * sizeof *above);
    memset(equal, 0, (size_t)count * sizeof *equal);
    if (items > NEAR_ITEMS)
        known = NULL;
    for (int64_t first = 0; first < items; first += NEAR_ITEMS) {
        int64_t some = items - first < NEAR_ITEMS ? items - first : NEAR_ITEMS, padded = some, opened = 0;
        OF(find_narrow_buckets)(value + first, some, &buckets, bucket);
        for (; padded % BUCKET_LANES; padded++)
            bucket[padded] = NO_ITEM;
        for (int64_t t = 0; t < count; t += BUCKET_GROUP)
            compare_buckets_with_group(bucket, padded, limit + t, higher + t, within + t);
        for (int64_t t = 0; t < count; t++) {
            above[t] += higher[t];
            equal[t] += within[t];
            if (within[t] == (known == NULL ? 0 : known[t]) || (opened && open[opened - 1] == limit[t]))
                continue;
            open[opened] = limit[t];
            mark[opened++] = (uint8_t)(t + 1);
        }
        if (opened == 0)
            continue;
        for (; opened % BUCKET_GROUP; opened++) {
            open[opened] = open[opened - 1];
            mark[opened] = mark[opened - 1];
        }
        memset(marked, 0, (size_t)padded);
        for (int64_t t = 0; t < opened; t += BUCKET_GROUP)
            mark_buckets_of_group(bucket, padded, open + t, mark + t, marked);
        OF(correct_marked)(value + first, marked, padded, threshold, limit, count, above, equal);
    }
}
