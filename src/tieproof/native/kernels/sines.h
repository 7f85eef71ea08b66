/* Squared sines from exact sums: distances/cosine.py. */

#ifndef TIEPROOF_SINES_H
#define TIEPROOF_SINES_H

#include "array.h"

KERNEL void combine(
    Doubles e, Doubles e_error, Doubles f, Doubles f_error, Doubles x_square, Doubles y_square, double relative)
{
    for (int64_t i = 0; i < e.length; i++) {
        double x = AT(x_square, i), y = AT(y_square, i);
        if (x == 0.0 || y == 0.0) {
            AT(e, i) = -1.0;
            AT(e_error, i) = 0.0;
            continue;
        }
        double of_f = fabs(AT(f, i)), off = AT(f_error, i), projection = AT(f, i) * AT(f, i) / x;
        double sine = (AT(e, i) - projection) / y;
        double error = AT(e_error, i) + (2.0 * of_f + off) * off / x + relative * (fabs(AT(e, i)) + projection);
        double inner = AT(f, i) + x;
        bool is_open = fabs(inner) <= off + relative * (of_f + x);
        AT(e, i) = inner > 0.0 ? -sine : sine - 2.0;
        AT(e_error, i) = is_open ? INFINITY : inner < 0.0 ? (error / y + relative) * (1.0 + relative) : error / y;
    }
}

#endif
