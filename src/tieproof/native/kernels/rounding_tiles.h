/* Tiles of rounded distances, for entries of each type: engine/rounded.py. */

#ifndef ROUND_AS

/* A separate loop for each shape, so that the loops are vectorized. */
#define ROUND_AS(name)        \
    case name:                \
        shaped.shape = name;  \
        return OF(round_row)(values, absolute, relative, shaped, target, nearness)

#endif

static inline __attribute__((always_inline)) int64_t OF(round_row)(
    Doubles values, double absolute, double relative, Curve curve, KernelFormat target, Reals nearness)
{
    int64_t open = 0;
    for (int64_t j = 0; j < values.length; j++) {
        double value = AT(values, j);
        double found = rounded(value, absolute + relative * fabs(value), curve, target);
        AT(nearness, j) = (REAL)found;
        open += found != found;
    }
    return open;
}

static int64_t OF(round_row_by_shape)(
    Doubles values, double absolute, double relative, Curve shaped, KernelFormat target, Reals nearness)
{
    switch (shaped.shape) {
        ROUND_AS(ROOT);
        ROUND_AS(SIMILARITY);
        ROUND_AS(SIGNED_SQUARE);
        ROUND_AS(SINE);
    }
    shaped.shape = LINEAR;
    return OF(round_row)(values, absolute, relative, shaped, target, nearness);
}

KERNEL int64_t OF(round_tile)(
    Doubles values, double absolute, double relative, const Curve *curve, const KernelFormat *target, Reals nearness)
{
    int64_t open = 0;
    for (int64_t i = 0; i < values.length; i++)
        open += OF(round_row_by_shape)(ROW(values, i), absolute, relative, *curve, *target, ROW(nearness, i));
    return open;
}
