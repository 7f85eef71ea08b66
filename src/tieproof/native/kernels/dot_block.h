/* The dot products of ROWS codes and of BLOCKS blocks of items, by an instruction that adds four products of bytes to
   each lane of a vector: included by codes.h for each such instruction.

   A vector VECTOR has 64 / PARTS bytes. DOT(sum, items, row) adds the products of unsigned bytes of items and of the
   signed bytes of a row, which ALL(four bytes) repeats in all lanes. NEXT bytes later are the next four of a row.
   PUT(to, sum) writes a vector of sums, unless it is defined otherwise. */

#ifndef PUT
#define PUT(to, sum) memcpy(to, &(sum), sizeof(sum))
#endif

TARGET static void NAME(
    const int8_t *const *row, const uint8_t *const *block, int64_t steps, int32_t (*restrict products)[WIDEST])
{
    VECTOR sum[ROWS][BLOCKS * PARTS];
#pragma GCC unroll 12
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
        for (int part = 0; part < BLOCKS * PARTS; part++)
            sum[r][part] = (VECTOR){0};
    for (int64_t step = 0; step < steps; step++) {
        VECTOR items[BLOCKS * PARTS];
#pragma GCC unroll 4
        for (int part = 0; part < BLOCKS * PARTS; part++)
            memcpy(&items[part], block[part / PARTS] + 64 * step + part % PARTS * (int)sizeof(VECTOR), sizeof(VECTOR));
#pragma GCC unroll 12
        for (int r = 0; r < ROWS; r++) {
            int32_t four;
            memcpy(&four, row[r] + NEXT * step, 4);
            VECTOR codes = ALL(four);
#pragma GCC unroll 4
            for (int part = 0; part < BLOCKS * PARTS; part++)
                sum[r][part] = DOT(sum[r][part], items[part], codes);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
        for (int part = 0; part < BLOCKS * PARTS; part++)
            PUT(&products[r][part * IN_BLOCK / PARTS], sum[r][part]);
}

#undef NAME
#undef TARGET
#undef VECTOR
#undef PARTS
#undef ROWS
#undef BLOCKS
#undef NEXT
#undef ALL
#undef DOT
#undef PUT
