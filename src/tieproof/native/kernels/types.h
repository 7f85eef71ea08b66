/* Arrays as kernels receive them, the groups of arrays that travel together, and the rules for kernels. */

#ifndef TIEPROOF_TYPES_H
#define TIEPROOF_TYPES_H

/* Arrays as kernels receive them, and the rules for kernels.

   A kernel keeps no state between calls and allocates no memory: it writes into arrays that are passed to it. Arrays of
   Python are passed as one of the structs below, for any number of dimensions: `length` rows of `columns` contiguous
   elements, with `stride` elements from one row to the next. A one-dimensional array has rows of one element. */

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(sizeof(void *) == 8, "Structs are laid out for 64 bits.");
_Static_assert(FLT_EVAL_METHOD == 0, "Each operation must round to the type that it is written in.");
#if defined(__FAST_MATH__) || !defined(__GNUC__)
#error "Compile with gcc or clang, without -ffast-math: results promise every bit."
#endif

#ifdef _WIN32
#define KERNEL __declspec(dllexport)
#else
#define KERNEL __attribute__((visibility("default")))
#endif

#define ARRAY_OF(element, name)            \
    typedef struct {                       \
        element *at;                       \
        int64_t length, columns, stride;   \
    } name

ARRAY_OF(double, Doubles);
ARRAY_OF(float, Floats);
ARRAY_OF(int64_t, Longs);
ARRAY_OF(int32_t, Ints);
ARRAY_OF(int8_t, Chars);
ARRAY_OF(uint64_t, Words);
ARRAY_OF(uint32_t, Places);
ARRAY_OF(uint16_t, Shorts);
ARRAY_OF(uint8_t, Bytes); /* also for truth values */

/* An element; `array` must be a name, not an expression. With -DCHECKED, as for the sanitizers, indices are checked. */
#ifdef CHECKED
#include <stdio.h>
#include <stdlib.h>
static inline int64_t checked(int64_t i, int64_t end, const char *what, const char *file, int line)
{
    if (i >= 0 && i < end)
        return i;
    fprintf(stderr, "%s:%d: index %lld of %s is not below %lld\n", file, line, (long long)i, what, (long long)end);
    abort();
}
#define INSIDE(i, end, what) checked((int64_t)(i), (end), (what), __FILE__, __LINE__)
#else
#define INSIDE(i, end, what) (i)
#endif

#define AT(array, i) ((array).at[INSIDE(i, (array).columns == 1 ? (array).length : -1, #array)])
#define AT2(array, i, j) \
    ((array).at[INSIDE(i, (array).length, #array) * (array).stride + INSIDE(j, (array).columns, #array)])

/* ROW: row i of an array. PART: the elements start … stop-1, possibly none, of a one-dimensional array. */
#define ROW(array, i) \
    ((__typeof__(array)){(array).at + INSIDE(i, (array).length, #array) * (array).stride, (array).columns, 1, 1})
#define PART(array, start, stop) ((__typeof__(array)){(array).at + (start), (stop) - (start), 1, 1})

/* The number of pairs by which rows are fetched before they are read: pairs are scattered in memory, which is slow. */
#define AHEAD 4

/* Fetch the row of the pair AHEAD of pair i, if there is one. */
#define FETCH_AHEAD(array, row, i)                                                                           \
    do {                                                                                                     \
        if ((i) + AHEAD < (row).length) {                                                                    \
            const char *next = (const char *)&AT2(array, AT(row, (i) + AHEAD), 0);                           \
            for (int64_t b = 0; b < (array).columns * (int64_t)sizeof *(array).at; b += 64)                  \
                __builtin_prefetch(next + b);                                                                \
        }                                                                                                    \
    } while (0)

/* The bits of doubles. */

static inline uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Groups of arrays that are passed together: engine/structures.py and the errors of distances/space.py. */

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
#define SEPARATE static __attribute__((noinline))

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

/* Arguments and results of the kernels for rankings given as numbers, for all types of numbers. */

/* inputs/relevance.py */
typedef struct {
    Longs pointer, items;
    Doubles grades;
    Longs excluded_pointer, excluded;
} RelevantBlock;

/* inputs/lists.py */
typedef struct {
    bool graded, wrong;
    int64_t done;
} JudgedGrades;

/* engine/dense.py */
typedef struct {
    int64_t ties;
    bool finite;
} CountedLists;

/* inputs/lists.py */
typedef struct {
    Ints table;
    Longs slots;
} CountRoom;

/* If a list has no more thresholds or no more items than this, every item is compared with every threshold
   (measured). For numbers of 64 bits, the limit is a single threshold. */
#define FEW_THRESHOLDS 24
#define FEW_ITEMS 128

/* The largest number of thresholds for which narrow buckets are used (measured). */
#define SEVERAL_THRESHOLDS 48

/* The largest number of keys or thresholds whose buckets can be numbered with 32 bits. */
#define MOST_IN_BUCKETS (1 << 27)

/* The number of items that are tested together for a relevant or an excluded one. */
#define GLANCE 8

/* The number of items that stay in the nearest cache while they are compared with all groups of thresholds. */
#define NEAR_ITEMS 2048

#endif
