/* Gaps between neighbours in rankings by float64 values, and the ties that closed gaps make:
   engine/collisions/kernels.py. */

#ifndef TIEPROOF_COLLISIONS_H
#define TIEPROOF_COLLISIONS_H

#include "rounding.h"

/* What is known of the gap behind an item. */
enum { APART, CLOSE, OPEN };

/* Added where float64 leaves open which of the two neighbours is nearer. */
#define UNORDERED 4

/* More than roundings of subnormal numbers lose, and nothing beside a normal number of some size. */
#define TINY 0x1p-1068

typedef struct {
    Curve curve;
    double absolute, relative, epsilon;
    bool certain;
} Scale;

typedef struct {
    double low, high;
} Bounds;

/* Bounds of the distance that has this value; for epsilon 0 of the value, which has the same order. */
static inline Bounds bounds_of(double value, double error, double epsilon, const Curve *curve)
{
    error = with_slack(value, error);
    if (epsilon == 0.0)
        return (Bounds){value - error, value + error};
    double low = distance_of(value - error, curve), high = distance_of(value + error, curve);
    /* A double may not hold the distance: what is beyond FARTHEST has no bound, and below TINY anything may be lost. */
    bool is_low = low < -FARTHEST, is_high = high > FARTHEST;
    low = not_beyond(low, FARTHEST);
    high = not_beyond(high, FARTHEST);
    low = low - curve->error * fabs(low) - TINY;
    high = high + curve->error * fabs(high) + TINY;
    return (Bounds){is_low ? -(double)INFINITY : low, is_high ? (double)INFINITY : high};
}

/* The state of the gap between two numbers with these bounds. */
static inline int8_t judge_bounds(Bounds near, Bounds far, double epsilon)
{
    int8_t unordered = far.low <= near.high ? UNORDERED : 0;
    if (epsilon == 0.0) {
        if (near.low == near.high && near.low == far.low && near.low == far.high)
            return CLOSE;
        return unordered ? OPEN + UNORDERED : APART;
    }
    if ((far.high - near.low) * (1.0 + SLACK) < epsilon)
        return CLOSE + unordered;
    return (far.low - near.high) * (1.0 - SLACK) >= epsilon ? APART : OPEN + unordered;
}

static inline Bounds bounds_on(double value, const Scale *scale)
{
    return bounds_of(value, scale->absolute + scale->relative * fabs(value), scale->epsilon, &scale->curve);
}

KERNEL int64_t judge_gaps(Doubles values, Longs count, const Scale *scale, Chars states)
{
    int64_t found = 0;
    for (int64_t q = 0; q < values.length; q++) {
        Doubles row = ROW(values, q);
        Chars state = ROW(states, q);
        memset(state.at, APART, (size_t)state.length);
        if (scale->epsilon == 0.0 && scale->certain) {
            for (int64_t i = 0; i + 1 < AT(count, q); i++)
                AT(state, i) = AT(row, i) == AT(row, i + 1) ? CLOSE : APART;
            continue;
        }
        if (AT(count, q) == 0)
            continue;
        Bounds near = bounds_on(AT(row, 0), scale);
        for (int64_t i = 0; i + 1 < AT(count, q); i++) {
            Bounds far = bounds_on(AT(row, i + 1), scale);
            AT(state, i) = judge_bounds(near, far, scale->epsilon);
            found += (AT(state, i) & OPEN) != 0;
            near = far;
        }
    }
    return found;
}

KERNEL void bounds_of_each(
    Doubles values, Doubles errors, double epsilon, const Curve *curve, Doubles low, Doubles high)
{
    for (int64_t i = 0; i < values.length; i++) {
        Bounds bounds = bounds_of(AT(values, i), AT(errors, i), epsilon, curve);
        AT(low, i) = bounds.low;
        AT(high, i) = bounds.high;
    }
}

KERNEL void judge_each(Doubles low, Doubles high, double epsilon, Chars states)
{
    for (int64_t i = 0; i < states.length; i++)
        AT(states, i) = judge_bounds(
            (Bounds){AT(low, i), AT(high, i)}, (Bounds){AT(low, i + 1), AT(high, i + 1)}, epsilon);
}

typedef struct {
    Longs order;
    Chars states;
    Longs ranked;
    Ints present, relevant;
} OrderedItems;

KERNEL int64_t ties_of_rankings(const OrderedItems *rankings, Longs k, Longs n, Longs l, Longs m, Longs query)
{
    int64_t found = 0;
    for (int64_t q = 0; q < rankings->order.length; q++) {
        Longs order = ROW(rankings->order, q);
        Chars states = ROW(rankings->states, q);
        Ints present = ROW(rankings->present, q), relevant = ROW(rankings->relevant, q);
        int64_t before = 0, relevant_before = 0, items = 0, hits = 0;
        for (int64_t i = 0; i < AT(rankings->ranked, q); i++) {
            int64_t column = AT(order, i);
            items += AT(present, column);
            hits += AT(relevant, column);
            if (AT(states, i) != APART)
                continue;
            if (items > 1) {
                if (found < k.length) {
                    AT(query, found) = q;
                    AT(k, found) = before;
                    AT(n, found) = relevant_before;
                    AT(l, found) = items;
                    AT(m, found) = hits;
                }
                found++;
            }
            before += items;
            relevant_before += hits;
            items = hits = 0;
        }
    }
    return found;
}

KERNEL void paint(Longs row, Longs start, Longs stop, Longs column_of, Longs edges, Longs cells)
{
    for (int64_t i = 0; i < row.length; i++) {
        for (int64_t rank = AT(start, i); rank < AT(stop, i);) {
            int64_t column = AT(column_of, rank), edge = AT(edges, column + 1);
            int64_t end = AT(stop, i) < edge ? AT(stop, i) : edge;
            AT2(cells, AT(row, i), column) += end - rank;
            rank = end;
        }
    }
}

#endif
