/* Tiles of numbers of bits that differ: distances/bits.py. */

#include "differing_bits.h"

/* Subtract `each` for each bit that differs from the sum of the numbers of the row and of the item. */
static inline void OF(subtract_bits)(
    const int32_t *restrict differing, REAL each, REAL of_row, const REAL *restrict of_item, int64_t count,
    REAL *restrict out)
{
    for (int64_t j = 0; j < count; j++)
        out[j] = of_row + of_item[j] - each * (REAL)differing[j];
}

/* out[i, j] = of_row[i] + of_item[j] - each * the number of bits that differ between row i and item first + j.

   way : the fastest way that may be used; all give the same numbers. */
KERNEL void OF(differing_tile)(
    Chars rows, Reals of_row, Bytes blocks, Reals of_item, int64_t first, double each, int64_t way, Reals out)
{
    DotWay bits = way_to_differ(way);
    int32_t counts[HIGHEST][WIDEST];
    int64_t together = pieces_together(bits, rows.columns), pieces = pieces_of(bits, first, out.columns);
    for (int64_t start = 0; start < pieces; start += together)
        for (int64_t i = 0; i < rows.length; i += bits.rows)
            for (int64_t number = start; number < start + together && number < pieces; number++) {
                Piece piece = piece_of(bits, number, first, out.columns);
                int64_t end = multiply_rows(bits, rows, i, blocks, piece.block, counts);
                for (int64_t r = i; r < end; r++)
                    OF(subtract_bits)(
                        &counts[r - i][piece.skipped], (REAL)each, AT(of_row, r), &AT(of_item, piece.column),
                        piece.count, &AT2(out, r, piece.column));
            }
}
