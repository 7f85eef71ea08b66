/* The numbers of lists, counted among those of the relevant items: engine/dense.py, calls/run_ties.py.

   Larger numbers are above smaller ones here, whichever end is the nearer one. */

#include "list_types.h"

/* engine/list_room.py */
typedef struct {
    Reals key;
    Longs place;
    Doubles grade;
    Reals excluded;
    Longs counts, slots;
} OF(ListRoom);

/* Counts of a few items, as wide as these: so they are added up together. */
typedef __typeof__(_Generic((REAL)0, double: INT64_C(0), int64_t: INT64_C(0), default: 0)) OF(Tally);

/* Sort keys so that they fall, and places, if there are any, with them; equal keys keep their order. The second rows
   are room; returns which row holds what is sorted. */
static inline int OF(sort_falling)(REAL *const key[2], int64_t *const place[2], int64_t count, bool with_places)
{
    enum { SORTED_RUN = 12 };
    for (int64_t start = 0; start < count; start += SORTED_RUN) {
        int64_t stop = start + SORTED_RUN < count ? start + SORTED_RUN : count;
        for (int64_t i = start + 1; i < stop; i++) {
            REAL value = key[0][i];
            int64_t at = with_places ? place[0][i] : 0, j = i;
            for (; j > start && key[0][j - 1] < value; j--) {
                key[0][j] = key[0][j - 1];
                if (with_places)
                    place[0][j] = place[0][j - 1];
            }
            key[0][j] = value;
            if (with_places)
                place[0][j] = at;
        }
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

/* Count the items above and at each of THRESHOLD_GROUP falling thresholds. */
#define THRESHOLD_GROUP 4
static __attribute__((noinline)) void OF(compare_with_group)(
    const REAL *value, int64_t count, const REAL threshold[THRESHOLD_GROUP], int64_t above[THRESHOLD_GROUP], int64_t equal[THRESHOLD_GROUP])
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

/* Count the items above and at each of a few distinct falling thresholds: all items are compared with all of them. */
static inline void OF(count_by_comparing)(
    const REAL *value, int64_t items, const REAL *threshold, int64_t count, int64_t *above, int64_t *equal)
{
    REAL padded[FEW_THRESHOLDS + THRESHOLD_GROUP];
    int64_t aboves[FEW_THRESHOLDS + THRESHOLD_GROUP] = {0}, equals[FEW_THRESHOLDS + THRESHOLD_GROUP] = {0};
    for (int64_t t = 0; t < count + THRESHOLD_GROUP; t++)
        padded[t] = threshold[t < count ? t : count - 1];
    for (int64_t first = 0; first < items; first += NEAR_ITEMS) {
        int64_t some = items - first < NEAR_ITEMS ? items - first : NEAR_ITEMS;
        for (int64_t t = 0; t < count; t += THRESHOLD_GROUP)
            OF(compare_with_group)(value + first, some, padded + t, aboves + t, equals + t);
    }
    memcpy(above, aboves, (size_t)count * sizeof *above);
    memcpy(equal, equals, (size_t)count * sizeof *equal);
}
#undef THRESHOLD_GROUP

/* Count the items above and at each of many distinct falling thresholds by halving them without branches, some items
   at a time. Slots say below how many thresholds an item is, and whether it is at the next one; there are several of a
   kind, since one that is written twice in a row waits for itself. */
#define TURNS 4
static inline void OF(count_by_halving)(
    const REAL *value, int64_t items, const REAL *threshold, int64_t count, int64_t *above, int64_t *equal, Longs slots)
{
    memset(slots.at, 0, (size_t)(2 * TURNS * (count + 1)) * sizeof *slots.at);
    for (int64_t i = 0; i < items; i += TURNS) {
        int64_t turns = items - i < TURNS ? items - i : TURNS, at[TURNS] = {0};
        REAL v[TURNS] = {0};
        for (int64_t j = 0; j < turns; j++)
            v[j] = value[i + j];
        for (int64_t length = count; length > 1; length -= length / 2)
            for (int64_t j = 0; j < TURNS; j++)
                at[j] += threshold[at[j] + length / 2 - 1] > v[j] ? length / 2 : 0;
        for (int64_t j = 0; j < turns; j++) {
            at[j] += threshold[at[j]] > v[j];
            bool is_equal = threshold[at[j] < count ? at[j] : count - 1] == v[j];
            AT(slots, (at[j] * 2 + is_equal) * TURNS + j)++;
        }
    }
    int64_t before = 0;
    for (int64_t t = 0; t < count; t++) {
        above[t] = before;
        equal[t] = 0;
        for (int64_t j = 0; j < TURNS; j++) {
            above[t] += AT(slots, 2 * t * TURNS + j);
            equal[t] += AT(slots, (2 * t + 1) * TURNS + j);
        }
        before = above[t] + equal[t];
    }
}
#undef TURNS

/* Count the items above and at each of `count` distinct falling thresholds; `slots` are eight for each, and eight. */
static inline void OF(count_among)(
    const REAL *value, int64_t items, const REAL *threshold, int64_t count, int64_t *above, int64_t *equal, Longs slots)
{
    if (count <= FEW_THRESHOLDS)
        OF(count_by_comparing)(value, items, threshold, count, above, equal);
    else
        OF(count_by_halving)(value, items, threshold, count, above, equal, slots);
}

/* Whether all numbers are finite. */
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

/* Sort the numbers of a list's relevant items so that they fall, those of equal ones by falling grades. Returns the
   keys, and in `place` which of the relevant items they belong to where there are grades. */
static inline REAL *OF(sort_relevant)(
    const REAL *value, Longs item, const double *grade, const OF(ListRoom) *room, int64_t **place)
{
    REAL *const key[2] = {ROW(room->key, 0).at, ROW(room->key, 1).at};
    int64_t *places[2] = {NULL, NULL};
    if (grade == NULL) {
        for (int64_t i = 0; i < item.length; i++)
            key[0][i] = value[AT(item, i)];
        return key[OF(sort_falling)(key, places, item.length, false)];
    }
    double *const grades[2] = {ROW(room->grade, 0).at, ROW(room->grade, 1).at};
    for (int64_t i = 0; i < 2; i++)
        places[i] = ROW(room->place, i).at;
    for (int64_t i = 0; i < item.length; i++) {
        grades[0][i] = grade[i];
        places[0][i] = i;
    }
    if (sort_falling_double(grades, places, item.length, true)) {
        places[0] = ROW(room->place, 1).at;
        places[1] = ROW(room->place, 0).at;
    }
    for (int64_t i = 0; i < item.length; i++)
        key[0][i] = value[AT(item, places[0][i])];
    int sorted = OF(sort_falling)(key, places, item.length, true);
    *place = places[sorted];
    return key[sorted];
}

/* The ties of each list that hold a relevant item: query, k, n, l, m, the rows of `ties`; and the grades of the relevant
   items, if they have any, tie after tie, falling within a tie. The list of query q is start[q] … start[q+1]-1. */
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
        OF(count_among)(value, items, threshold, distinct, above, equal, room->slots);
        int64_t from = AT(relevant->excluded_pointer, q), to = AT(relevant->excluded_pointer, q + 1);
        if (from < to) {
            for (int64_t i = from; i < to; i++)
                AT(room->excluded, i - from) = value[AT(relevant->excluded, i)];
            OF(count_among)(room->excluded.at, to - from, threshold, distinct, counts[2], counts[3], room->slots);
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

/* Count the items of each list above and at its distinct thresholds, which fall: those of query q are first[q] …
   first[q+1]-1. There are eight slots for each threshold of a list, and eight. */
KERNEL void OF(count_scores)(
    Reals score, Longs start, Reals threshold, Longs first, Longs slots, Longs above, Longs equal)
{
    for (int64_t q = 0; q + 1 < start.length; q++) {
        int64_t begin = AT(first, q), count = AT(first, q + 1) - begin, items = AT(start, q + 1) - AT(start, q);
        if (count > 0)
            OF(count_among)(
                &AT(score, AT(start, q)), items, &AT(threshold, begin), count, &AT(above, begin), &AT(equal, begin), slots);
    }
}

/* What is listed at the farthest number of each list, which an excluded item may have, and before it: k, n, l, m, the
   rows of `last`. */
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
