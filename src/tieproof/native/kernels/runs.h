/* Lines of runs, and the documents that they name. */

#ifndef TIEPROOF_RUNS_H
#define TIEPROOF_RUNS_H

#include "types.h"

/* Parse the lines of a TREC file: the positions of the ids in each line, and its number.

   Columns are separated by whitespace as in bytes.split of Python; empty lines and lines that begin with # are skipped.
   A number of up to 19 digits with a small power of ten is converted to the nearest double here; other numbers are left
   to Python. */

#define MOST_COLUMNS 6
#define MOST_DIGITS 19 /* numbers of this many digits are below 2^64 */
#define MOST_POWERS 19 /* 10^19 is below 2^64, and a double represents it exactly */

typedef struct {
    int64_t columns, query, document, value; /* the number of columns, and the indices of three of them */
    int64_t more;                            /* whether more columns may follow, which are not read */
} LineLayout;

typedef struct {
    Longs document_at; /* the position of each row's document id in the text */
    Ints document_length;
    Doubles value;     /* the number of each row */
    Longs open;        /* the rows whose numbers Python has to read */
    Longs open_at;
    Ints open_length;
    Longs segment;     /* the first row of each stretch of rows with the same query */
    Longs query_at;    /* the position of the query's id in the text */
    Ints query_length;
} LineRows;

enum { READ_ALL, WRONG_COLUMNS, TOO_LONG };

typedef struct {
    int64_t status;     /* why reading ended */
    int64_t at, line;   /* where reading ended, and the number of that line */
    int64_t rows, open, segments;
} LinesRead;

static const uint64_t POWERS_OF_TEN[MOST_POWERS + 1] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u, 10000000000u, 100000000000u,
    1000000000000u, 10000000000000u, 100000000000000u, 1000000000000000u, 10000000000000000u, 100000000000000000u,
    1000000000000000000u, 10000000000000000000u};

static inline bool is_blank(uint8_t letter)
{
    return letter == ' ' || (uint8_t)(letter - '\t') < 5;
}

/* The double nearest to whole + rest, ties to even. For 0 <= rest < 1, it only matters whether `rest` is 0. */
static inline double rounded_whole(unsigned __int128 whole, bool rest)
{
    uint64_t high = (uint64_t)(whole >> 64);
    int bits = high ? 128 - __builtin_clzll(high) : (uint64_t)whole ? 64 - __builtin_clzll((uint64_t)whole) : 0;
    if (bits <= DBL_MANT_DIG)
        return (double)(uint64_t)whole; /* here rest is 0, because a quotient has more bits */
    int shift = bits - DBL_MANT_DIG;
    uint64_t kept = (uint64_t)(whole >> shift);
    unsigned __int128 lost = whole - ((unsigned __int128)kept << shift), half = (unsigned __int128)1 << (shift - 1);
    kept += lost > half || (lost == half && (rest || (kept & 1)));
    return ldexp((double)kept, shift);
}

/* The whole part of 2^63 number / divisor, for numbers and divisors of 64 bits; `rest` is the remainder.

   This is long division in digits of 32 bits (Knuth, The Art of Computer Programming, 4.3.1, algorithm D), because
   compilers replace / for 128 bits by a call of a library that not every machine has. */
static inline uint64_t divided(uint64_t number, uint64_t divisor, uint64_t *rest)
{
    uint64_t high = divisor >> 32, low = (uint32_t)divisor, left = number >> 1, quotient = 0;
    for (int digit = 0; digit < 2; digit++) {
        uint64_t next = digit ? 0 : (number & 1) << 31, guess = left / high, over = left % high;
        while (guess >> 32 || guess * low > (over << 32 | next)) {
            guess--;
            over += high;
            if (over >> 32)
                break;
        }
        left = (left << 32 | next) - guess * divisor; /* both terms lose the same bits at the top */
        quotient = quotient << 32 | guess;
    }
    *rest = left;
    return quotient;
}

/* digits · 10^power, rounded once. */
static inline double decimal(uint64_t digits, int power)
{
    if (digits == 0)
        return 0.0;
    if (power >= 0)
        return rounded_whole((unsigned __int128)digits * POWERS_OF_TEN[power], false);
    uint64_t divisor = POWERS_OF_TEN[-power];
    if (digits <= (uint64_t)1 << DBL_MANT_DIG)
        return (double)digits / (double)divisor; /* both are exact */
    int raised = __builtin_clzll(digits), divisor_raised = __builtin_clzll(divisor);
    uint64_t rest, quotient = divided(digits << raised, divisor << divisor_raised, &rest);
    return ldexp(rounded_whole(quotient, rest != 0), divisor_raised - raised - 63);
}

