/* Counting many items of a row at once where nothing has an error: engine/exact_counting.py. */


/* Whole numbers between the thresholds up to which each gets a count of its own; the driver makes room for them. */
#ifndef WHOLE_NUMBERS
#define WHOLE_NUMBERS 4096
#endif

/* Count whole numbers: how many items there are at each, from the last threshold up. `gap` tells where ties begin. */
static inline void OF(count_whole)(
    Reals keys, Reals value, Ints weights, const OF(Sorting) *sorting, Ints gap, Ints nearer, Ints equal)
{
    int64_t count = keys.length;
    REAL lowest = AT(keys, count - 1), top = AT(keys, 0) - lowest + (REAL)2;
    int64_t level = (int64_t)top;
    uint32_t *restrict position = sorting->position.at;
    int32_t *restrict slots = sorting->slots.at;
    const int32_t *restrict weight = weights.at;
    OF(buckets_of)(value.at, value.length, lowest, (REAL)1, top, position);
    memset(slots, 0, (size_t)(level + 1) * sizeof *slots);
    for (int64_t c = 0; c < value.length; c++)
        slots[position[c]] += weight[c];
    int32_t before = 0;
    for (int64_t t = 0; t < count; t++) {
        if (AT(gap, t) == CONTINUED)
            continue;
        int64_t here = (int64_t)(AT(keys, t) - lowest) + 1;
        for (int64_t other = here + 1; other <= level; other++)
            before += slots[other];
        AT(nearer, t) = before;
        AT(equal, t) = before = slots[here];
        level = here - 1;
    }
}

/* Nearness of the listed items, which has no error. */
static inline void OF(nearness_of)(
    int64_t touched, Reals raw, const OF(Form) *form, Reals value, Places close, Doubles near)
{
    if (form->ratio)
        for (int64_t j = 0; j < touched; j++) {
            double entry = AT(raw, AT(close, j));
            AT(near, j) = entry * fabs(entry) / AT(form->square, AT(close, j));
        }
    else
        for (int64_t j = 0; j < touched; j++)
            AT(near, j) = AT(value, AT(close, j));
}

/* Compare the items in touched buckets with the keys next to them, and count them. */
static inline void OF(count_compared)(
    int64_t touched,
    Doubles keys,
    Ints weights,
    const OF(Sorting) *sorting,
    const ExactRoom *exact,
    Ints slots,
    Ints equal)
{
    int64_t count = keys.length;
    for (int64_t j = 0; j < touched; j++) {
        uint32_t c = AT(sorting->close, j);
        int32_t weight = AT(weights, c);
        int64_t base = AT(sorting->table, AT(sorting->position, c)) & NUMBER;
        int64_t at = first_at_most_double(keys, AT(exact->near, j), base);
        /* Counted at its tie and as nearer than the next, or between two ties: without a branch, which nobody could
           guess. */
        int64_t place = at < count ? at : count - 1;
        bool is_equal = AT(keys, place) == AT(exact->near, j);
        AT(slots, base) -= weight;
        AT(slots, is_equal ? (int64_t)AT(exact->behind, place) : at) += weight;
        AT(equal, place) += is_equal ? weight : 0;
    }
}

/* Count all items of a row for a crowded query, in `slots` and `equal`; list them only where thresholds are beyond the
   tile's type, and return how many. */
static inline int64_t OF(count_exactly)(
    const OF(Tile) *tile,
    const OF(Work) *work,
    int64_t q,
    const OF(Sorting) *sorting,
    const ExactRoom *exact,
    Ints slots,
    Ints equal)
{
    const OF(Form) *form = &tile->form;
    const Thresholds *thresholds = &work->thresholds;
    int64_t start = AT(thresholds->start, q), stop = AT(thresholds->stop, q), count = stop - start;
    Reals raw = ROW(tile->entries, AT(work->targets.row, q) - tile->row);
    Reals value = PART(sorting->value, 0, tile->entries.columns);
    Reals low = PART(sorting->low, 0, count), high = PART(sorting->high, 0, count);
    Doubles key = PART(thresholds->key, start, stop);
    Ints gap = PART(work->counts.gap, start, stop);
    OF(show)(tile, &work->targets, q, raw.at, value);
    OF(widen)(key.at, count, AT(thresholds->reach, q), AT(thresholds->margin, q), form->ratio, low.at, high.at);
    REAL lowest = AT(low, count - 1), highest = AT(high, 0);
    memset(slots.at, 0, (size_t)slots.length * sizeof *slots.at);
    memset(equal.at, 0, (size_t)equal.length * sizeof *equal.at);
    if (form->whole && highest - lowest < WHOLE_NUMBERS) {
        OF(count_whole)(low, value, form->weight, sorting, gap, slots, equal);
        return 0;
    }
    if (!(-(REAL)INFINITY < lowest && highest < (REAL)INFINITY))
        return OF(list_counted)(value, sorting->close);
    int64_t touched = OF(sort_into_buckets)(low, high, value, form->weight, sorting, slots);
    OF(nearness_of)(touched, raw, form, value, sorting->close, exact->near);
    ties_behind(gap, exact->behind);
    OF(count_compared)(touched, key, form->weight, sorting, exact, slots, equal);
    return 0;
}
