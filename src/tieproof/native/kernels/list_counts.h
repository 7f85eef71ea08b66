/* Count the numbers of each list above and at the numbers of its relevant items: engine/dense.py, evaluation/run_ties.py.

   In this file, larger numbers are above smaller ones, whether larger or smaller numbers are nearer. */

#include "list_types.h"

/* engine/dense.py */
typedef struct {
    Reals key;
    Longs place;
    Doubles grade;
    Reals excluded;
    Longs counts;
    CountRoom buckets;
} OF(ListRoom);

/* Counts of a few items, as wide as the items, so that vectors can add them. */
typedef __typeof__(_Generic((REAL)0, double: INT64_C(0), int64_t: INT64_C(0), default: 0)) OF(Tally);

/* The type in which positions among the buckets are computed. */
typedef __typeof__(_Generic((REAL)0, float: 0.0f, default: 0.0)) OF(Step);

/* The bucket of each number, 0 … top. It is monotone in the number, because every operation rounds monotonically. */
static inline void OF(find_buckets)(
    const REAL *value, int64_t count, OF(Step) origin, OF(Step) scale, int64_t top, int32_t *bucket)
{
    OF(Step) last = (OF(Step))top;
    for (int64_t i = 0; i < count; i++) {
        OF(Step) place = ((OF(Step))value[i] - origin) * scale + 1;
        place = place > 0 ? place : 0;
        bucket[i] = place < last ? (int32_t)place : (int32_t)top;
    }
}

/* The factor that maps an extent to `last` buckets; 1 if the extent is 0 or not finite. */
static inline OF(Step) OF(scale_of)(OF(Step) last, OF(Step) extent)
{
    OF(Step) scale = last / extent;
    return scale > 0 && scale - scale == 0 ? scale : 1;
}

/* Insert each of the keys start … stop-1 among the keys before it, so that keys descend. */
static inline void OF(insert_falling)(REAL *key, int64_t *place, int64_t start, int64_t stop, bool with_places)
{
    for (int64_t i = start + 1; i < stop; i++) {
        REAL value = key[i];
        int64_t at = with_places ? place[i] : 0, j = i;
        for (; j > start && key[j - 1] < value; j--) {
            key[j] = key[j - 1];
            if (with_places)
                place[j] = place[j - 1];
        }
        key[j] = value;
        if (with_places)
            place[j] = at;
    }
}

/* Merge sort: sort keys in descending order, and their positions with them if `with_places`. Equal keys keep their
   order. The second rows are working memory. Returns which row contains the sorted keys. */
static inline int OF(merge_falling)(REAL *const key[2], int64_t *const place[2], int64_t count, bool with_places)
{
    enum { SORTED_RUN = 12 };
    for (int64_t start = 0; start < count; start += SORTED_RUN) {
        int64_t stop = start + SORTED_RUN < count ? start + SORTED_RUN : count;
        OF(insert_falling)(key[0], place[0], start, stop, with_places);
    }
    int from = 0;
    for (int64_t width = SORTED_RUN; width < count; width *= 2, from = 1 - from) {
        const REAL *key_from = key[from];
        REAL *key_to = key[1 - from];
        const int64_t *place_from = place[from];
        int64_t *place_to = place[1 - from];
        for (int64_t start = 0; start < count; start += 2 * width) {
            int64_t middle = start + width < count ? start + width : count;
            int64_t stop = middle + width < count ? middle + width : count;
            int64_t left = start, right = middle, to = start;
            while (left < middle && right < stop) {
                bool second = key_from[left] < key_from[right];
                int64_t taken = second ? right : left;
                key_to[to] = key_from[taken];
                if (with_places)
                    place_to[to] = place_from[taken];
                to++;
                right += second;
                left += !second;
            }
            int64_t rest = left < middle ? left : right, length = stop - to;
            memcpy(key_to + to, key_from + rest, (size_t)length * sizeof *key_to);
            if (with_places)
                memcpy(place_to + to, place_from + rest, (size_t)length * sizeof *place_to);
        }
    }
    return from;
}

/* Sort as `merge_falling` does, by as many buckets as there are keys, after which only neighbors are out of
   order. If many keys are in one bucket, merge sort is used instead. */
