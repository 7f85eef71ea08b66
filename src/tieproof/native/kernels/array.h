/* Arrays as kernels receive them, and the rules for kernels.

   A kernel keeps no state between calls and allocates no memory: it writes into arrays that are passed to it. Arrays of
   Python are passed as one of the structs below, for any number of dimensions: `length` rows of `columns` contiguous
   elements, with `stride` elements from one row to the next. A one-dimensional array has rows of one element. */

#ifndef TIEPROOF_ARRAY_H
#define TIEPROOF_ARRAY_H

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

#endif
