/* Convert values to distances: distances/gauge.py, which describes the shapes. */

#ifndef TIEPROOF_ROUNDING_H
#define TIEPROOF_ROUNDING_H

#include "types.h"

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

/* Round values with known errors to numbers of a format, which are given by their positions among all numbers of
   the format: engine/rounded.py. */

/* The relative error of adding an error to a value, and of the error itself. */
#define SLACK 0x1p-50

/* Larger than every number of a format; farther distances are replaced by this, so that none is infinite. */
#define FARTHEST 0x1p1000

/* The number that is added to small whole numbers so that these appear in the last bits of the sum. */
#define WHOLE 0x1.8p52

typedef struct {
    int64_t shift, offset, infinity;
    double smallest, magic;
} KernelFormat;

static inline double not_beyond(double number, double limit)
{
    return number < -limit ? -limit : number > limit ? limit : number;
}

/* An error, increased by the rounding error of adding it to its value. */
static inline double with_slack(double value, double error)
{
    return error > 0.0 ? error + SLACK * (fabs(value) + error) : error;
}

/* The position of the nearest number of the format, ties to even. */
static inline int64_t place_in_format(double number, KernelFormat target)
{
    double magnitude = fabs(number);
    /* The sum is rounded to multiples of the smallest subnormal number, and its last bits count these. */
    int64_t subnormal = (int64_t)(bits_of(magnitude + target.magic) - bits_of(target.magic));
    /* Round to nearest, ties to even: add a little less than half a unit, or exactly half a unit if the last bit
       that is kept is odd; then cut off the other bits. */
    uint64_t bits = bits_of(magnitude), half = (uint64_t)1 << (target.shift - 1);
    int64_t normal = (int64_t)((bits + (half - 1) + ((bits >> target.shift) & 1)) >> target.shift) - target.offset;
    int64_t place = magnitude < target.smallest ? subnormal : normal;
    place = place < target.infinity ? place : target.infinity;
    return number < 0.0 ? -place : place;
}

/* Minus the position of the number that is nearest to the distance, if it is the same for all values within the
   error; otherwise NaN. */
static inline double rounded(double value, double error, Curve curve, KernelFormat target)
{
    error = with_slack(value, error);
    double low = not_beyond(distance_of(value - error, &curve), FARTHEST);
    double high = not_beyond(distance_of(value + error, &curve), FARTHEST);
    low = low - curve.error * fabs(low);
    high = high + curve.error * fabs(high);
    int64_t first = place_in_format(low, target), last = place_in_format(high, target);
    double found = number_of(bits_of(WHOLE) - (uint64_t)first) - WHOLE;
    return first == last && low <= high ? found : (double)NAN;
}

KERNEL void round_pairs(Doubles values, Doubles errors, const Curve *curve, const KernelFormat *target, Doubles nearness)
{
    for (int64_t i = 0; i < values.length; i++)
        AT(nearness, i) = rounded(AT(values, i), AT(errors, i), *curve, *target);
}

#endif