static inline int OF(sort_falling)(
    REAL *const key[2], int64_t *const place[2], int64_t count, bool with_places, Ints table)
{
    enum { MANY = 24, CROWD = 64 };
    if (count <= MANY || count > MOST_IN_BUCKETS)
        return OF(merge_falling)(key, place, count, with_places);
    REAL low = key[0][0], high = key[0][0];
    for (int64_t i = 1; i < count; i++) {
        low = key[0][i] < low ? key[0][i] : low;
        high = key[0][i] > high ? key[0][i] : high;
    }
    int32_t bucket[NEAR_ITEMS], crowd = 0;
    OF(Step) origin = (OF(Step))low, scale = OF(scale_of)((OF(Step))(count - 1), (OF(Step))high - origin);
    int32_t *next = PART(table, 0, count).at;
    memset(next, 0, (size_t)count * sizeof *next);
    for (int64_t first = 0; first < count; first += NEAR_ITEMS) {
        int64_t some = count - first < NEAR_ITEMS ? count - first : NEAR_ITEMS;
        OF(find_buckets)(key[0] + first, some, origin, scale, count - 1, bucket);
        for (int64_t i = 0; i < some; i++)
            next[bucket[i]]++;
    }
    int32_t before = 0;
    for (int64_t b = count - 1; b >= 0; b--) {
        int32_t keys = next[b];
        crowd = keys > crowd ? keys : crowd;
        next[b] = before;
        before += keys;
    }
    if (crowd > CROWD)
        return OF(merge_falling)(key, place, count, with_places);
    for (int64_t first = 0; first < count; first += NEAR_ITEMS) {
        int64_t some = count - first < NEAR_ITEMS ? count - first : NEAR_ITEMS;
        OF(find_buckets)(key[0] + first, some, origin, scale, count - 1, bucket);
        for (int64_t i = 0; i < some; i++) {
            int32_t to = next[bucket[i]]++;
            key[1][to] = key[0][first + i];
            if (with_places)
                place[1][to] = place[0][first + i];
        }
    }
    OF(insert_falling)(key[1], place[1], 0, count, with_places);
    return 1;
}

#include "list_comparing.h"

/* The first of the descending thresholds `at` … count-1 that is not above a number. Usually it is among the first
   four. */
static inline int64_t OF(first_not_above)(const REAL *threshold, int64_t at, int64_t count, REAL value)
{
    for (int64_t end = at + 4 < count ? at + 4 : count; at < end; at++)
        if (!(threshold[at] > value))
            return at;
    while (at < count) {
        int64_t middle = at + (count - at) / 2;
        if (threshold[middle] > value)
            at = middle + 1;
        else
            count = middle;
    }
    return at;
}

/* Count by buckets between the thresholds: most items are in buckets that contain no threshold, and need no
   comparison.

   An entry of the table is twice the number of thresholds above its bucket, plus one if the bucket contains a
   threshold. There are slots for each number of thresholds: for items that are below so many thresholds and not at
   the next one, and for items that are at the next one. There are two slots of each kind, because writing to the
   same slot twice in succession makes the processor wait. */
static inline void OF(count_by_buckets)(
    const REAL *value, int64_t items, const REAL *threshold, int64_t count, int64_t *above, int64_t *equal,
    const CountRoom *room)
{
    int32_t bucket[NEAR_ITEMS], close[NEAR_ITEMS];
    int64_t size = 8 * count + 256;
    OF(Step) origin = (OF(Step))threshold[count - 1];
    OF(Step) scale = OF(scale_of)((OF(Step))(size - 3), (OF(Step))threshold[0] - origin);
    int32_t *table = PART(room->table, 0, size).at;
    int64_t *slots = PART(room->slots, 0, 4 * (count + 1)).at;
    memset(table, 0, (size_t)size * sizeof *table);
    memset(slots, 0, (size_t)(4 * (count + 1)) * sizeof *slots);
    for (int64_t first = 0; first < count; first += NEAR_ITEMS) {
        int64_t some = count - first < NEAR_ITEMS ? count - first : NEAR_ITEMS;
        OF(find_buckets)(threshold + first, some, origin, scale, size - 1, bucket);
        for (int64_t i = 0; i < some; i++)
            table[bucket[i]] = (table[bucket[i]] + 2) | 1;
    }
    int32_t before = 0;
    for (int64_t b = size - 1; b >= 0; b--) {
        int32_t entry = table[b];
        table[b] = before | (entry & 1);
        before += entry & ~1;
    }
    for (int64_t first = 0; first < items; first += NEAR_ITEMS) {
        const REAL *near = value + first;
        int64_t some = items - first < NEAR_ITEMS ? items - first : NEAR_ITEMS, found = 0;
        OF(find_buckets)(near, some, origin, scale, size - 1, bucket);
        for (int64_t i = 0; i < some; i++) {
            int32_t entry = table[bucket[i]];
            slots[2 * (int64_t)(entry & ~1) + (i & 1)]++;
            close[found] = (int32_t)i;
            found += entry & 1;
        }
        for (int64_t j = 0; j < found; j++) {
            int64_t i = close[j], at = table[bucket[i]] >> 1;
            slots[4 * at + (i & 1)]--;
            at = OF(first_not_above)(threshold, at, count, near[i]);
            slots[4 * at + (at < count && threshold[at] == near[i] ? 2 : 0)]++;
        }
    }
    int64_t nearer = 0;
    for (int64_t t = 0; t < count; t++) {
        above[t] = nearer + slots[4 * t] + slots[4 * t + 1];
        equal[t] = slots[4 * t + 2] + slots[4 * t + 3];
        nearer = above[t] + equal[t];
    }
}

