/* Intervals of thresholds in the order of their queries: engine/order.py. */

#ifndef TIEPROOF_ORDER_H
#define TIEPROOF_ORDER_H

#include "array.h"

KERNEL void make_falling(Doubles low, Doubles high, Longs query)
{
    for (int64_t i = 1; i < query.length; i++)
        if (AT(query, i) == AT(query, i - 1) && !(AT(high, i) < AT(high, i - 1)))
            AT(high, i) = AT(high, i - 1);
    for (int64_t i = query.length - 2; i >= 0; i--)
        if (AT(query, i) == AT(query, i + 1) && !(AT(low, i) > AT(low, i + 1)))
            AT(low, i) = AT(low, i + 1);
}

#endif
