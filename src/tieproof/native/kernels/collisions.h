/* Whether all values of a row are farther apart than their errors, without sorting the row. */

#ifndef TIEPROOF_COLLISIONS_H
#define TIEPROOF_COLLISIONS_H

#include "rounding.h"
#include "ranking.h"

/* The number of cells for each value: so many that few values share one, and so few that a bit for each of them fits
   into the second cache. */
#define CELLS 64

/* More values are sorted, so that the numbers of cells fit into 31 bits. */
#define MOST_APART ((int64_t)1 << 23)

/* More than the rounding error of a place, which is below CELLS * MOST_APART. */
#define PLACE_ERROR 0x1p-20

/* The numbers of the first and of the last cell that each value might be in, as the sum of both. */
static inline void two_cells_of(
    const double *value, int64_t count, double low, double scale, double margin, int32_t *cells)
{
    for (int64_t i = 0; i < count; i++) {
        double place = (value[i] - low) * scale + 1.0;
        cells[i] = (int32_t)(place - margin) + (int32_t)(place + margin);
    }
}

/* Mark a cell; a cell that is marked already is marked as shared. */
static inline void mark(uint64_t *marked, uint64_t *shared, int32_t cell)
{
    uint64_t bit = (uint64_t)1 << (cell & 63);
    shared[cell >> 6] |= marked[cell >> 6] & bit;
    marked[cell >> 6] |= bit;
}

static inline int64_t is_marked(const uint64_t *marked, int32_t cell)
{
    return (int64_t)(marked[cell >> 6] >> (cell & 63) & 1);
}

/* Whether any two values are known to differ by more than their errors. Values that might not are in the same of many
   cells, or beside the same border; only the few values in such cells are sorted. */
static bool are_apart(const double *value, int64_t count, double absolute, double relative, SortRoom room)
{
    if (count <= SMALL_RUN || count > MOST_APART)
        return false;
    double low, high;
    range_of(value, count, &low, &high);
    double largest = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    double reach = 2.0 * with_slack(largest, absolute + relative * largest) * (1.0 + SLACK);
    double scale = (double)(CELLS * (count - 1)) / (high - low), margin = reach * scale + PLACE_ERROR;
    if (!(scale > 0.0 && scale <= DBL_MAX && margin < 0.25))
        return false;
    memset(room.key, 0, (size_t)count * sizeof *room.key);
    memset(room.other, 0, (size_t)count * sizeof *room.other);
    for (int64_t start = 0; start < count; start += CHUNK) {
        int64_t stop = start + CHUNK < count ? start + CHUNK : count;
        two_cells_of(value + start, stop - start, low, scale, margin, room.column + start);
        for (int64_t i = start; i < stop; i++) {
            mark(room.key, room.other, room.column[i] >> 1);
            if (room.column[i] & 1)
                mark(room.key, room.other, (room.column[i] >> 1) + 1);
        }
    }
    int64_t found = 0, most = count / 4;
    for (int64_t i = 0; i < count && found < most; i++) {
        int32_t cell = room.column[i] >> 1;
        room.value[found] = value[i];
        found += is_marked(room.other, cell) | (room.column[i] & is_marked(room.other, cell + 1));
    }
    if (found == most)
        return false;
    SortRoom rest = {room.value + most, room.column + most, room.key, room.other};
    sort_row(room.value, room.column, found, rest, 0);
    int64_t near = 0;
    for (int64_t i = 0; i + 1 < found; i++)
        near += room.value[i + 1] - room.value[i] <= reach;
    return near == 0;
}

/* Gaps between neighbors in rankings by float64 values, and the ties that consist of neighbors with closed gaps:
   engine/collisions.py. */

/* The states of the gap between an item and the next one. */
enum { APART, CLOSE, OPEN };

/* Added to the state if float64 cannot decide which of the two neighbors is nearer. */
#define UNORDERED 4

/* More than the rounding errors of subnormal numbers, and negligible compared with normal numbers. */
#define TINY 0x1p-1068

typedef struct {
    Curve curve;
    double absolute, relative, epsilon;
    bool certain;
} DistanceScale;

typedef struct {
    double low, high;
} Bounds;