/* Count the items above and at each of `count` distinct descending thresholds. At least known[t] items are equal
   to threshold t; `known` may be NULL. */
static inline void OF(count_among)(
    const REAL *value, int64_t items, const REAL *threshold, const int64_t *known, int64_t count, int64_t *above,
    int64_t *equal, const CountRoom *room)
{
    int64_t few = sizeof(REAL) < sizeof(int64_t) ? FEW_THRESHOLDS : 1;
    if (count <= few || items <= FEW_ITEMS || count > MOST_IN_BUCKETS)
        OF(count_by_comparing)(value, items, threshold, count, above, equal);
    else if (count <= SEVERAL_THRESHOLDS)
        OF(count_by_narrow_buckets)(value, items, threshold, known, count, above, equal);
    else
        OF(count_by_buckets)(value, items, threshold, count, above, equal, room);
}

/* Return whether all numbers are finite. */
static inline bool OF(are_finite)(const REAL *value, int64_t items)
{
    int64_t others = 0;
    for (int64_t first = 0; first < items; first += NEAR_ITEMS) {
        int64_t last = items - first < NEAR_ITEMS ? items : first + NEAR_ITEMS;
        OF(Tally) found = 0;
        for (int64_t i = first; i < last; i++)
            found += !(value[i] - value[i] == 0);
        others += found;
    }
    return others == 0;
}

/* Sort the numbers of a list's relevant items in descending order, and items with equal numbers by descending
   grades. Returns the sorted numbers. If there are grades, `place` receives the indices of the relevant items in
   this order. */
static inline REAL *OF(sort_relevant)(
    const REAL *value, Longs item, const double *grade, const OF(ListRoom) *room, int64_t **place)
{
    REAL *const key[2] = {ROW(room->key, 0).at, ROW(room->key, 1).at};
    int64_t *places[2] = {NULL, NULL};
    if (grade == NULL) {
        for (int64_t i = 0; i < item.length; i++)
            key[0][i] = value[AT(item, i)];
        return key[OF(sort_falling)(key, places, item.length, false, room->buckets.table)];
    }
    double *const grades[2] = {ROW(room->grade, 0).at, ROW(room->grade, 1).at};
    for (int64_t i = 0; i < 2; i++)
        places[i] = ROW(room->place, i).at;
    for (int64_t i = 0; i < item.length; i++) {
        grades[0][i] = grade[i];
        places[0][i] = i;
    }
    if (sort_falling_double(grades, places, item.length, true, room->buckets.table)) {
        places[0] = ROW(room->place, 1).at;
        places[1] = ROW(room->place, 0).at;
    }
    for (int64_t i = 0; i < item.length; i++)
        key[0][i] = value[AT(item, places[0][i])];
    int sorted = OF(sort_falling)(key, places, item.length, true, room->buckets.table);
    *place = places[sorted];
    return key[sorted];
}

/* Write query, k, n, l and m of each tie with a relevant item to the rows of `ties`. If the relevant items have
   grades, write these tie after tie, descending within a tie. The list of query q has the numbers start[q] …
   start[q+1]-1. */
