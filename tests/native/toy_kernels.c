/* Kernels that test_native_calls.py compiles: they say what came across. */

#include "types.h"

typedef struct {
    Longs first;
    bool certain, whole;
    double share;
} Inner;

typedef struct {
    double absolute, relative;
} Errors;

KERNEL int64_t sum_of_all(bool twice, Inner *inner, int64_t more)
{
    int64_t sum = more;
    for (int64_t i = 0; i < inner->first.length; i++)
        sum += AT(inner->first, i);
    return twice ? 2 * sum : sum;
}

KERNEL double flags_and_share(Inner *inner)
{
    return inner->certain + 10 * inner->whole + inner->share;
}

KERNEL void put_first(Inner *inner)
{
    AT(inner->first, 0) = (int64_t)(100 * inner->share);
}

KERNEL bool is_absent(Longs values)
{
    return !values.at;
}

KERNEL Errors errors_of(double value)
{
    return (Errors){value / 2, value * 2};
}

#define REAL float
#define Reals Floats
#define OF(name) name##_float
#include "toy_generic_kernels.inc"
#undef REAL
#undef Reals
#undef OF

#define REAL double
#define Reals Doubles
#define OF(name) name##_double
#include "toy_generic_kernels.inc"