/* Bounds of the distance with this value; for epsilon 0, bounds of the value, which has the same order. */
static inline Bounds bounds_of(double value, double error, double epsilon, const Curve *curve)
{
    error = with_slack(value, error);
    if (epsilon == 0.0)
        return (Bounds){value - error, value + error};
    double low = distance_of(value - error, curve), high = distance_of(value + error, curve);
    /* A double cannot represent every distance: beyond FARTHEST there is no bound, and below TINY all digits may
       be lost. */
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

/* The bounds of some values. */
static inline __attribute__((always_inline)) void bounds_of_some(
    const double *value, int64_t count, DistanceScale scale, double *low, double *high)
{
    for (int64_t i = 0; i < count; i++) {
        double error = scale.absolute + scale.relative * fabs(value[i]);
        Bounds bounds = bounds_of(value[i], error, scale.epsilon, &scale.curve);
        low[i] = bounds.low;
        high[i] = bounds.high;
    }
}

#define BOUNDS_AS(name)                                        \
    case name:                                                 \
        scale.curve.shape = name;                              \
        bounds_of_some(value, count, scale, low, high);        \
        return

/* The bounds of some values, with a separate loop for each shape, so that the loops are vectorized. */
static void bounds_by_shape(const double *value, int64_t count, DistanceScale scale, double *low, double *high)
{
    if (scale.epsilon == 0.0) {
        scale.epsilon = 0.0; /* from here on, the compiler treats epsilon as a constant */
        bounds_of_some(value, count, scale, low, high);
        return;
    }
    switch (scale.curve.shape) {
        BOUNDS_AS(ROOT);
        BOUNDS_AS(SIMILARITY);
        BOUNDS_AS(SIGNED_SQUARE);
        BOUNDS_AS(SINE);
    }
    scale.curve.shape = LINEAR;
    bounds_of_some(value, count, scale, low, high);
}

/* Decide the gaps between `count` ascending values; return the number of open gaps. */
static inline int64_t judge_row(const double *value, int64_t count, const DistanceScale *scale, int8_t *state)
{
    int64_t open = 0;
    if (count > 0)
        state[count - 1] = APART;
    if (scale->epsilon == 0.0 && scale->certain) {
        for (int64_t i = 0; i + 1 < count; i++)
            state[i] = value[i] == value[i + 1] ? CLOSE : APART;
        return 0;
    }
    double low[CHUNK + 1], high[CHUNK + 1];
    for (int64_t start = 0; start + 1 < count; start += CHUNK) {
        int64_t gaps = count - 1 - start < CHUNK ? count - 1 - start : CHUNK;
        bounds_by_shape(value + start, gaps + 1, *scale, low, high);
        for (int64_t i = 0; i < gaps; i++) {
            Bounds near = {low[i], high[i]}, far = {low[i + 1], high[i + 1]};
            state[start + i] = judge_bounds(near, far, scale->epsilon);
        }
        for (int64_t i = 0; i < gaps; i++)
            open += (state[start + i] & OPEN) != 0;
    }
    return open;
}

/* Columns of items, possibly repeated: ranking q has items[pointer[q]] ... items[pointer[q + 1] - 1]. */
typedef struct {
    Longs pointer, items;
} Listing;

typedef struct {
    Ints weight;
    Listing excluded, relevant;
} CollidingItems;

typedef struct {
    Ints order;
    Chars states;
    Longs ranked, open;
} OrderedItems;

typedef struct {
    Doubles values;
    Ints columns;
    Words keys;
    Ints present, relevant;
} RowRoom;

/* Add the listed columns of a ranking to the counts of columns. */
static inline void add_listed(const Listing *listing, int64_t q, int32_t what, Ints counts)
{
    for (int64_t i = AT(listing->pointer, q); i < AT(listing->pointer, q + 1); i++)
        AT(counts, AT(listing->items, i)) += what;
}

/* Replace columns without any present item by the last columns; return how many columns remain. */
static inline int64_t without_absent(Doubles row, Ints order, const Listing *excluded, int64_t q, Ints present)
{
    int64_t count = row.length;
    for (int64_t i = AT(excluded->pointer, q); i < AT(excluded->pointer, q + 1); i++) {
        int64_t column = AT(excluded->items, i);
        if (AT(present, column) > 0)
            continue;
        while (count > 0 && AT(present, AT(order, count - 1)) == 0)
            count--;
        if (column < count && AT(order, column) == column) {
            count--;
            AT(row, column) = AT(row, count);
            AT(order, column) = AT(order, count);
        }
    }
    return count;
}

/* The number of rankings in which a tie is looked for without sorting, however many of them have one. */
#define FIRST_TRIES 16

/* Whether every column represents a single item. */
static inline bool are_single(Ints weight)
{
    int64_t others = 0;
    for (int64_t j = 0; j < weight.length; j++)
        others += AT(weight, j) != 1;
    return others == 0;
}

KERNEL int64_t rank_rows(
    Doubles values, const CollidingItems *items, const DistanceScale *scale, const OrderedItems *rankings, const RowRoom *room)
{
    Ints present = room->present;
    int64_t all_open = 0, sorted = 0;
    bool few_are_tied = scale->epsilon == 0.0 && are_single(items->weight);
    double absolute = scale->certain ? 0.0 : scale->absolute, relative = scale->certain ? 0.0 : scale->relative;
    SortRoom sorting = {room->values.at, room->columns.at, ROW(room->keys, 0).at, ROW(room->keys, 1).at};
    memcpy(present.at, items->weight.at, (size_t)present.length * sizeof *present.at);
    for (int64_t q = 0; q < values.length; q++) {
        Doubles row = ROW(values, q);
        Ints order = ROW(rankings->order, q);
        for (int64_t j = 0; j < order.length; j++)
            AT(order, j) = (int32_t)j;
        add_listed(&items->excluded, q, -1, present);
        int64_t count = without_absent(row, order, &items->excluded, q, present);
        add_listed(&items->excluded, q, 1, present);
        AT(rankings->ranked, q) = count;
        AT(rankings->open, q) = 0;
        Chars states = ROW(rankings->states, q);
        memset(states.at, APART, (size_t)states.length);
        if (few_are_tied && are_apart(row.at, count, absolute, relative, sorting))
            continue;
        few_are_tied = few_are_tied && 2 * ++sorted <= q + FIRST_TRIES;
        sort_row(row.at, order.at, count, sorting, 0);
        AT(rankings->open, q) = judge_row(row.at, count, scale, states.at);
        all_open += AT(rankings->open, q);
    }
    return all_open;
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

/* Whether a ranking has ties of several columns. */
static inline bool is_linked(const int8_t *state, int64_t count)
{
    int64_t linked = 0;
    for (int64_t i = 0; i < count; i++)
        linked += state[i] != APART;
    return linked > 0;
}

typedef struct {
    int64_t next, found;
} Written;

KERNEL Written write_ties(
    const OrderedItems *rankings, const CollidingItems *items, int64_t first, bool single, const RowRoom *room, Longs ties)
{
    Ints present = room->present, relevant = room->relevant;
    int64_t found = 0, q = first;
    memcpy(present.at, items->weight.at, (size_t)present.length * sizeof *present.at);
    memset(relevant.at, 0, (size_t)relevant.length * sizeof *relevant.at);
    for (; q < rankings->order.length; q++) {
        Ints order = ROW(rankings->order, q);
        Chars states = ROW(rankings->states, q);
        int64_t count = AT(rankings->ranked, q), before = 0, relevant_before = 0, size = 0, hits = 0;
        if (single && !is_linked(states.at, count))
            continue;
        if (found + count > ties.columns)
            break;
        add_listed(&items->excluded, q, -1, present);
        add_listed(&items->relevant, q, 1, relevant);
        for (int64_t i = 0; i < count; i++) {
            int32_t column = AT(order, i);
            size += AT(present, column);
            hits += AT(relevant, column);
            if (AT(states, i) != APART)
                continue;
            if (size > 1) {
                AT2(ties, 0, found) = q;
                AT2(ties, 1, found) = before;
                AT2(ties, 2, found) = relevant_before;
                AT2(ties, 3, found) = size;
                AT2(ties, 4, found++) = hits;
            }
            before += size;
            relevant_before += hits;
            size = hits = 0;
        }
        add_listed(&items->excluded, q, 1, present);
        add_listed(&items->relevant, q, -1, relevant);
    }
    return (Written){q, found};
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
