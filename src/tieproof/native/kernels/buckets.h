/* Counting many items of a row at once: engine/buckets.py. */

#include "table.h"

/* The nearness that a tile shows of each item of a row that the query counts; of the others minus infinity. */
static inline void OF(show)(
    const OF(Tile) *tile, const Targets *targets, int64_t q, const REAL *restrict raw, Reals value)
{
    const REAL *restrict factor = tile->form.factor.at, *restrict shift = tile->form.shift.at;
    REAL *restrict shown = value.at;
    for (int64_t c = 0; c < value.length; c++)
        shown[c] = raw[c] * factor[c] - shift[c];
    OF(hide)(targets->run, AT(targets->first, q), AT(targets->last, q), tile->column, value);
}

/* List the items that are not infinitely far away; return how many. */
static inline int64_t OF(list_counted)(Reals value, Places close)
{
    int64_t found = 0;
    for (int64_t c = 0; c < value.length; c++) {
        AT(close, found) = (uint32_t)c;
        found += AT(value, c) > -(REAL)INFINITY;
    }
    return found;
}

/* Intervals, in the tile's type, of all entries that may belong to a query's thresholds; both ends fall.
   For ratios s |s| / n the entries are their signed roots. The roundings here are covered by `margin`
   (exact/README.md, section 4). */
static inline void OF(widen)(
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

/* The bucket of each value, 0 … top. It never falls as values grow: every operation rounds monotonically. */
static inline void OF(buckets_of)(
    const REAL *restrict value, int64_t count, REAL origin, REAL scale, REAL top, uint32_t *restrict bucket)
{
    for (int64_t i = 0; i < count; i++) {
        REAL place = (value[i] - origin) * scale + (REAL)1;
        place = place > (REAL)0 ? place : (REAL)0;
        bucket[i] = (uint32_t)(int32_t)(place < top ? place : top);
    }
}

/* Count all items as their buckets suggest; list those that a threshold may be near to, return how many. */
static inline int64_t OF(sort_into_buckets)(
    Reals low, Reals high, Reals value, Ints weights, const OF(Sorting) *sorting, Ints tally)
{
    int64_t count = low.length, size = BUCKETS * count + SOME;
    REAL origin = AT(low, count - 1), top = (REAL)(size - 1), extent = AT(high, 0) - origin;
    REAL scale = extent > 0 ? (REAL)(size - 3) / extent : (REAL)1;
    if (!(0 < scale && scale < (REAL)INFINITY))
        scale = 1;
    uint32_t *restrict position = sorting->position.at, *restrict close = sorting->close.at;
    uint16_t *restrict table = sorting->table.at;
    int32_t *restrict slots = tally.at;
    const int32_t *restrict weight = weights.at;
    OF(buckets_of)(low.at, count, origin, scale, top, position);
    OF(buckets_of)(high.at, count, origin, scale, top, close);
    make_table(position, close, count, size, table);
    memset(slots, 0, (size_t)(count + 1) * sizeof *slots);
    OF(buckets_of)(value.at, value.length, origin, scale, top, position);
    uint32_t found = 0;
    for (uint32_t c = 0; c < (uint32_t)value.length; c++) {
        uint16_t entry = table[position[c]];
        slots[entry & NUMBER] += weight[c];
        close[found] = c;
        found += entry >> 15;
    }
    return found;
}

/* The first of the falling bounds, from `t` on, that is at most `value`: mostly one of the next two. These are
   counted, since a processor could not guess which. */
static inline int64_t OF(first_at_most)(Reals low, REAL value, int64_t t)
{
    int64_t stop = low.length, second = t + 1 < stop ? t + 1 : stop - 1;
    if (t < stop) {
        t += (AT(low, t) > value) + (AT(low, second) > value);
        t = t < stop ? t : stop;
    }
    if (t < stop && AT(low, t) > value) {
        while (t < stop) {
            int64_t middle = (t + stop) >> 1;
            if (AT(low, middle) > value)
                t = middle + 1;
            else
                stop = middle;
        }
    }
    return t;
}

/* Compare the items in touched buckets with the thresholds next to them; list those that may be equal to one. */
static inline int64_t OF(look_closer)(
    int64_t touched, Reals low, Reals high, Reals value, Ints weight, const OF(Sorting) *sorting, Ints slots)
{
    Places close = sorting->close, position = sorting->position;
    int64_t kept = 0;
    for (int64_t j = 0; j < touched; j++) {
        uint32_t c = AT(close, j);
        int64_t base = AT(sorting->table, AT(position, c)) & NUMBER;
        int64_t t = OF(first_at_most)(low, AT(value, c), base);
        bool open = t < low.length && AT(high, t) >= AT(value, c);
        AT(slots, base) -= AT(weight, c);
        AT(slots, t) += open ? 0 : AT(weight, c);
        AT(close, kept) = c;
        kept += open;
    }
    return kept;
}

/* Count all items of a row for a crowded query in `slots`, but list those that may be equal to a threshold; return how
   many. */
static inline int64_t OF(count_crowded)(
    const OF(Tile) *tile, const OF(Work) *work, int64_t q, const OF(Sorting) *sorting, Ints slots)
{
    const Thresholds *thresholds = &work->thresholds;
    int64_t start = AT(thresholds->start, q), count = AT(thresholds->stop, q) - start;
    Reals raw = ROW(tile->entries, AT(work->targets.row, q) - tile->row);
    Reals value = PART(sorting->value, 0, tile->entries.columns);
    Reals low = PART(sorting->low, 0, count), high = PART(sorting->high, 0, count);
    OF(show)(tile, &work->targets, q, raw.at, value);
    OF(widen)(
        &AT(thresholds->key, start), count, AT(thresholds->reach, q), AT(thresholds->margin, q), tile->form.ratio,
        low.at, high.at);
    if (!(-(REAL)INFINITY < AT(low, count - 1) && AT(high, 0) < (REAL)INFINITY)) {
        memset(slots.at, 0, (size_t)slots.length * sizeof *slots.at);
        return OF(list_counted)(value, sorting->close);
    }
    int64_t touched = OF(sort_into_buckets)(low, high, value, tile->form.weight, sorting, slots);
    return OF(look_closer)(touched, low, high, value, tile->form.weight, sorting, slots);
}
