/* What the kernels of rankings given as numbers are told and tell, whatever the type of the numbers. */

#ifndef TIEPROOF_LIST_TYPES_H
#define TIEPROOF_LIST_TYPES_H

#include "array.h"

/* inputs/relevance.py */
typedef struct {
    Longs pointer, items;
    Doubles grades;
    Longs excluded_pointer, excluded;
} RelevantBlock;

/* inputs/list_relevance.py */
typedef struct {
    bool graded, wrong;
    int64_t done;
} JudgedGrades;

/* engine/dense.py */
typedef struct {
    int64_t ties;
    bool finite;
} CountedLists;

/* inputs/count_room.py */
typedef struct {
    Ints table;
    Longs slots;
} CountRoom;

/* Thresholds, and items, of a list up to which every item is compared with every threshold: numbers of 64 bits only
   with a single one (measured). */
#define FEW_THRESHOLDS 24
#define FEW_ITEMS 128

/* Thresholds up to which narrow buckets are compared (measured). */
#define SEVERAL_THRESHOLDS 48

/* Numbers up to which buckets have numbers of 32 bits. */
#define MOST_IN_BUCKETS (1 << 27)

/* Items that are looked at together for any that is relevant or excluded. */
#define GLANCE 8

/* Items that stay in the nearest cache while they are compared with one group of thresholds after the other. */
#define NEAR_ITEMS 2048

#endif
