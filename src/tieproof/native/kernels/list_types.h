/* Arguments and results of the kernels for rankings given as numbers, for all types of numbers. */

#ifndef TIEPROOF_LIST_TYPES_H
#define TIEPROOF_LIST_TYPES_H

#include "array.h"

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
