/* Sums of the largest products of sets of vectors: distances/maxsim.py. */

#undef LANES
#define LANES 32

/* Write the largest entries of `count` columns from `first` on among the rows start … stop-1. */
static inline void OF(largest_of_columns)(Reals entries, int64_t start, int64_t stop, int64_t first, int64_t count, REAL *best)
{
    memcpy(best, &AT2(entries, start, first), (size_t)count * sizeof(REAL));
    for (int64_t r = start + 1; r < stop; r++) {
        const REAL *restrict row = &AT2(entries, r, first);
        if (count == LANES)
            for (int lane = 0; lane < LANES; lane++)
                best[lane] = row[lane] > best[lane] ? row[lane] : best[lane];
        else
            for (int64_t lane = 0; lane < count; lane++)
                best[lane] = row[lane] > best[lane] ? row[lane] : best[lane];
    }
}

/* out[q, i] += the sum over the columns of query q of the largest entry in the rows ends[i - 1] … ends[i]-1 of item i;
   query[c] is the query of column c. */
KERNEL void OF(add_largest)(Reals entries, Longs ends, Longs query, Doubles out)
{
    REAL best[LANES];
    for (int64_t i = 0, start = 0; i < ends.length; start = AT(ends, i), i++)
        for (int64_t first = 0; first < entries.columns; first += LANES) {
            int64_t count = entries.columns - first < LANES ? entries.columns - first : LANES;
            OF(largest_of_columns)(entries, start, AT(ends, i), first, count, best);
            for (int64_t lane = 0; lane < count; lane++)
                AT2(out, AT(query, first + lane), i) += (double)best[lane];
        }
}

/* Raise the largest scaled products so far of `lanes` columns by those of a row. */
static inline __attribute__((always_inline)) void OF(raise_largest)(
    const int32_t *restrict product, int32_t excess, REAL scale, int lanes, REAL *restrict best)
{
    for (int lane = 0; lane < lanes; lane++) {
        REAL value = (REAL)(product[lane] - excess) * scale;
        best[lane] = value > best[lane] ? value : best[lane];
    }
}

/* As `add_largest`, for the products of codes while they are in registers. */
KERNEL void OF(add_largest_of_codes)(const OF(CodedTile) *tile, Longs ends, Longs query, Doubles out)
{
    DotWay dots = dot_way(tile->way);
    int32_t products[HIGHEST][WIDEST];
    REAL best[WIDEST];
    int64_t width = tile->item_scale.length, pieces = pieces_of(dots, tile->first, width);
    for (int64_t number = 0; number < pieces; number++) {
        Piece piece = piece_of(dots, number, tile->first, width);
        for (int64_t i = 0, item = 0, start = 0; i < tile->rows.length; i += dots.rows) {
            int64_t end = multiply_rows(dots, tile->rows, i, tile->blocks, piece.block, products);
            for (int64_t r = i; r < end; r++) {
                for (int lane = 0; r == start && lane < WIDEST; lane++)
                    best[lane] = -(REAL)INFINITY;
                int32_t excess = dots.excess * AT2(tile->total, r, 0);
                if (dots.blocks == 2)
                    OF(raise_largest)(products[r - i], excess, AT(tile->row_scale, r), 2 * IN_BLOCK, best);
                else
                    OF(raise_largest)(products[r - i], excess, AT(tile->row_scale, r), IN_BLOCK, best);
                if (r + 1 < AT(ends, item))
                    continue;
                for (int64_t c = 0; c < piece.count; c++) {
                    double of_query = (double)AT(tile->item_scale, piece.column + c);
                    AT2(out, AT(query, piece.column + c), item) += (double)best[piece.skipped + c] * of_query;
                }
                start = AT(ends, item++);
            }
        }
    }
}
