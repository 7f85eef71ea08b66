/* Transpose a tile: engine/counting.py. */

#if defined(__clang__) || __GNUC__ >= 12
typedef REAL OF(Four) __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL))));
#define SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* Transpose four rows of four entries. */
static inline void OF(transpose_four)(const REAL *from, int64_t stride, REAL *to, int64_t to_stride)
{
    OF(Four) row[4];
    for (int i = 0; i < 4; i++)
        row[i] = *(const OF(Four) *)(from + i * stride);
    OF(Four) a = SHUFFLED(row[0], row[1], 0, 4, 1, 5), b = SHUFFLED(row[0], row[1], 2, 6, 3, 7);
    OF(Four) c = SHUFFLED(row[2], row[3], 0, 4, 1, 5), d = SHUFFLED(row[2], row[3], 2, 6, 3, 7);
    *(OF(Four) *)to = SHUFFLED(a, c, 0, 1, 4, 5);
    *(OF(Four) *)(to + to_stride) = SHUFFLED(a, c, 2, 3, 6, 7);
    *(OF(Four) *)(to + 2 * to_stride) = SHUFFLED(b, d, 0, 1, 4, 5);
    *(OF(Four) *)(to + 3 * to_stride) = SHUFFLED(b, d, 2, 3, 6, 7);
}
#undef SHUFFLED
#else
static inline void OF(transpose_four)(const REAL *from, int64_t stride, REAL *to, int64_t to_stride)
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            to[j * to_stride + i] = from[i * stride + j];
}
#endif

KERNEL void OF(transpose)(Reals entries, Reals out)
{
    for (int64_t left = 0; left < entries.columns; left += GROUP) {
        int64_t right = left + GROUP < entries.columns ? left + GROUP : entries.columns;
        for (int64_t top = 0; top < entries.length; top += GROUP) {
            int64_t bottom = top + GROUP < entries.length ? top + GROUP : entries.length;
            int64_t j = left;
            for (; j + 4 <= right; j += 4) {
                int64_t i = top;
                for (; i + 4 <= bottom; i += 4)
                    OF(transpose_four)(&AT2(entries, i, j), entries.stride, &AT2(out, j, i), out.stride);
                for (; i < bottom; i++)
                    for (int64_t k = j; k < j + 4; k++)
                        AT2(out, k, i) = AT2(entries, i, k);
            }
            for (; j < right; j++)
                for (int64_t i = top; i < bottom; i++)
                    AT2(out, j, i) = AT2(entries, i, j);
        }
    }
}
