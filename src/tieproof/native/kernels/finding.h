/* Which items of a tile may be as near as a threshold of a query: engine/finding.py. */

#include "listing.h"
#include "masks.h"

/* A crowded row mostly shows it in the first of so many parts. */
#ifndef PARTS
#define PARTS 8
#endif

/* How many of `width` items reach `lowest`. */
static inline int64_t OF(reaching)(
    const REAL *restrict raw, const REAL *restrict factor, const REAL *restrict shift, REAL lowest, int64_t width)
{
    OF(Whole) count = 0;
    for (int64_t c = 0; c < width; c++)
        count += raw[c] * factor[c] - shift[c] >= lowest;
    return count;
}

/* List those places from `left` to `right` whose items reach `lowest`; `close` has room for a multiple of 8. */
static inline int64_t OF(list_reaching)(
    const REAL *restrict raw,
    const REAL *restrict factor,
    const REAL *restrict shift,
    REAL lowest,
    int64_t left,
    int64_t right,
    uint32_t *restrict close)
{
    int64_t found = 0;
    uint8_t flag[GROUP];
    for (int64_t start = left; start < right; start += GROUP) {
        int64_t width = right - start < GROUP ? right - start : GROUP;
        if (width < GROUP)
            memset(flag, 0, GROUP);
        for (int64_t c = 0; c < width; c++)
            flag[c] = raw[start + c] * factor[start + c] - shift[start + c] >= lowest;
        found = list_flags(flag, (uint32_t)start, close, found);
    }
    return found;
}

KERNEL ThreeNumbers OF(find_in_rows)(
    const OF(Tile) *tile,
    const Targets *targets,
    const OF(Limits) *limits,
    int64_t query,
    int64_t stop,
    Places close,
    Longs crowded,
    const OF(NearEntries) *listed)
{
    OF(NearEntries) near = *listed;
    const REAL *factor = tile->form.factor.at, *shift = tile->form.shift.at;
    Ints run = targets->run;
    int64_t width = tile->entries.columns, column = tile->column, found = 0, many = 0;
    for (int64_t q = query; q < stop; q++) {
        int64_t first = AT(targets->first, q), last = AT(targets->last, q), left, right;
        double few = AT(limits->few, q);
        if (few < 0)
            continue;
        counted(run, first, last, column, column + width, &left, &right);
        if (left == right)
            continue;
        int64_t r = AT(targets->row, q) - tile->row;
        Reals row = ROW(tile->entries, r);
        const REAL *raw = row.at;
        REAL lowest = AT(limits->lowest, q);
        int64_t middle = left + (right - left) / PARTS;
        int64_t reaching = OF(reaching)(raw + left, factor + left, shift + left, lowest, middle - left);
        if (reaching <= few)
            reaching += OF(reaching)(raw + middle, factor + middle, shift + middle, lowest, right - middle);
        if (reaching > few) {
            AT(crowded, many++) = q;
            continue;
        }
        if (!reaching)
            continue;
        if (found + reaching > near.query.length)
            return (ThreeNumbers){q, found, many};
        int64_t kept = OF(list_reaching)(raw, factor, shift, lowest, left, right, close.at);
        kept = leave_out(run, first, last, column, kept, close);
        for (int64_t j = 0; j < kept; j++, found++) {
            int64_t c = AT(close, j);
            AT(near.query, found) = q;
            AT(near.row, found) = r;
            AT(near.item, found) = c;
            AT(near.entry, found) = AT(row, c);
        }
    }
    return (ThreeNumbers){stop, found, many};
}

/* List those of the queries' rows that an item is near to. */
static inline int64_t OF(list_rows)(
    const REAL *restrict raw, REAL factor, REAL shift, const REAL *restrict lowest, int64_t width, uint32_t *close)
{
    int64_t found = 0;
    uint8_t flag[GROUP];
    for (int64_t start = 0; start < width; start += GROUP) {
        int64_t some = width - start < GROUP ? width - start : GROUP;
        if (some < GROUP)
            memset(flag, 0, GROUP);
        for (int64_t r = 0; r < some; r++)
            flag[r] = raw[start + r] * factor - shift >= lowest[start + r];
        found = list_flags(flag, (uint32_t)start, close, found);
    }
    return found;
}

KERNEL TwoNumbers OF(find_in_columns)(
    const OF(Tile) *tile,
    const Targets *targets,
    const OF(Limits) *limits,
    const OF(Columns) *columns,
    int64_t item,
    Places close,
    const OF(NearEntries) *listed)
{
    OF(NearEntries) near = *listed;
    Ints run = targets->run;
    Longs first = columns->first;
    int64_t items = tile->entries.length, width = tile->entries.columns, found = 0;
    int64_t queries = AT(first, width) - AT(first, 0);
    for (int64_t i = item; i < items; i++) {
        if (found + queries > near.query.length)
            return (TwoNumbers){i, found};
        Reals row = ROW(tile->entries, i);
        int64_t own = tile->column + i;
        int64_t rows = OF(list_rows)(
            row.at, AT(tile->form.factor, i), AT(tile->form.shift, i), columns->lowest.at, width, close.at);
        for (int64_t j = 0; j < rows; j++) {
            int64_t r = AT(close, j);
            for (int64_t q = AT(first, r); q < AT(first, r + 1); q++) {
                int64_t last = AT(targets->last, q), mask = first_run(run, AT(targets->first, q), last, own);
                if (AT(limits->few, q) < 0 || (mask < last && own >= AT2(run, mask, 0)))
                    continue;
                AT(near.query, found) = q;
                AT(near.row, found) = r;
                AT(near.item, found) = i;
                AT(near.entry, found) = AT(row, r);
                found++;
            }
        }
    }
    return (TwoNumbers){items, found};
}

KERNEL void OF(transpose)(Reals entries, Reals out)
{
    for (int64_t left = 0; left < entries.columns; left += GROUP) {
        int64_t right = left + GROUP < entries.columns ? left + GROUP : entries.columns;
        for (int64_t top = 0; top < entries.length; top += GROUP) {
            int64_t bottom = top + GROUP < entries.length ? top + GROUP : entries.length;
            for (int64_t j = left; j < right; j++)
                for (int64_t i = top; i < bottom; i++)
                    AT2(out, j, i) = AT2(entries, i, j);
        }
    }
}
