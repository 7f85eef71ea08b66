/* Numbers of a format from values that are off by a known error; NaN where the error leaves it open:
   precision/kernels.py. */

#ifndef TIEPROOF_ROUNDING_H
#define TIEPROOF_ROUNDING_H

#include "curves.h"

/* The relative error of adding an error to a value, and of the error itself. */
#define SLACK 0x1p-50

/* Beyond every format; farther distances are taken for this, so that none is infinite. */
#define FARTHEST 0x1p1000

typedef struct {
    int64_t shift;
    double smallest, magic, infinity;
} Target;

static inline double not_beyond(double number, double limit)
{
    return number < -limit ? -limit : number > limit ? limit : number;
}

/* An error with what is lost when it is added to its value. */
static inline double with_slack(double value, double error)
{
    return error > 0.0 ? error + SLACK * (fabs(value) + error) : error;
}

/* The nearest number of the format, ties to even. */
static inline double nearest(double number, const Target *target)
{
    double magnitude = fabs(number), subnormal = (magnitude + target->magic) - target->magic, normal;
    /* Just below half a unit more, and just half of one where the last bit kept is odd; then cut. */
    uint64_t bits, half = (uint64_t)1 << (target->shift - 1);
    memcpy(&bits, &magnitude, sizeof bits);
    bits += half - 1 + ((bits >> target->shift) & 1);
    bits = bits >> target->shift << target->shift;
    memcpy(&normal, &bits, sizeof bits);
    magnitude = magnitude >= target->infinity ? target->infinity : magnitude < target->smallest ? subnormal : normal;
    return number > 0.0 ? magnitude : 0.0 - magnitude;
}

/* The number nearest to the distance, if all values within the error have the same. */
static inline double nearest_between(double value, double error, const Curve *curve, const Target *target)
{
    error = with_slack(value, error);
    double low = not_beyond(distance_of(value - error, curve), FARTHEST);
    double high = not_beyond(distance_of(value + error, curve), FARTHEST);
    low = nearest(low - curve->error * fabs(low), target);
    high = nearest(high + curve->error * fabs(high), target);
    return low == high ? low : (double)NAN;
}

static inline int64_t round_row(
    Doubles values, double absolute, double relative, const Curve *curve, const Target *target, Doubles out)
{
    int64_t open = 0;
    for (int64_t j = 0; j < values.length; j++) {
        double value = AT(values, j);
        double found = nearest_between(value, absolute + relative * fabs(value), curve, target);
        AT(out, j) = found;
        open += found != found;
    }
    return open;
}

KERNEL int64_t round_block(
    Doubles values, double absolute, double relative, const Curve *curve, const Target *target, Doubles out)
{
    int64_t open = 0;
    for (int64_t i = 0; i < values.length; i++)
        open += round_row(ROW(values, i), absolute, relative, curve, target, ROW(out, i));
    return open;
}

KERNEL void round_pairs(Doubles values, Doubles errors, const Curve *curve, const Target *target, Doubles out)
{
    for (int64_t i = 0; i < values.length; i++)
        AT(out, i) = nearest_between(AT(values, i), AT(errors, i), curve, target);
}

#endif
