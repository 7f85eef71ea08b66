/* Which values there are: exact/pairs.py. */

#ifndef TIEPROOF_DISTINCT_H
#define TIEPROOF_DISTINCT_H

#include "array.h"

KERNEL int64_t distinct_values(Longs values, Longs number, Longs place, Longs found)
{
    for (int64_t i = 0; i < values.length; i++)
        AT(number, AT(values, i)) = 1;
    int64_t count = 0;
    for (int64_t value = 0; value < number.length; value++) {
        AT(found, count) = value; /* until it is written over by one that is there */
        count += AT(number, value);
        AT(number, value) = count;
    }
    for (int64_t i = 0; i < values.length; i++)
        AT(place, i) = AT(number, AT(values, i)) - 1;
    return count;
}

#endif
