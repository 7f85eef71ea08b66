/* Find the near pairs of a tile of codes while their products are computed: engine/pieces.py. */

/* Pairs of a query row and an item that may be as near as a threshold. */
typedef struct {
    Ints row, item;
    Reals entry;
} OF(NearPairs);

/* A side of a tile: the form of the other side's items, the limits of its own rows, and the pairs that are found. */
typedef struct {
    OF(NearnessForm) form;
    Reals lowest;
    OF(NearPairs) near;
} OF(TileSide);

/* The entry of an item of a piece, from its product with a row. */
#define ENTRY(c) ((REAL)(product[c] - row->excess) * row->scale * of_item[c])

/* What a row is to the items of a tile: its own limit and, as an item of their queries, its factor and shift. */
typedef struct {
    int32_t excess;
    REAL scale, lowest, factor, shift;
} OF(RowOfCodes);

/* Which of `count` items are near a row, and of which items it is near, as bits; few rows have any. */
static inline __attribute__((always_inline)) bool OF(near_items)(
    const int32_t *product, const OF(RowOfCodes) *row, const REAL *of_item, const REAL *factor, const REAL *shift,
    const REAL *lowest_of, int64_t count, uint64_t *near)
{
    REAL nearness[WIDEST], of_row[WIDEST];
    OF(Whole) any = 0;
    for (int64_t c = 0; c < count; c++) {
        REAL entry = ENTRY(c);
        nearness[c] = entry * factor[c] - shift[c];
        of_row[c] = entry * row->factor - row->shift;
        any |= nearness[c] >= row->lowest;
    }
    if (lowest_of)
        for (int64_t c = 0; c < count; c++)
            any |= of_row[c] >= lowest_of[c];
    near[0] = near[1] = 0;
    if (!any)
        return false;
    for (int64_t c = 0; c < count; c++) {
        near[0] |= (uint64_t)(nearness[c] >= row->lowest) << c;
        near[1] |= (uint64_t)(lowest_of && of_row[c] >= lowest_of[c]) << c;
    }
    return true;
}

/* Append near pairs: the bits of `near` are items from `first` on. */
#define APPEND(near, number, pairs, as_row, as_item)          \
    for (uint64_t left = (near); left; left &= left - 1) {    \
        int64_t bit = __builtin_ctzll(left), place = (number)++; \
        AT((pairs)->row, place) = (int32_t)(as_row);          \
        AT((pairs)->item, place) = (int32_t)(as_item);        \
        AT((pairs)->entry, place) = ENTRY(bit);               \
    }

/* Find the near pairs of a tile for its rows and, if `columns` has limits, for its columns. If there is no room for
   all of them, the numbers are -1. */
KERNEL Sifted OF(sift)(const OF(CodedTile) *tile, const OF(TileSide) *rows, const OF(TileSide) *columns)
{
    DotWay dots = dot_way(tile->way);
    int32_t products[HIGHEST][WIDEST] = {{0}};
    int64_t many = pieces_together(dots, tile->rows.columns), width = tile->item_scale.length;
    int64_t pieces = pieces_of(dots, tile->first, width);
    bool both = columns->lowest.length != 0;
    Sifted found = {0, 0};
    for (int64_t start = 0; start < pieces; start += many)
        for (int64_t i = 0; i < tile->rows.length; i += dots.rows) {
            OF(RowOfCodes) some[HIGHEST];
            for (int64_t r = i; r < i + dots.rows && r < tile->rows.length; r++)
                some[r - i] = (OF(RowOfCodes)){
                    dots.excess * AT2(tile->total, r, 0), AT(tile->row_scale, r), AT(rows->lowest, r),
                    both ? AT(columns->form.factor, r) : 0, both ? AT(columns->form.shift, r) : 0};
            for (int64_t number = start; number < start + many && number < pieces; number++) {
                Piece piece = piece_of(dots, number, tile->first, width);
                int64_t end = multiply_rows(dots, tile->rows, i, tile->blocks, piece.block, products), c = piece.column;
                const REAL *of_item = &AT(tile->item_scale, c);
                const REAL *factor = &AT(rows->form.factor, c), *shift = &AT(rows->form.shift, c);
                const REAL *lowest_of = both ? &AT(columns->lowest, c) : NULL;
                bool vectors = false;
#ifdef __AVX512F__
                uint32_t masks[HIGHEST][2];
                vectors = sizeof(REAL) == sizeof(float) && piece.count == 2 * IN_BLOCK;
                if (vectors && !near_both_ways(
                                   products, (const void *)some, end - i, of_item, factor, shift, lowest_of, masks))
                    continue;
#endif
                for (int64_t r = i; r < end; r++) {
                    const int32_t *product = &products[r - i][piece.skipped];
                    const OF(RowOfCodes) *row = &some[r - i];
                    uint64_t near[2];
#ifdef __AVX512F__
                    if (vectors)
                        near[0] = masks[r - i][0], near[1] = masks[r - i][1];
#endif
                    if (!vectors && !OF(near_items)(
                                        product, row, of_item, factor, shift, lowest_of, piece.count, near))
                        continue;
                    if (found.of_rows + WIDEST > rows->near.row.length
                        || found.of_columns + WIDEST > columns->near.row.length)
                        return (Sifted){-1, -1};
                    APPEND(near[0], found.of_rows, &rows->near, r, c + bit)
                    APPEND(near[1], found.of_columns, &columns->near, c + bit, r)
                }
            }
        }
    return found;
}

#undef ENTRY
#undef APPEND

/* Count near pairs, from number `start` on, for the queries that have their rows; as `count_in_columns`. */
KERNEL Counted OF(count_near)(
    const OF(NearPairs) *pairs,
    const OF(Tile) *tile,
    const Error *error,
    const OF(Work) *work,
    Longs first,
    int64_t start,
    int64_t undecided,
    const OF(TileMemory) *room)
{
    OF(NearEntries) near = room->listed;
    int64_t found = 0, i = start;
    Counted so_far = {start, 0, 0, undecided};
    for (; i < pairs->row.length; i++) {
        int64_t r = AT(pairs->row, i), own = tile->column + AT(pairs->item, i);
        if (found + AT(first, r + 1) - AT(first, r) > near.query.length) {
            OF(place_listed)(&near, found, tile, error, work, &room->placed, &so_far);
            found = 0;
            if (!OF(has_room)(work, room, &so_far))
                break;
        }
        found = OF(list_queries)(work, &near, first, r, own, AT(pairs->item, i), AT(pairs->entry, i), found);
    }
    OF(place_listed)(&near, found, tile, error, work, &room->placed, &so_far);
    so_far.next = i;
    return so_far;
}
