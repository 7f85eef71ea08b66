/* Keep the items of tiles that may be among the k nearest items of a query: engine/keeping.py. */

#include "listing.h"
#include "masks.h"

typedef struct {
    Longs size, enough;
    Reals lowest;
    Doubles floor, margin;
    Ints item;
    Reals value, room;
} OF(Kept);

static inline void OF(exchange)(REAL *value, int64_t i, int64_t j)
{
    REAL other = value[i];
    value[i] = value[j];
    value[j] = other;
}

/* The k-th largest of `count` numbers, which are reordered (Hoare's selection, with the median of three). */
static inline REAL OF(kth_largest)(REAL *value, int64_t count, int64_t k)
{
    int64_t first = 0, last = count - 1, wanted = k - 1;
    while (first < last) {
        int64_t middle = first + (last - first) / 2;
        if (value[middle] > value[first])
            OF(exchange)(value, middle, first);
        if (value[last] > value[first])
            OF(exchange)(value, last, first);
        if (value[last] > value[middle])
            OF(exchange)(value, last, middle);
        REAL pivot = value[middle];
        int64_t i = first, j = last;
        while (i <= j) {
            while (value[i] > pivot)
                i++;
            while (value[j] < pivot)
                j--;
            if (i <= j)
                OF(exchange)(value, i++, j--);
        }
        if (wanted <= j)
            last = j;
        else if (wanted >= i)
            first = i;
        else
            break;
    }
    return value[wanted];
}

/* The largest REAL that is surely at most `number`, or minus infinity. */
static inline REAL OF(rounded_down)(double number)
{
    if (!(number >= -DBL_MAX))
        return -(REAL)INFINITY;
    REAL near = (REAL)number;
    if ((double)near <= number)
        return near;
    return near - (REAL)fabs((double)near) * (REAL)(sizeof(REAL) == 4 ? 0x1p-22 : 0x1p-51) - (REAL)FLT_MIN;
}

/* Find out how near the k-th nearest item of a query surely is, and drop the items that are surely farther. */
static inline void OF(narrow)(const OF(Kept) *kept, int64_t q, int64_t k, double relative)
{
    int64_t count = AT(kept->size, q), left = 0;
    REAL *value = ROW(kept->value, q).at, *room = kept->room.at;
    int32_t *item = ROW(kept->item, q).at;
    if (count >= k) {
        memcpy(room, value, (size_t)count * sizeof(REAL));
        double kth = (double)OF(kth_largest)(room, count, k);
        double surely = kth - (AT(kept->margin, q) + relative * fabs(kth));
        if (surely > AT(kept->floor, q))
            AT(kept->floor, q) = surely;
        double floor = AT(kept->floor, q);
        AT(kept->lowest, q) = OF(rounded_down)(floor - (AT(kept->margin, q) + relative * fabs(floor)));
    }
    REAL lowest = AT(kept->lowest, q);
    for (int64_t i = 0; i < count; i++) {
        value[left] = value[i];
        item[left] = item[i];
        left += value[i] >= lowest;
    }
    AT(kept->size, q) = left;
    AT(kept->enough, q) = left + left / 2 > k + k / 2 ? left + left / 2 + 16 : k + k / 2 + 16;
}

/* Drop the items of every query that are surely farther than its k-th nearest item. */
KERNEL void OF(narrow_all)(const OF(Kept) *kept, int64_t k, double relative)
{
    for (int64_t q = 0; q < kept->size.length; q++)
        OF(narrow)(kept, q, k, relative);
}

/* Whether any of `GROUP` entries reaches `lowest`. */
#define ANY(reaches)                         \
    ({                                       \
        OF(Whole) any = 0;                   \
        for (int64_t c = 0; c < GROUP; c++)  \
            any |= (reaches);                \
        any != 0;                            \
    })

/* List the items of a row that reach `lowest`. Most groups have none. `plain`: entries are the nearness. */
APART int64_t OF(list_near)(
    const REAL *restrict raw, const REAL *restrict factor, const REAL *restrict shift, bool plain, REAL lowest,
    int64_t width, uint32_t *restrict close)
{
    int64_t found = 0, start = 0;
    uint8_t flag[GROUP];
    for (; start + GROUP <= width; start += GROUP) {
        const REAL *r = raw + start, *f = factor + start, *s = shift + start;
        if (plain) {
            if (!ANY(r[c] >= lowest))
                continue;
            for (int64_t c = 0; c < GROUP; c++)
                flag[c] = r[c] >= lowest;
        } else {
            if (!ANY(r[c] * f[c] - s[c] >= lowest))
                continue;
            for (int64_t c = 0; c < GROUP; c++)
                flag[c] = r[c] * f[c] - s[c] >= lowest;
        }
        found = list_flags(flag, (uint32_t)start, close, found);
    }
    memset(flag, 0, GROUP);
    for (int64_t c = start; c < width; c++)
        flag[c - start] = raw[c] * factor[c] - shift[c] >= lowest;
    return list_flags(flag, (uint32_t)start, close, found);
}

/* Keep the items of a tile for the queries from `query` on. Returns the query after the last one, or an earlier one
   that has no room for its items. */
KERNEL int64_t OF(keep_near)(
    const OF(Tile) *tile, const Targets *targets, const OF(Kept) *kept, int64_t query, int64_t k, double relative,
    bool plain, Places close)
{
    const REAL *factor = tile->form.factor.at, *shift = tile->form.shift.at;
    int64_t width = tile->entries.columns, room = kept->item.columns;
    for (int64_t q = query; q < kept->size.length; q++) {
        const REAL *raw = ROW(tile->entries, AT(targets->row, q) - tile->row).at;
        int64_t found = OF(list_near)(raw, factor, shift, plain, AT(kept->lowest, q), width, close.at);
        found = leave_out(targets->run, AT(targets->first, q), AT(targets->last, q), tile->column, found, close);
        if (!found)
            continue;
        int64_t count = AT(kept->size, q);
        if (count + found > room) {
            OF(narrow)(kept, q, k, relative);
            count = AT(kept->size, q);
            REAL lowest = AT(kept->lowest, q);
            int64_t left = 0;
            for (int64_t i = 0; i < found; i++) {
                uint32_t c = AT(close, i);
                AT(close, left) = c;
                left += raw[c] * factor[c] - shift[c] >= lowest;
            }
            found = left;
            if (count + found > room)
                return q;
        }
        REAL *value = ROW(kept->value, q).at + count;
        int32_t *item = ROW(kept->item, q).at + count;
        for (int64_t i = 0; i < found; i++) {
            uint32_t c = AT(close, i);
            value[i] = raw[c] * factor[c] - shift[c];
            item[i] = (int32_t)(tile->column + c);
        }
        AT(kept->size, q) = count + found;
        if (count + found >= AT(kept->enough, q))
            OF(narrow)(kept, q, k, relative);
    }
    return kept->size.length;
}
