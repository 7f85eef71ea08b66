/* Digests of rows of numbers of a type REAL: inputs/identities.py. */

/* The bits of a number in float64, which are the same for zeros of either sign. For an integer that float64
   rounds, a multiple of the rounding error is added. */
static inline uint64_t OF(word_of)(REAL value)
{
    double number = (double)value + 0.0;
    if ((REAL)0.5 != 0)
        return bits_of(number);
    uint64_t rounded = number < 0x1p63 ? (uint64_t)(int64_t)number : number < 0x1p64 ? (uint64_t)number : 0;
    return bits_of(number) + ((uint64_t)value - rounded) * FIRST_FACTOR;
}

/* Write two words for each row of numbers and the label of the row. There is one key more than a row has numbers. */
KERNEL void OF(digest_rows)(Reals rows, Words keys, Words labels, Words digests)
{
    for (int64_t i = 0; i < rows.length; i++) {
        Reals row = ROW(rows, i);
        Wide even = 0, odd = 0;
        int64_t j = 0;
        for (; j + 4 <= row.length; j += 4) {
            even += (Wide)(OF(word_of)(AT(row, j)) + AT(keys, j)) * (OF(word_of)(AT(row, j + 1)) + AT(keys, j + 1));
            odd += (Wide)(OF(word_of)(AT(row, j + 2)) + AT(keys, j + 2)) *
                   (OF(word_of)(AT(row, j + 3)) + AT(keys, j + 3));
        }
        for (; j < row.length; j += 2) {
            uint64_t second = j + 1 < row.length ? OF(word_of)(AT(row, j + 1)) : 0;
            even += (Wide)(OF(word_of)(AT(row, j)) + AT(keys, j)) * (second + AT(keys, j + 1));
        }
        Wide sum = even + odd;
        uint64_t label = spread(AT(labels, i) + FIRST_KEY);
        AT2(digests, i, 0) = spread((uint64_t)sum ^ label);
        AT2(digests, i, 1) = spread((uint64_t)(sum >> 64) + folded(label, SECOND_FACTOR));
    }
}
