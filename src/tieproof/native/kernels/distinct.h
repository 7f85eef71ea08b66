/* Find the distinct values of an array: distances/exact/bounds.py. */

#ifndef TIEPROOF_DISTINCT_H
#define TIEPROOF_DISTINCT_H

#include "array.h"

KERNEL int64_t distinct_values(Longs values, Longs number, Longs place, Longs found)
{
    for (int64_t i = 0; i < values.length; i++)
        AT(number, AT(values, i)) = 1;
    int64_t count = 0;
    for (int64_t value = 0; value < number.length; value++) {
        AT(found, count) = value; /* overwritten by the next value if this one does not occur */
        count += AT(number, value);
        AT(number, value) = count;
    }
    for (int64_t i = 0; i < values.length; i++)
        AT(place, i) = AT(number, AT(values, i)) - 1;
    return count;
}

#endif
