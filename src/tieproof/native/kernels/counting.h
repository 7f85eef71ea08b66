/* Count a tile for its rows or its columns: engine/counting.py.

   Results are written to `room`. When it is full, a kernel returns where to continue. */

/* List some items of a row, whose positions are in `close`; return the new number of listed items. */
static inline int64_t OF(list_items)(
    const OF(NearEntries) *listed, Places close, int64_t count, Reals raw, int64_t q, int64_t row, int64_t found)
{
    for (int64_t j = 0; j < count; j++, found++) {
        uint32_t c = AT(close, j);
        AT(listed->query, found) = q;
        AT(listed->row, found) = (int32_t)row;
        AT(listed->item, found) = (int32_t)c;
        AT(listed->entry, found) = AT(raw, c);
    }
    return found;
}

/* List item `i` of a tile, which is item `own` of all, for the queries of row `r` that do not leave it out; return the
   new number of listed items. */
static inline int64_t OF(list_queries)(
    const OF(Work) *work, const OF(NearEntries) *listed, Longs first, int64_t r, int64_t own, int64_t i, REAL entry,
    int64_t found)
{
    Ints run = work->targets.run;
    for (int64_t q = AT(first, r); q < AT(first, r + 1); q++) {
        int64_t last = AT(work->targets.last, q), mask = first_run(run, AT(work->targets.first, q), last, own);
        if (AT(work->limits.few, q) < 0 || (mask < last && own >= AT2(run, mask, 0)))
            continue;
        AT(listed->query, found) = q;
        AT(listed->row, found) = (int32_t)r;
        AT(listed->item, found) = (int32_t)i;
        AT(listed->entry, found) = entry;
        found++;
    }
    return found;
}

/* Whether there is room for placing all items of a full list. */
static inline bool OF(has_room)(const OF(Work) *work, const OF(TileMemory) *room, const Counted *so_far)
{
    int64_t most = room->listed.query.length;
    return so_far->placed + 2 * most <= room->placed.place.length
           && so_far->undecided + most <= work->undecided.query.length;
}

KERNEL Counted OF(count_in_rows)(
    const OF(Tile) *tile,
    const Error *error,
    const OF(Work) *work,
    int64_t query,
    int64_t stop,
    int64_t undecided,
    const OF(TileMemory) *room)
{
    Ints run = work->targets.run;
    Places open = room->sorting.open;
    int64_t width = tile->entries.columns, found = 0, used = 0, q = query;
    Counted so_far = {query, 0, 0, undecided};
    for (; q < stop; q++) {
        int64_t first = AT(work->targets.first, q), last = AT(work->targets.last, q), left, right, reaching, kept;
        double few = AT(work->limits.few, q);
        if (few < 0)
            continue;
        counted(run, first, last, tile->column, tile->column + width, &left, &right);
        if (left == right)
            continue;
        if (found + width > room->listed.query.length) {
            OF(place_listed)(&room->listed, found, tile, error, work, &room->placed, &so_far);
            found = 0;
            if (!OF(has_room)(work, room, &so_far))
                break;
        }
        int64_t row = AT(work->targets.row, q) - tile->row;
        Reals raw = ROW(tile->entries, row);
        REAL lowest = AT(work->limits.lowest, q);
        if (OF(is_crowded)(tile, raw.at, lowest, few, left, right, &reaching)) {
            int64_t slots = AT(work->thresholds.stop, q) - AT(work->thresholds.start, q) + 1;
            int64_t end = used + (error->certain ? 2 * slots : slots);
            if (end > room->tally.length)
                break;
            Ints tally = PART(room->tally, used, end);
            kept = error->certain ? OF(count_exactly)(tile, work, q, &room->sorting, room->near, tally)
                                  : OF(count_crowded)(tile, work, q, &room->sorting, tally);
            AT(room->crowded, so_far.tallied++) = q;
            used = end;
        } else if (reaching) {
            const REAL *factor = tile->form.factor.at, *shift = tile->form.shift.at;
            kept = OF(list_reaching)(raw.at, factor, shift, lowest, left, right, open.at);
            kept = leave_out(run, first, last, tile->column, kept, open);
        } else {
            continue;
        }
        found = OF(list_items)(&room->listed, open, kept, raw, q, row, found);
    }
    OF(place_listed)(&room->listed, found, tile, error, work, &room->placed, &so_far);
    so_far.next = q;
    return so_far;
}

KERNEL Counted OF(count_in_columns)(
    const OF(Tile) *tile,
    const Error *error,
    const OF(Work) *work,
    const OF(TileColumns) *columns,
    int64_t item,
    int64_t undecided,
    const OF(TileMemory) *room)
{
    Longs first = columns->first;
    OF(NearEntries) near = room->listed;
    Places close = room->sorting.close;
    int64_t items = tile->entries.length, width = tile->entries.columns, found = 0, i = item;
    int64_t queries = AT(first, width) - AT(first, 0);
    Counted so_far = {item, 0, 0, undecided};
    for (; i < items; i++) {
        if (found + queries > near.query.length) {
            OF(place_listed)(&near, found, tile, error, work, &room->placed, &so_far);
            found = 0;
            if (!OF(has_room)(work, room, &so_far))
                break;
        }
        Reals raw = ROW(tile->entries, i);
        int64_t own = tile->column + i;
        int64_t rows = OF(list_rows)(
            raw.at, AT(tile->form.factor, i), AT(tile->form.shift, i), columns->lowest.at, width, close.at);
        for (int64_t j = 0; j < rows; j++) {
            int64_t r = AT(close, j);
            found = OF(list_queries)(work, &near, first, r, own, i, raw.at[r], found);
        }
    }
    OF(place_listed)(&near, found, tile, error, work, &room->placed, &so_far);
    so_far.next = i;
    return so_far;
}

KERNEL void OF(add_up)(const OF(Work) *work, const OF(TileMemory) *room, int64_t tallied, int64_t placed, bool exact)
{
    Counts counts = work->counts;
    int64_t used = 0;
    for (int64_t i = 0; i < tallied; i++) {
        int64_t q = AT(room->crowded, i), start = AT(work->thresholds.start, q);
        int64_t count = AT(work->thresholds.stop, q) - start;
        int32_t *restrict gap = counts.gap.at + start, *restrict equal = counts.equal.at + start;
        const int32_t *restrict tally = room->tally.at + used;
        for (int64_t t = 0; t < count; t++)
            gap[t] += tally[t];
        used += count + 1;
        if (exact) {
            for (int64_t t = 0; t < count; t++)
                equal[t] += tally[count + 1 + t];
            used += count + 1;
        }
    }
    for (int64_t i = 0; i < placed; i++) {
        int64_t place = AT(room->placed.place, i);
        if (place >= 0)
            AT(counts.gap, place) += AT(room->placed.weight, i);
        else
            AT(counts.equal, ~place) += AT(room->placed.weight, i);
    }
}
