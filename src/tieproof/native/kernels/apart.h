/* Whether all values of a row are farther apart than their errors, without sorting the row. */

#ifndef TIEPROOF_APART_H
#define TIEPROOF_APART_H

#include "rounding.h"
#include "sorting.h"

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

#endif
