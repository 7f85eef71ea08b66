/* Tiles, and the working memory for counting them, by the type of their entries: engine/structures.py,
   distances/space.py. */

#include "structures.h"

typedef struct {
    Reals factor, shift;
    Doubles square;
    bool ratio, whole;
    Ints weight;
} OF(NearnessForm);

typedef struct {
    Reals lowest;
    Doubles few;
} OF(NearLimits);

typedef struct {
    Reals lowest;
    Longs first;
} OF(TileColumns);

typedef struct {
    Reals entries;
    OF(NearnessForm) form;
    int64_t row, column;
} OF(Tile);

typedef struct {
    Longs query;
    Ints row, item;
    Reals entry;
} OF(NearEntries);

typedef struct {
    Reals value, low, high;
    Shorts table;
    Ints slots;
    Places position, close, open;
} OF(Sorting);

typedef struct {
    OF(NearEntries) listed;
    Placed placed;
    Longs crowded;
    Ints tally;
    OF(Sorting) sorting;
    Doubles near;
} OF(TileMemory);

typedef struct {
    Targets targets;
    Thresholds thresholds;
    OF(NearLimits) limits;
    Counts counts;
    Undecided undecided;
} OF(Work);

/* A whole number as wide as an entry, so that as many of them fit into a vector. */
typedef __typeof__(_Generic((REAL)0, float: (int32_t)0, default: (int64_t)0)) OF(Whole);
