/* Find the items of a tile that may be as near as a threshold of a query: engine/counting.py. */

#include "listing.h"
#include "masks.h"

/* The number of parts of a row; a crowded row is usually recognized by the first part. */
#ifndef PARTS
#define PARTS 8
#endif

/* The number of the first `width` items that reach `lowest`. */
APART int64_t OF(reaching)(
    const REAL *restrict raw, const REAL *restrict factor, const REAL *restrict shift, REAL lowest, int64_t width)
{
    OF(Whole) count = 0;
    for (int64_t c = 0; c < width; c++)
        count += raw[c] * factor[c] - shift[c] >= lowest;
    return count;
}

/* List the positions from `left` to `right` whose items reach `lowest`; `close` has room for a multiple of 8. */
APART int64_t OF(list_reaching)(
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

/* Whether a row has more than `few` items from `left` to `right` that reach `lowest`; `reaching` receives their
   number if it does not. */
static inline bool OF(is_crowded)(
    const OF(Tile) *tile, const REAL *raw, REAL lowest, double few, int64_t left, int64_t right, int64_t *reaching)
{
    const REAL *factor = tile->form.factor.at, *shift = tile->form.shift.at;
    int64_t middle = left + (right - left) / PARTS;
    int64_t some = OF(reaching)(raw + left, factor + left, shift + left, lowest, middle - left);
    if (some <= few)
        some += OF(reaching)(raw + middle, factor + middle, shift + middle, lowest, right - middle);
    *reaching = some;
    return some > few;
}

/* List the query rows to which an item is near. */
APART int64_t OF(list_rows)(
    const REAL *restrict raw, REAL factor, REAL shift, const REAL *restrict lowest, int64_t width, uint32_t *close)
{
    int64_t found = 0;
    uint8_t flag[GROUP];
    for (int64_t start = 0; start < width; start += GROUP) {
        int64_t some = width - start < GROUP ? width - start : GROUP;
        if (some < GROUP)
            memset(flag, 0, GROUP);
        OF(Whole) near = 0;
        for (int64_t r = 0; r < some; r++)
            near |= raw[start + r] * factor - shift >= lowest[start + r];
        if (!near)
            continue;
        for (int64_t r = 0; r < some; r++)
            flag[r] = raw[start + r] * factor - shift >= lowest[start + r];
        found = list_flags(flag, (uint32_t)start, close, found);
    }
    return found;
}
