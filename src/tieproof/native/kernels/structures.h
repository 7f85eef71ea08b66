/* Groups of arrays that are passed together: engine/structures.py and the errors of distances/space.py. */

#ifndef TIEPROOF_STRUCTURES_H
#define TIEPROOF_STRUCTURES_H

#include "array.h"

typedef struct {
    Longs start, stop;
    Doubles key, reach, margin;
    Ints guide;
    Doubles scale;
} Thresholds;

typedef struct {
    Longs row, first, last;
    Ints run;
} Targets;

typedef struct {
    Ints gap, equal;
} Counts;

typedef struct {
    Longs query, item, weight, first, last;
} Undecided;

typedef struct {
    Longs place;
    Ints weight;
} Placed;

/* Relevant items while they are ranked: engine/ranking.py and engine/ranked.py. */
typedef struct {
    Doubles value;
    Ints place;
    Words key;
} RoomToSort;

typedef struct {
    Longs order;
    Doubles key, error;
    Bytes starts_tie;
} Ordered;

typedef struct {
    Longs query, item, relevant, others;
} Pairs;

typedef struct {
    int64_t pairs, partial, runs;
} PairedUp;

typedef struct {
    Longs start, stop;
    Doubles key, reach;
    Ints gap, equal, item;
    Bytes known;
    Doubles grades;
    Longs n_items;
    Ints guide;
    Doubles scale;
} Block;

typedef struct {
    double relative;
    Doubles row, column, constant;
    bool certain;
} Error;

/* A separate function for a loop, which would have too few registers inside a large function. */
#define APART static __attribute__((noinline))

/* In `Counts.gap`: the entry belongs to the same tie as the one before. */
#define CONTINUED INT32_MIN

/* The result of counting a piece of a tile: where to continue, and the numbers of tallied queries, of additions
   and of undecided items. */
typedef struct {
    int64_t next, tallied, placed, undecided;
} Counted;

/* The numbers of near pairs of a tile, for its rows and for its columns; -1 if there are too many. */
typedef struct {
    int64_t of_rows, of_columns;
} Sifted;

#endif