KERNEL CountedLists OF(count_lists)(
    Reals number, Longs start, const RelevantBlock *relevant, bool small_is_near, const OF(ListRoom) *room, Longs ties,
    Doubles grades)
{
    CountedLists found = {0, true};
    int64_t *counts[5], *tie[5], listed = 0;
    for (int64_t i = 0; i < 5; i++) {
        counts[i] = ROW(room->counts, i).at;
        tie[i] = ROW(ties, i).at;
    }
    int64_t *above = counts[0], *equal = counts[1], *size = counts[4];
    bool graded = relevant->grades.at != NULL;
    for (int64_t q = 0; q + 1 < start.length; q++) {
        const REAL *value = number.at + AT(start, q);
        int64_t items = AT(start, q + 1) - AT(start, q), ranked = items;
        found.finite &= OF(are_finite)(value, items);
        int64_t first = AT(relevant->pointer, q), *place = NULL;
        Longs item = PART(relevant->items, first, AT(relevant->pointer, q + 1));
        if (item.length == 0)
            continue;
        const double *grade = graded ? relevant->grades.at + first : NULL;
        REAL *threshold = OF(sort_relevant)(value, item, grade, room, &place);
        int64_t distinct = 0;
        for (int64_t i = 0; i < item.length; i++) {
            if (distinct == 0 || threshold[i] != threshold[distinct - 1]) {
                threshold[distinct] = threshold[i];
                size[distinct++] = 0;
            }
            size[distinct - 1]++;
        }
        OF(count_among)(value, items, threshold, size, distinct, above, equal, &room->buckets);
        int64_t from = AT(relevant->excluded_pointer, q), to = AT(relevant->excluded_pointer, q + 1);
        if (from < to) {
            for (int64_t i = from; i < to; i++)
                AT(room->excluded, i - from) = value[AT(relevant->excluded, i)];
            OF(count_among)(room->excluded.at, to - from, threshold, NULL, distinct, counts[2], counts[3], &room->buckets);
            for (int64_t t = 0; t < distinct; t++) {
                above[t] -= counts[2][t];
                equal[t] -= counts[3][t];
            }
            ranked -= to - from;
        }
        int64_t before = 0;
        for (int64_t j = 0; j < distinct; j++) {
            int64_t t = small_is_near ? distinct - 1 - j : j;
            int64_t nearer[5] = {q, small_is_near ? ranked - above[t] - equal[t] : above[t], before, equal[t], size[t]};
            for (int64_t i = 0; i < 5; i++)
                tie[i][found.ties] = nearer[i];
            found.ties++;
            if (graded) {
                int64_t begin = small_is_near ? item.length - before - size[t] : before;
                for (int64_t i = begin; i < begin + size[t]; i++)
                    AT(grades, listed++) = grade[place[i]];
            }
            before += size[t];
        }
    }
    return found;
}

/* Count the items of each list above and at its distinct thresholds. The thresholds of query q are first[q] …
   first[q+1]-1, and descend. */
KERNEL void OF(count_scores)(
    Reals score, Longs start, Reals threshold, Longs first, const CountRoom *room, Longs above, Longs equal)
{
    for (int64_t q = 0; q + 1 < start.length; q++) {
        int64_t begin = AT(first, q), count = AT(first, q + 1) - begin, items = AT(start, q + 1) - AT(start, q);
        if (count > 0)
            OF(count_among)(
                &AT(score, AT(start, q)), items, &AT(threshold, begin), NULL, count, &AT(above, begin), &AT(equal, begin), room);
    }
}

/* Write k, n, l and m of the items at the farthest number of each list to the rows of `last`. If only excluded
   items have this number, l and m are 0. */
KERNEL void OF(end_lists)(Reals number, Longs start, const RelevantBlock *relevant, bool small_is_near, Longs last)
{
    for (int64_t q = 0; q + 1 < start.length; q++) {
        const REAL *value = number.at + AT(start, q);
        int64_t items = AT(start, q + 1) - AT(start, q), l = 0, m = 0;
        int64_t from = AT(relevant->pointer, q), to = AT(relevant->pointer, q + 1);
        int64_t out = AT(relevant->excluded_pointer, q), end = AT(relevant->excluded_pointer, q + 1);
        if (items > 0) {
            REAL farthest = value[0];
            for (int64_t i = 1; i < items; i++)
                farthest = (small_is_near ? value[i] > farthest : value[i] < farthest) ? value[i] : farthest;
            for (int64_t i = 0; i < items; i++)
                l += value[i] == farthest;
            for (int64_t i = out; i < end; i++)
                l -= value[AT(relevant->excluded, i)] == farthest;
            for (int64_t i = from; i < to; i++)
                m += value[AT(relevant->items, i)] == farthest;
        }
        AT2(last, 0, q) = items - (end - out) - l;
        AT2(last, 1, q) = to - from - m;
        AT2(last, 2, q) = l;
        AT2(last, 3, q) = m;
    }
}
