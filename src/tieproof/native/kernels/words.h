/* Exact keys of rows of short integers, each a sum of 64 bits: distances/exact/words.py. */

#ifndef TIEPROOF_WORDS_H
#define TIEPROOF_WORDS_H

#include "array.h"

/* out[i] = the sum of TERM(a, b) over the entries a of x[rows[i]] and b of y[columns[i]]; no sum overflows. */
#define SUMS_OF_WORDS(NAME, TERM)                                                              \
    KERNEL void NAME(Ints x, Ints y, Longs rows, Longs columns, Longs out)                     \
    {                                                                                          \
        for (int64_t i = 0; i < out.length; i++) {                                             \
            FETCH_AHEAD(y, columns, i);                                                        \
            const int32_t *restrict a = ROW(x, AT(rows, i)).at, *restrict b = ROW(y, AT(columns, i)).at; \
            int64_t sum = 0;                                                                   \
            for (int64_t d = 0; d < x.columns; d++)                                            \
                sum += TERM(a[d], b[d]);                                                       \
            AT(out, i) = sum;                                                                  \
        }                                                                                      \
    }

#define PRODUCT(a, b) ((int64_t)(a) * (b))
#define MINUS_SQUARE(a, b) -((int64_t)((a) - (b)) * ((a) - (b)))
#define MINUS_DIFFERENCE(a, b) -(int64_t)((a) > (b) ? (a) - (b) : (b) - (a))

SUMS_OF_WORDS(products_of_words, PRODUCT)
SUMS_OF_WORDS(squares_of_words, MINUS_SQUARE)
SUMS_OF_WORDS(distances_of_words, MINUS_DIFFERENCE)

#undef PRODUCT
#undef MINUS_SQUARE
#undef MINUS_DIFFERENCE

#endif