/* Read the number of a cell into `value`. Returns false if the cell is not a number that can be read here. */
static inline bool read_number(const uint8_t *cell, const uint8_t *end, double *value)
{
    bool negative = *cell == '-', any = false, negative_exponent = false;
    uint64_t digits = 0;
    int64_t count = 0, power = 0, exponent = 0;
    cell += *cell == '-' || *cell == '+';
    for (; cell < end && (uint8_t)(*cell - '0') < 10; cell++, any = true) {
        digits = 10 * digits + (*cell - '0');
        count += digits != 0;
    }
    if (cell < end && *cell == '.')
        for (cell++; cell < end && (uint8_t)(*cell - '0') < 10; cell++, any = true, power--) {
            digits = 10 * digits + (*cell - '0');
            count += digits != 0;
        }
    if (!any || count > MOST_DIGITS)
        return false;
    if (cell < end && (*cell == 'e' || *cell == 'E')) {
        if (++cell < end && (*cell == '-' || *cell == '+'))
            negative_exponent = *cell++ == '-';
        if (cell == end)
            return false;
        for (; cell < end && (uint8_t)(*cell - '0') < 10 && exponent < 1000; cell++)
            exponent = 10 * exponent + (*cell - '0');
        power += negative_exponent ? -exponent : exponent;
    }
    if (cell < end || (digits && (power < -MOST_POWERS || power > MOST_POWERS)))
        return false;
    *value = digits ? decimal(digits, (int)power) : 0.0;
    if (negative)
        *value = -*value;
    return true;
}

static inline const uint8_t *end_of_line(const uint8_t *letter, const uint8_t *end)
{
    const uint8_t *found = memchr(letter, '\n', (size_t)(end - letter));
    return found ? found : end;
}

/* Read the lines that begin before `stop`, starting where the last call ended. */
KERNEL LinesRead read_lines(Bytes text, int64_t stop, int64_t longest, const LineLayout *layout, const LineRows *rows,
                            const LinesRead *before)
{
    const uint8_t *start = text.at, *end = text.at + text.length, *query = NULL;
    int64_t query_length = -1;
    LinesRead read = *before;
    for (; read.at < stop; read.line++) {
        const uint8_t *begin = start + read.at, *letter = begin, *cells[MOST_COLUMNS], *ends[MOST_COLUMNS];
        int64_t columns = 0;
        for (;; columns++) {
            while (letter < end && *letter != '\n' && is_blank(*letter))
                letter++;
            while (columns == 0 && letter < end && *letter == '#')
                letter = end_of_line(letter, end);
            if (letter == end || *letter == '\n')
                break;
            const uint8_t *cell = letter;
            while (letter < end && !is_blank(*letter))
                letter++;
            if (columns < MOST_COLUMNS) {
                cells[columns] = cell;
                ends[columns] = letter;
            }
        }
        bool fits = columns == 0 || columns == layout->columns || (layout->more && columns > layout->columns);
        if (letter - begin > longest || !fits) {
            read.status = letter - begin > longest ? TOO_LONG : WRONG_COLUMNS;
            return read;
        }
        if (columns) {
            const uint8_t *found = cells[layout->query], *document = cells[layout->document];
            const uint8_t *value = cells[layout->value], *behind = ends[layout->value];
            int64_t length = ends[layout->query] - found;
            if (length != query_length || memcmp(found, query, (size_t)length) != 0) {
                AT(rows->segment, read.segments) = read.rows;
                AT(rows->query_at, read.segments) = found - start;
                AT(rows->query_length, read.segments) = (int32_t)length;
                read.segments++;
                query = found;
                query_length = length;
            }
            AT(rows->document_at, read.rows) = document - start;
            AT(rows->document_length, read.rows) = (int32_t)(ends[layout->document] - document);
            if (!read_number(value, behind, &AT(rows->value, read.rows))) {
                AT(rows->open, read.open) = read.rows;
                AT(rows->open_at, read.open) = value - start;
                AT(rows->open_length, read.open) = (int32_t)(behind - value);
                read.open++;
            }
            read.rows++;
        }
        read.at = letter - start + (letter < end);
    }
    return read;
}

/* A hash table that finds documents of queries by their ids; each row is a pair (query, document).

   An entry of the table is a row and half of its hash, or EMPTY. The entries of a query are first[query] …
   first[query+1]-1, and their number is a power of two. A row is stored in the first free entry, starting from the
   entry of its hash. Rows of one query are mostly consecutive, so their entries are near each other and stay in a
   cache. Rows with equal hashes are candidates, whose ids are compared byte by byte. */

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
