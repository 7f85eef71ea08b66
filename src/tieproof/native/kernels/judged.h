/* The relevant and the excluded items of lists, from a number for each item: inputs/lists.py. */

#include "list_types.h"

/* Whether a number is not exact in float64. */
static inline bool OF(is_wrong)(REAL value)
{
    if ((REAL)0.5 != 0)
        return !(value - value == 0);
    int64_t whole = (int64_t)value;
    return (whole > INT64_C(1) << 53) | (whole < -(INT64_C(1) << 53));
}

/* Mark the numbers that are not 0. This is a separate function, because compilers do not vectorize this loop
   inside the loops of another function. */
static __attribute__((noinline)) void OF(mark_judged)(const REAL *value, int64_t count, uint8_t *judged)
{
    for (int64_t i = 0; i < count; i++)
        judged[i] = value[i] != 0;
}

/* List the relevant and the excluded items of the lists from `first_list` on, with their grades, and the positions
   at which the items of each list begin. Stops if there is no room for all items of the next list and one more. To
   avoid branches, each judged item is written to the next free position of both lists, and then kept or
   overwritten. */
KERNEL JudgedGrades OF(list_judged)(Reals relevance, Longs start, int64_t first_list, const RelevantBlock *block)
{
    bool graded = false, wrong = false;
    int64_t q = first_list, r = AT(block->pointer, q), e = AT(block->excluded_pointer, q);
    for (; q + 1 < start.length; q++) {
        if ((r > e ? r : e) + AT(start, q + 1) - AT(start, q) >= block->items.length)
            break;
        const REAL *value = relevance.at + AT(start, q);
        int64_t count = AT(start, q + 1) - AT(start, q);
        for (int64_t first = 0; first < count; first += NEAR_ITEMS) {
            uint8_t judged[NEAR_ITEMS];
            int64_t some = count - first < NEAR_ITEMS ? count - first : NEAR_ITEMS;
            OF(mark_judged)(value + first, some, judged);
            for (int64_t i = some; i < NEAR_ITEMS && i % GLANCE; i++)
                judged[i] = 0;
            for (int64_t i = 0; i < some; i += GLANCE) {
                uint64_t any;
                memcpy(&any, judged + i, sizeof any);
                for (; any; any &= any - 1) {
                    int64_t item = first + i + __builtin_ctzll(any) / 8;
                    REAL grade = value[item];
                    AT(block->items, r) = AT(block->excluded, e) = item;
                    AT(block->grades, r) = (double)grade;
                    r += grade > 0;
                    e += grade < 0;
                    graded |= (grade > 0) & (grade != 1);
                    wrong |= OF(is_wrong)(grade);
                }
            }
        }
        AT(block->pointer, q + 1) = r;
        AT(block->excluded_pointer, q + 1) = e;
    }
    return (JudgedGrades){graded, wrong, q};
}
