/* Count many items of a row at once where nearness has no error, so that every comparison decides:
   engine/counting.py. */


/* The largest range of whole numbers between the thresholds in which each number gets its own count; the driver
   allocates the memory. */
#ifndef WHOLE_NUMBERS
#define WHOLE_NUMBERS 4096
#endif

/* Count the items at each whole number, from the last threshold up. `gap` shows where ties begin. */
static inline void OF(count_whole)(
    Reals keys, Reals value, Ints weights, const OF(Sorting) *sorting, Ints gap, Ints nearer, Ints equal)
{
    int64_t count = keys.length;
    REAL lowest = AT(keys, count - 1), top = AT(keys, 0) - lowest + (REAL)2;
    uint32_t *position = sorting->position.at;
    int32_t *slots = sorting->slots.at;
    OF(buckets_of)(value.at, value.length, lowest, (REAL)1, top, position);
    count_from_above(position, value.length, (int64_t)top + 1, weights.at, slots);
    OF(buckets_of)(keys.at, count, lowest, (REAL)1, top, sorting->close.at);
    part_by_level(sorting->close.at, gap.at, count, slots, nearer.at, equal.at);
}

/* Compute the nearness of the listed items, which has no error. */
APART void OF(nearness_of)(
    int64_t touched,
    const REAL *restrict raw,
    const double *restrict square,
    bool ratio,
    const REAL *restrict value,
    const uint32_t *restrict close,
    double *restrict near)
{
    if (ratio)
        for (int64_t j = 0; j < touched; j++) {
            double entry = raw[close[j]];
            near[j] = entry * fabs(entry) / square[close[j]];
        }
    else
        for (int64_t j = 0; j < touched; j++)
            near[j] = value[close[j]];
}

/* Compare the listed items with the keys next to their buckets. In place of the bucket of an item, `position`
   receives the slot in which the item is to be counted. The slots of items at ties follow the slots of items
   between ties. */
APART void OF(compare)(
    int64_t touched,
    const double *restrict key,
    int64_t count,
    const double *restrict near,
    const uint16_t *restrict table,
    const uint32_t *restrict close,
    uint32_t *restrict position)
{
    for (int64_t j = 0; j < touched; j++) {
        int64_t t = first_at_most_double(key, count, near[j], table[position[close[j]]] & NUMBER);
        int64_t place = t - (t == count), is_equal = key[place] == near[j];
        position[j] = (uint32_t)(t + is_equal * (count + 1));
    }
}

/* Count all items of a row for a crowded query: `tally` receives the items between ties, followed by the items at
   ties. Items are only listed if thresholds are outside the range of the tile's type; returns the number of listed
   items. */
static inline int64_t OF(count_exactly)(
    const OF(Tile) *tile,
    const OF(Work) *work,
    int64_t q,
    const OF(Sorting) *sorting,
    Doubles near,
    Ints tally)
{
    const OF(NearnessForm) *form = &tile->form;
    const Thresholds *thresholds = &work->thresholds;
    int64_t start = AT(thresholds->start, q), stop = AT(thresholds->stop, q), count = stop - start;
    Reals raw = ROW(tile->entries, AT(work->targets.row, q) - tile->row);
    Reals value = PART(sorting->value, 0, tile->entries.columns);
    Reals low = PART(sorting->low, 0, count), high = PART(sorting->high, 0, count);
    Doubles key = PART(thresholds->key, start, stop);
    Ints gap = PART(work->counts.gap, start, stop);
    OF(show_counted)(tile, &work->targets, q, raw.at, value);
    OF(widen)(key.at, count, AT(thresholds->reach, q), AT(thresholds->margin, q), form->ratio, low.at, high.at);
    REAL lowest = AT(low, count - 1), highest = AT(high, 0);
    memset(tally.at, 0, (size_t)tally.length * sizeof *tally.at);
    Ints equal = PART(tally, count + 1, 2 * count + 2);
    if (form->whole && highest - lowest < WHOLE_NUMBERS) {
        OF(count_whole)(low, value, form->weight, sorting, gap, tally, equal);
        return 0;
    }
    if (!(-(REAL)INFINITY < lowest && highest < (REAL)INFINITY))
        return OF(list_counted)(value, sorting->open);
    int64_t touched = OF(sort_into_buckets)(low, high, value, form->weight, sorting);
    OF(nearness_of)(
        touched, raw.at, form->square.at, form->ratio, value.at, sorting->close.at, near.at);
    OF(compare)(
        touched, key.at, count, near.at, sorting->table.at, sorting->close.at, sorting->position.at);
    int32_t *slots = sorting->slots.at;
    memset(slots + count + 1, 0, (size_t)(count + 1) * sizeof *slots);
    add_to_slots(sorting->position.at, sorting->close.at, touched, form->weight.at, slots);
    memcpy(tally.at, slots, (size_t)(2 * count + 1) * sizeof *slots);
    count_at_ties(gap.at, count, equal.at, tally.at);
    return 0;
}
