/* Count many items of a row at once, by sorting them into buckets between the thresholds: engine/counting.py. */

#include "table.h"

/* Compute the nearness of each item in a row of a tile. */
APART void OF(show)(
    const REAL *restrict raw,
    const REAL *restrict factor,
    const REAL *restrict shift,
    int64_t width,
    REAL *restrict value)
{
    for (int64_t c = 0; c < width; c++)
        value[c] = raw[c] * factor[c] - shift[c];
}

/* Compute the nearness of each item for a query; items that the query leaves out of the count are infinitely far
   away. */
static inline void OF(show_counted)(
    const OF(Tile) *tile, const Targets *targets, int64_t q, const REAL *raw, Reals value)
{
    OF(show)(raw, tile->form.factor.at, tile->form.shift.at, value.length, value.at);
    OF(hide)(targets->run, AT(targets->first, q), AT(targets->last, q), tile->column, value);
}

/* List the items that are not infinitely far away, and return their number. */
static inline int64_t OF(list_counted)(Reals value, Places close)
{
    int64_t found = 0;
    for (int64_t c = 0; c < value.length; c++) {
        AT(close, found) = (uint32_t)c;
        found += AT(value, c) > -(REAL)INFINITY;
    }
    return found;
}

/* Compute, in the tile's type, the interval of entries that may be equal to each threshold of a query. Both ends
   of the intervals descend. For ratios s |s| / n, the entries are their signed roots. `margin` covers the rounding
   errors of this function (distances/exact/README.md, section 4). */
APART void OF(widen)(
    const double *restrict key,
    int64_t count,
    double reach,
    double margin,
    bool ratio,
    REAL *restrict low,
    REAL *restrict high)
{
    if (ratio) {
        for (int64_t t = 0; t < count; t++) {
            double near = key[t] + reach, far = key[t] - reach;
            near = copysign(sqrt(fabs(near)), near);
            far = reach == 0.0 ? near : copysign(sqrt(fabs(far)), far);
            low[t] = (REAL)(far - margin);
            high[t] = (REAL)(near + margin);
        }
        return;
    }
    for (int64_t t = 0; t < count; t++) {
        low[t] = (REAL)(key[t] - reach - margin);
        high[t] = (REAL)(key[t] + reach + margin);
    }
}

/* The bucket of each value, 0 … top. It is monotone in the value, because every operation rounds monotonically. */
APART void OF(buckets_of)(
    const REAL *restrict value, int64_t count, REAL origin, REAL scale, REAL top, uint32_t *restrict bucket)
{
    for (int64_t i = 0; i < count; i++) {
        REAL place = (value[i] - origin) * scale + (REAL)1;
        place = place > (REAL)0 ? place : (REAL)0;
        bucket[i] = (uint32_t)(int32_t)(place < top ? place : top);
    }
}

/* Count items in `slots` by their buckets; list the items near a threshold, and return their number. */
static inline int64_t OF(sort_into_buckets)(
    Reals low, Reals high, Reals value, Ints weight, const OF(Sorting) *sorting)
{
    int64_t count = low.length, size = BUCKETS * count + SOME;
    REAL origin = AT(low, count - 1), top = (REAL)(size - 1), extent = AT(high, 0) - origin;
    REAL scale = extent > 0 ? (REAL)(size - 3) / extent : (REAL)1;
    if (!(0 < scale && scale < (REAL)INFINITY))
        scale = 1;
    uint32_t *position = sorting->position.at, *close = sorting->close.at;
    OF(buckets_of)(low.at, count, origin, scale, top, position);
    OF(buckets_of)(high.at, count, origin, scale, top, close);
    make_table(position, close, count, size, sorting->table.at);
    int32_t *slots = sorting->slots.at;
    memset(slots, 0, (size_t)(count + 1) * sizeof *slots);
    OF(buckets_of)(value.at, value.length, origin, scale, top, position);
    return count_by_bucket(position, value.length, sorting->table.at, weight.at, slots, close);
}

/* Find the first of `count` descending bounds, from index t < count on, that is at most `value`. Usually it is one
   of the next two. Both are compared without a branch, which a processor could not predict. */
static inline int64_t OF(first_at_most)(const REAL *low, int64_t count, REAL value, int64_t t)
{
    int64_t second = t + (t + 1 < count);
    int64_t place = t + (low[t] > value) + (low[second] > value);
    place = place < count ? place : count;
    if (place < count && low[place] > value) {
        int64_t stop = count;
        while (place < stop) {
            int64_t middle = (place + stop) >> 1;
            if (low[middle] > value)
                place = middle + 1;
            else
                stop = middle;
        }
    }
    return place;
}

/* Compare the listed items with the thresholds next to their buckets. In place of the bucket of an item,
   `position` receives the slot in which the item is to be counted. Items that may be equal to a threshold receive
   the slot behind all thresholds, which is never read, and are listed in `open`. Returns their number. */
APART int64_t OF(look_closer)(
    int64_t touched,
    const REAL *restrict low,
    const REAL *restrict high,
    int64_t count,
    const REAL *restrict value,
    const uint16_t *restrict table,
    const uint32_t *restrict close,
    uint32_t *restrict position,
    uint32_t *restrict open)
{
    int64_t kept = 0;
    for (int64_t j = 0; j < touched; j++) {
        uint32_t c = close[j];
        int64_t t = OF(first_at_most)(low, count, value[c], table[position[c]] & NUMBER), place = t - (t == count);
        bool is_open = (t < count) & (high[place] >= value[c]);
        position[j] = (uint32_t)(is_open ? count : t); /* j is at most c, so this bucket is not read again */
        open[kept] = c;
        kept += is_open;
    }
    return kept;
}

/* Count all items of a row for a crowded query in `tally`, but list the items that may be equal to a threshold,
   and return their number. */
static inline int64_t OF(count_crowded)(
    const OF(Tile) *tile, const OF(Work) *work, int64_t q, const OF(Sorting) *sorting, Ints tally)
{
    const Thresholds *thresholds = &work->thresholds;
    int64_t start = AT(thresholds->start, q), count = AT(thresholds->stop, q) - start;
    Reals raw = ROW(tile->entries, AT(work->targets.row, q) - tile->row);
    Reals value = PART(sorting->value, 0, tile->entries.columns);
    Reals low = PART(sorting->low, 0, count), high = PART(sorting->high, 0, count);
    OF(show_counted)(tile, &work->targets, q, raw.at, value);
    OF(widen)(
        &AT(thresholds->key, start), count, AT(thresholds->reach, q), AT(thresholds->margin, q), tile->form.ratio,
        low.at, high.at);
    if (!(-(REAL)INFINITY < AT(low, count - 1) && AT(high, 0) < (REAL)INFINITY)) {
        memset(tally.at, 0, (size_t)tally.length * sizeof *tally.at);
        return OF(list_counted)(value, sorting->open);
    }
    int64_t touched = OF(sort_into_buckets)(low, high, value, tile->form.weight, sorting);
    int64_t kept = OF(look_closer)(
        touched, low.at, high.at, count, value.at, sorting->table.at, sorting->close.at, sorting->position.at,
        sorting->open.at);
    add_to_slots(sorting->position.at, sorting->close.at, touched, tile->form.weight.at, sorting->slots.at);
    memcpy(tally.at, sorting->slots.at, (size_t)count * sizeof *tally.at);
    return kept;
}
