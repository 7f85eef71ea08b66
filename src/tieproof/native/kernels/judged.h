/* Who is relevant and who is excluded, by a number for each item of a list: inputs/list_relevance.py. */

#include "list_types.h"

/* Counts of a few items, as wide as these where that is wide enough: so they are added up together. */
typedef __typeof__(_Generic((REAL)0, double: INT64_C(0), int64_t: INT64_C(0), float: 0, int32_t: 0, default: (int16_t)0))
    OF(JudgedTally);

/* Whether float64 does not hold a number as it is. */
static inline bool OF(is_wrong)(REAL value)
{
    if ((REAL)0.5 != 0)
        return !(value - value == 0);
    int64_t whole = (int64_t)value;
    return (whole > INT64_C(1) << 53) | (whole < -(INT64_C(1) << 53));
}

/* Count the relevant and the excluded items of each list. */
KERNEL JudgedGrades OF(count_judged)(Reals relevance, Longs start, Longs relevant, Longs excluded)
{
    int64_t graded = 0, wrong = 0;
    for (int64_t q = 0; q + 1 < start.length; q++) {
        const REAL *value = relevance.at + AT(start, q);
        int64_t count = AT(start, q + 1) - AT(start, q), above = 0, below = 0;
        for (int64_t first = 0; first < count; first += NEAR_ITEMS) {
            int64_t last = first + NEAR_ITEMS < count ? first + NEAR_ITEMS : count;
            OF(JudgedTally) positive = 0, negative = 0, other = 0, bad = 0;
            for (int64_t i = first; i < last; i++) {
                positive += value[i] > 0;
                negative += value[i] < 0;
                other += (value[i] > 0) & (value[i] != 1);
                bad += OF(is_wrong)(value[i]);
            }
            above += positive;
            below += negative;
            graded += other;
            wrong += bad;
        }
        AT(relevant, q) = above;
        AT(excluded, q) = below;
    }
    return (JudgedGrades){graded > 0, wrong > 0};
}

/* List the relevant and the excluded items of each list, as many as were counted, and grades if these are wanted. Each
   item is written where the next one belongs, and stays if it is one: so there is room for one more of both. */
KERNEL void OF(list_judged)(Reals relevance, Longs start, const RelevantBlock *found)
{
    for (int64_t q = 0; q + 1 < start.length; q++) {
        const REAL *value = relevance.at + AT(start, q);
        int64_t count = AT(start, q + 1) - AT(start, q);
        int64_t r = AT(found->pointer, q), last_relevant = AT(found->pointer, q + 1);
        int64_t e = AT(found->excluded_pointer, q), last_excluded = AT(found->excluded_pointer, q + 1);
        for (int64_t first = 0; r < last_relevant || e < last_excluded; first += GLANCE) {
            int64_t last = first + GLANCE;
            if (last <= count) {
                int any = 0;
                for (int64_t i = first; i < first + GLANCE; i++)
                    any |= value[i] != 0;
                if (!any)
                    continue;
            } else
                last = count;
            for (int64_t i = first; i < last; i++) {
                AT(found->items, r) = i;
                r += value[i] > 0;
            }
            if (e == last_excluded)
                continue;
            for (int64_t i = first; i < last; i++) {
                AT(found->excluded, e) = i;
                e += value[i] < 0;
            }
        }
        if (found->grades.at != NULL)
            for (int64_t i = AT(found->pointer, q); i < last_relevant; i++)
                AT(found->grades, i) = (double)value[AT(found->items, i)];
    }
}

