/* The dot products of six rows of codes and a block of items by ARM's instruction for small matrices, which adds the
   products of eight codes of two rows with those of two items: included by dot_products.h. */

#ifdef __clang__
#define MATRICES __attribute__((target("i8mm"), always_inline)) static inline
#define MATRICES_APART __attribute__((target("i8mm"), noinline)) static
#else
#define MATRICES __attribute__((target("arch=armv8.2-a+i8mm"), always_inline)) static inline
#define MATRICES_APART __attribute__((target("arch=armv8.2-a+i8mm"), noinline)) static
#endif

/* The codes of two rows at `first`, eight of each; four, and zeros, if the others are behind the end. */
MATRICES int8x16_t codes_of_two(const int8_t *const *row, int64_t first, bool half)
{
    int8_t both[16] = {0};
    memcpy(both, row[0] + first, half ? 4 : 8);
    memcpy(both + 8, row[1] + first, half ? 4 : 8);
    return vld1q_s8(both);
}

/* Four codes of each of four items. */
MATRICES int32x4_t codes_of_four(const uint8_t *items)
{
    return vreinterpretq_s32_u8(veorq_u8(vld1q_u8(items), vdupq_n_u8(128)));
}

/* Add the products of two steps, or of the last one. */
MATRICES void add_products(
    const int8_t *const *row, const uint8_t *items, int64_t step, bool half, int32x4_t (*restrict sum)[IN_BLOCK / 2])
{
    int8x16_t rows[3];
#pragma GCC unroll 3
    for (int r = 0; r < 3; r++)
        rows[r] = codes_of_two(row + 2 * r, 4 * step, half);
#pragma GCC unroll 4
    for (int four = 0; four < IN_BLOCK / 4; four++) {
        const uint8_t *from = items + 64 * step + 16 * four;
        int32x4_t here = codes_of_four(from), next = half ? here : codes_of_four(from + 64);
        int8x16_t two = vreinterpretq_s8_s32(vzip1q_s32(here, next)), others = vreinterpretq_s8_s32(vzip2q_s32(here, next));
#pragma GCC unroll 3
        for (int r = 0; r < 3; r++) {
            sum[r][2 * four] = vmmlaq_s32(sum[r][2 * four], rows[r], two);
            sum[r][2 * four + 1] = vmmlaq_s32(sum[r][2 * four + 1], rows[r], others);
        }
    }
}

MATRICES_APART void dot_by_matrices(
    const int8_t *const *row, const uint8_t *const *block, int64_t steps, int32_t (*restrict products)[WIDEST])
{
    int32x4_t sum[3][IN_BLOCK / 2] = {0};
    for (int64_t step = 0; step + 1 < steps; step += 2)
        add_products(row, block[0], step, false, sum);
    if (steps % 2)
        add_products(row, block[0], steps - 1, true, sum);
#pragma GCC unroll 3
    for (int r = 0; r < 3; r++)
#pragma GCC unroll 8
        for (int two = 0; two < IN_BLOCK / 2; two++) {
            vst1_s32(&products[2 * r][2 * two], vget_low_s32(sum[r][two]));
            vst1_s32(&products[2 * r + 1][2 * two], vget_high_s32(sum[r][two]));
        }
}
