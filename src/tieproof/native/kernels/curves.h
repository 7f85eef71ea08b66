/* Convert values to distances: distances/gauge.py, which describes the shapes. */

#ifndef TIEPROOF_CURVES_H
#define TIEPROOF_CURVES_H

#include "array.h"

enum { LINEAR, ROOT, SIMILARITY, SIGNED_SQUARE, SINE };

typedef struct {
    int64_t shape;
    double factor, first, second, error;
} Curve;

static inline double at_least_zero(double value)
{
    return 0.0 > value ? 0.0 : value;
}

/* The distance for a value. A value that errors have moved outside the range of a shape gives the distance at the
   end of the range. 1 - sqrt(1 - q) is computed as q / (1 + sqrt(1 - q)), where nothing cancels. */
static inline double distance_of(double value, const Curve *curve)
{
    double square;
    switch (curve->shape) {
    case SIMILARITY:
        return at_least_zero(1.0 + value);
    case SIGNED_SQUARE:
        return value > 0.0 ? 1.0 + sqrt(value) : at_least_zero(1.0 + value) / (1.0 + sqrt(-value));
    case SINE:
        square = at_least_zero(value);
        return square < 1.0 ? square / (1.0 + sqrt(1.0 - square)) : 1.0 + sqrt(square - 1.0);
    case ROOT:
        value = sqrt(at_least_zero(value));
    }
    return value * curve->factor * curve->first * curve->second;
}

#endif
