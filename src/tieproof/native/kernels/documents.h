/* A hash table that finds documents of queries by their ids; each row is a pair (query, document).

   An entry of the table is a row and half of its hash, or EMPTY. The entries of a query are first[query] …
   first[query+1]-1, and their number is a power of two. A row is stored in the first free entry, starting from the
   entry of its hash. Rows of one query are mostly consecutive, so their entries are near each other and stay in a
   cache. Rows with equal hashes are candidates, whose ids are compared byte by byte. */

#ifndef TIEPROOF_DOCUMENTS_H
#define TIEPROOF_DOCUMENTS_H

#include "array.h"

typedef struct {
    Bytes text;
    Longs at; /* the position of each document's id in the text */
    Ints length;
    Longs query; /* the number of each document's query */
} Documents;

#define EMPTY UINT64_MAX
#define ROW_BITS 32

static inline uint64_t stirred(uint64_t value)
{
    value *= 0x9E3779B97F4A7C15u;
    return value ^ (value >> 29);
}

static inline uint64_t word_at(const uint8_t *letters)
{
    uint64_t word;
    memcpy(&word, letters, 8);
    return word;
}

/* The hash of a document's id, without its query, because each query has its own entries. The last word of eight
   letters may overlap the one before it. */
static inline uint64_t hash_of(const Documents *documents, int64_t row)
{
    const uint8_t *id = documents->text.at + AT(documents->at, row); /* the end of the text if the id is empty */
    const uint8_t *end = id + AT(documents->length, row);
    uint64_t hash = (uint64_t)(end - id), word = 0;
    bool is_short = end - id < 8;
    for (; end - id > 8; id += 8)
        hash = stirred(hash ^ word_at(id));
    if (is_short)
        for (; id < end; id++)
            word = word << 8 | *id;
    else
        word = word_at(end - 8);
    return stirred(stirred(hash ^ word));
}

static inline bool same_document(const Documents *a, int64_t row, const Documents *b, int64_t other)
{
    int64_t length = AT(a->length, row);
    return AT(a->query, row) == AT(b->query, other) && length == AT(b->length, other) &&
           memcmp(a->text.at + AT(a->at, row), b->text.at + AT(b->at, other), (size_t)length) == 0;
}

/* The first entry in which a document may be stored. */
static inline int64_t home_of(const Documents *documents, int64_t row, Longs first, uint64_t hash)
{
    int64_t query = AT(documents->query, row), start = AT(first, query);
    return start + ((int64_t)hash & (AT(first, query + 1) - start - 1));
}

/* The entry of a document in the table, or the free entry in which it would be stored. */
static inline int64_t place_in_table(const Documents *documents, int64_t row, const Documents *known, Words table,
                                     Longs first, uint64_t hash)
{
    int64_t query = AT(documents->query, row), start = AT(first, query), end = AT(first, query + 1);
    for (int64_t place = home_of(documents, row, first, hash);; place = place + 1 == end ? start : place + 1) {
        uint64_t entry = AT(table, place);
        if (entry == EMPTY ||
            (entry >> ROW_BITS == hash >> ROW_BITS &&
             same_document(documents, row, known, (int64_t)(entry & UINT32_MAX))))
            return place;
    }
}

#define LOOKED_AHEAD 16 /* rows whose entries are prefetched, because memory is slow */

/* Compute the hashes of the next rows, and prefetch their entries of the table. */
static inline void look_ahead(const Documents *documents, int64_t row, int64_t stop, Words table, Longs first,
                              uint64_t *hashes)
{
    for (int64_t i = 0; i < LOOKED_AHEAD && row + i < stop; i++) {
        hashes[i] = hash_of(documents, row + i);
        __builtin_prefetch(&AT(table, home_of(documents, row + i, first, hashes[i])), 1);
    }
}

/* Put the rows start … stop-1 into a table. If a row's document is in the table already, return this row, and
   write the row of the table to `earlier`; otherwise return -1. */
KERNEL int64_t put_documents(const Documents *documents, int64_t start, int64_t stop, Words table, Longs first,
                             Longs earlier)
{
    uint64_t hashes[LOOKED_AHEAD];
    for (int64_t row = start; row < stop; row++) {
        if ((row - start) % LOOKED_AHEAD == 0)
            look_ahead(documents, row, stop, table, first, hashes);
        uint64_t hash = hashes[(row - start) % LOOKED_AHEAD];
        uint64_t *entry = &AT(table, place_in_table(documents, row, documents, table, first, hash));
        if (*entry != EMPTY) {
            AT(earlier, 0) = (int64_t)(*entry & UINT32_MAX);
            return row;
        }
        *entry = hash >> ROW_BITS << ROW_BITS | (uint64_t)row;
    }
    return -1;
}

/* The row of each document among those in the table, or -1. */
KERNEL void find_documents(const Documents *documents, const Documents *known, Words table, Longs first, Longs rows)
{
    uint64_t hashes[LOOKED_AHEAD];
    for (int64_t row = 0; row < documents->at.length; row++) {
        if (row % LOOKED_AHEAD == 0)
            look_ahead(documents, row, documents->at.length, table, first, hashes);
        uint64_t hash = hashes[row % LOOKED_AHEAD];
        uint64_t entry = AT(table, place_in_table(documents, row, known, table, first, hash));
        AT(rows, row) = entry == EMPTY ? -1 : (int64_t)(entry & UINT32_MAX);
    }
}

#endif
