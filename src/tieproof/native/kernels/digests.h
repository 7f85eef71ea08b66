/* Digests that show whether two data sets are the same up to their order: inputs/identities.py.

   Rows are digested by NH (Black, Halevi, Krawczyk, Krovetz, Rogaway 1999, UMAC, section 4.1) in words of 64 bits: two
   different rows share a digest with probability 2^-64. The digests of a query are added, so their order does not
   matter. */

#ifndef TIEPROOF_DIGESTS_H
#define TIEPROOF_DIGESTS_H

#include "runs.h"

typedef unsigned __int128 Wide;

#define FIRST_KEY 0x243F6A8885A308D3u /* digits of pi */
#define SECOND_KEY 0x13198A2E03707345u
#define FIRST_FACTOR 0xA4093822299F31D1u
#define SECOND_FACTOR 0x082EFA98EC4E6C89u

/* The exclusive or of the two halves of a product. */
static inline uint64_t folded(uint64_t a, uint64_t b)
{
    Wide product = (Wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A bijective mix of a word, in which every bit of the input affects every bit of the output. */
static inline uint64_t spread(uint64_t word)
{
    word = (word ^ (word >> 32)) * 0xD6E8FEB86659FD93u;
    word = (word ^ (word >> 32)) * 0xD6E8FEB86659FD93u;
    return word ^ (word >> 32);
}

KERNEL void fill_keys(Words keys)
{
    for (int64_t i = 0; i < keys.length; i++)
        AT(keys, i) = spread((uint64_t)(i + 1) * FIRST_FACTOR);
}

/* A word for each string; the zeros that fill up its row do not count as letters. */
KERNEL void digest_strings(Places letters, Words words)
{
    for (int64_t i = 0; i < letters.length; i++) {
        int64_t length = letters.columns;
        while (length > 0 && AT2(letters, i, length - 1) == 0)
            length--;
        uint64_t word = spread(FIRST_KEY + (uint64_t)length);
        for (int64_t j = 0; j < length; j++)
            word = folded(word ^ AT2(letters, i, j), FIRST_FACTOR) + SECOND_KEY;
        AT(words, i) = spread(word);
    }
}

/* A word for the id of each document, independent of its query. */
KERNEL void digest_ids(const Documents *documents, Words words)
{
    for (int64_t row = 0; row < words.length; row++) {
        const uint8_t *id = documents->text.at + AT(documents->at, row);
        int64_t length = AT(documents->length, row);
        uint64_t word = spread(FIRST_KEY + (uint64_t)length), letters;
        for (; length >= 8; id += 8, length -= 8) {
            memcpy(&letters, id, 8);
            word = folded(word ^ letters, FIRST_FACTOR) + SECOND_KEY;
        }
        letters = 0;
        memcpy(&letters, id, (size_t)length);
        AT(words, row) = spread(folded(word ^ letters, FIRST_FACTOR) + SECOND_KEY);
    }
}

/* A sum of digests of words. The digests are not linear in the words, so that different words rarely have equal
   sums. */
typedef struct {
    uint64_t first, second;
} TwoWords;

static inline TwoWords with_word(TwoWords sum, uint64_t word)
{
    uint64_t once = folded(word ^ FIRST_KEY, FIRST_FACTOR);
    return (TwoWords){sum.first + once, sum.second + folded(once ^ SECOND_KEY, word ^ SECOND_FACTOR)};
}

/* Add the digests of the scores of each stretch to the sums of its query, which have two words each. The order of
   the scores within a stretch does not matter. */
KERNEL void digest_scores(Longs query, Longs length, Doubles score, Words sums)
{
    const double *next = score.at;
    for (int64_t i = 0; i < query.length; i++) {
        TwoWords sum = {0, 0};
        for (int64_t j = 0; j < AT(length, i); j++)
            sum = with_word(sum, bits_of(*next++ + 0.0));
        AT2(sums, AT(query, i), 0) += sum.first;
        AT2(sums, AT(query, i), 1) += sum.second;
    }
}

/* Add the digest of each tie to the sums of its query, which are in row place[query]. */
KERNEL void digest_ties(Longs place, Longs query, Longs k, Longs n, Longs l, Longs m, Words sums)
{
    for (int64_t i = 0; i < query.length; i++) {
        uint64_t word = (uint64_t)AT(k, i) * FIRST_KEY + (uint64_t)AT(n, i) * SECOND_KEY +
                        (uint64_t)AT(l, i) * FIRST_FACTOR + (uint64_t)AT(m, i) * SECOND_FACTOR;
        int64_t row = AT(place, AT(query, i));
        TwoWords sum = with_word((TwoWords){AT2(sums, row, 0), AT2(sums, row, 1)}, word);
        AT2(sums, row, 0) = sum.first;
        AT2(sums, row, 1) = sum.second;
    }
}

/* Add the digest of row i of the words to the sums in row place[i]; sums have two words each. */
KERNEL void add_digests(Longs place, Words words, Words sums)
{
    for (int64_t i = 0; i < place.length; i++) {
        uint64_t first = FIRST_KEY, second = SECOND_KEY;
        for (int64_t j = 0; j < words.columns; j++) {
            uint64_t word = AT2(words, i, j);
            first = folded(first ^ word, FIRST_FACTOR) + word;
            second = folded(second + word, SECOND_FACTOR) ^ word;
        }
        AT2(sums, AT(place, i), 0) += spread(first);
        AT2(sums, AT(place, i), 1) += spread(second);
    }
}

#endif
