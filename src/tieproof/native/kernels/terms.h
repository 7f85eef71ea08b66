/* Sparse rows: distances/exact/terms.py, distances/exact/rows.py, inputs/identities.py, engine/zeros.py. */

#include "array.h"
#include "digests.h"
#include "scan.h"
#include "structures.h"

/* Sparse rows: row r has the entries starts[r] … starts[r + 1]-1, with ascending terms. */
typedef struct {
    Longs starts;
    Ints term;
    Reals value;
} OF(Terms);

/* The entries of some rows, term by term: those of term t are at[t] … at[t + 1]-1. */
typedef struct {
    Longs at;
    Ints row;
    Reals value;
} OF(Postings);

/* The number of items whose products with all rows are computed before they are written. */
#define ITEMS_AT_ONCE 16

/* Whether a row and an item with this product share no term. Sums begin with -0.0; a product that does not underflow
   changes this zero, and no later sum is -0.0 again. */
static inline bool OF(is_apart)(REAL product)
{
    __typeof__(_Generic((REAL)0, float: (int32_t)0, default: (int64_t)0)) bits;
    memcpy(&bits, &product, sizeof bits);
    return bits == _Generic((REAL)0, float: INT32_MIN, default: INT64_MIN);
}

/* Write the entries of the rows term by term. `at` has zeros, and one more than terms. */
KERNEL void OF(invert_terms)(const OF(Terms) *rows, const OF(Postings) *postings)
{
    Longs at = postings->at;
    for (int64_t e = 0; e < rows->term.length; e++)
        AT(at, AT(rows->term, e) + 1)++;
    for (int64_t t = 1; t < at.length; t++)
        AT(at, t) += AT(at, t - 1);
    for (int64_t r = 0; r + 1 < rows->starts.length; r++)
        for (int64_t e = AT(rows->starts, r); e < AT(rows->starts, r + 1); e++) {
            int64_t place = AT(at, AT(rows->term, e))++;
            AT(postings->row, place) = (int32_t)r;
            AT(postings->value, place) = AT(rows->value, e);
        }
    for (int64_t t = at.length - 1; t > 0; t--)
        AT(at, t) = AT(at, t - 1);
    AT(at, 0) = 0;
}

/* out[r, i] = the product of row r and item i, -0.0 if they share no term. A term t that many rows have is added for
   all of them by dense[number[t]], which is filled here and has -0.0 at first; number[t] is -1 for other terms.
   Working memory: a sum for each row and ITEMS_AT_ONCE. */
KERNEL void OF(products_of_terms)(
    const OF(Postings) *rows, const OF(Terms) *items, Ints number, Reals dense, Reals sums, Reals out)
{
    for (int64_t t = 0; t < number.length; t++)
        for (int64_t p = AT(rows->at, t); AT(number, t) >= 0 && p < AT(rows->at, t + 1); p++)
            AT2(dense, AT(number, t), AT(rows->row, p)) = AT(rows->value, p);
    for (int64_t first = 0; first < out.columns; first += ITEMS_AT_ONCE) {
        int64_t count = out.columns - first < ITEMS_AT_ONCE ? out.columns - first : ITEMS_AT_ONCE;
        for (int64_t i = 0; i < count; i++) {
            REAL *restrict sum = ROW(sums, i).at;
            for (int64_t r = 0; r < out.length; r++)
                sum[r] = -(REAL)0;
            for (int64_t e = AT(items->starts, first + i); e < AT(items->starts, first + i + 1); e++) {
                int64_t term = AT(items->term, e), stop = AT(rows->at, term + 1);
                REAL of_item = AT(items->value, e);
                if (of_item > 0 && AT(number, term) >= 0) { /* otherwise -0.0 would become 0.0 */
                    const REAL *restrict of_rows = ROW(dense, AT(number, term)).at;
                    for (int64_t r = 0; r < out.length; r++)
                        sum[r] += of_item * of_rows[r];
                    continue;
                }
                for (int64_t p = AT(rows->at, term); p < stop; p++)
                    sum[AT(rows->row, p)] += of_item * AT(rows->value, p);
            }
        }
        for (int64_t r = 0; r < out.length; r++)
            for (int64_t i = 0; i < count; i++)
                AT2(out, r, first + i) = AT2(sums, i, r);
    }
}

/* List the pairs of rows and items that share a term, item after item, with their products. Returns their number; -1
   if there is no room. of_rows[r], of_items[i] = the first item that shares no term with row r, which is 0 at first, and
   the first such row of item i; if there is none, their number. Working memory: sums, which are -0.0, and a number for
   each row. */
KERNEL int64_t OF(list_products)(
    const OF(Postings) *rows, const OF(Terms) *items, Reals sums, Ints met, const OF(NearPairs) *pairs, Longs of_rows,
    Longs of_items)
{
    int64_t found = 0;
    for (int64_t i = 0; i < of_items.length; i++) {
        int64_t count = 0, row = 0;
        for (int64_t e = AT(items->starts, i); e < AT(items->starts, i + 1); e++) {
            int64_t term = AT(items->term, e), stop = AT(rows->at, term + 1);
            REAL of_item = AT(items->value, e);
            for (int64_t p = AT(rows->at, term); p < stop; p++) {
                int32_t r = AT(rows->row, p);
                if (OF(is_apart)(AT(sums, r)))
                    AT(met, count++) = r;
                AT(sums, r) += of_item * AT(rows->value, p);
            }
        }
        if (found + count > pairs->row.length)
            return -1;
        while (row < sums.length && !OF(is_apart)(AT(sums, row)))
            row++;
        AT(of_items, i) = row;
        for (int64_t m = 0; m < count; m++, found++) {
            int32_t r = AT(met, m);
            AT(pairs->row, found) = r;
            AT(pairs->item, found) = (int32_t)i;
            AT(pairs->entry, found) = AT(sums, r);
            AT(sums, r) = -(REAL)0;
            AT(of_rows, r) += AT(of_rows, r) == i;
        }
    }
    return found;
}

/* out[p] = the product of rows[p] and items[p] in float64, -0.0 if they share no term. */
KERNEL void OF(products_of_term_pairs)(
    const OF(Terms) *x, const OF(Terms) *y, Longs rows, Longs items, Doubles out)
{
    for (int64_t p = 0; p < rows.length; p++) {
        int64_t i = AT(x->starts, AT(rows, p)), i_end = AT(x->starts, AT(rows, p) + 1);
        int64_t j = AT(y->starts, AT(items, p)), j_end = AT(y->starts, AT(items, p) + 1);
        double total = 0.0;
        bool apart = true;
        while (i < i_end && j < j_end) {
            int32_t first = AT(x->term, i), second = AT(y->term, j);
            if (first == second) {
                total += (double)AT(x->value, i) * (double)AT(y->value, j);
                apart = false;
            }
            i += first <= second;
            j += second <= first;
        }
        AT(out, p) = apart ? -0.0 : total;
    }
}

/* Write the terms and the values of the chosen rows, each divided by its divisor and then by its norm. */
KERNEL void OF(divide_terms)(
    const OF(Terms) *given, Longs chosen, Doubles divisor, Doubles norm, Ints term, Doubles value)
{
    int64_t to = 0;
    for (int64_t i = 0; i < chosen.length; i++) {
        int64_t start = AT(given->starts, AT(chosen, i)), count = AT(given->starts, AT(chosen, i) + 1) - start;
        memcpy(term.at + to, given->term.at + start, (size_t)count * sizeof *term.at);
        const REAL *restrict own = given->value.at + start;
        double *restrict out = value.at + to, by = AT(divisor, i), of_row = AT(norm, i);
        for (int64_t e = 0; e < count; e++)
            out[e] = (double)own[e] / by;
        for (int64_t e = 0; e < count && of_row != 1.0; e++)
            out[e] /= of_row;
        to += count;
    }
}

/* As `scan_block`, for the rows from `first` on. Checksums have a multiplier for each term, too. */
KERNEL void OF(scan_terms)(
    const OF(Terms) *rows, Words multipliers, bool up_to_factor, int64_t first, int64_t stop, Doubles room,
    const Statistics *statistics)
{
    int64_t half = multipliers.length / 2;
    Words of_values = PART(multipliers, 0, half), of_terms = PART(multipliers, half, 2 * half);
    for (int64_t r = first; r < stop; r++) {
        int64_t start = AT(rows->starts, r), count = AT(rows->starts, r + 1) - start;
        uint64_t checksum = 0;
        for (int64_t e = 0; e < count; e++) {
            AT(room, e) = (double)AT(rows->value, start + e);
            checksum += (uint64_t)AT(rows->term, start + e) * AT(of_terms, e);
        }
        Doubles row = PART(room, 0, count);
        describe_row(row, of_values, up_to_factor, r, statistics);
        AT(statistics->checksum, r) += checksum;
    }
}

/* Add the digest of each entry to the sums of its row, which have two words each. */
KERNEL void OF(digest_terms)(const OF(Terms) *rows, int64_t first, int64_t stop, Words sums)
{
    for (int64_t r = first; r < stop; r++) {
        TwoWords sum = {0, 0};
        for (int64_t e = AT(rows->starts, r); e < AT(rows->starts, r + 1); e++) {
            uint64_t bits = bits_of((double)AT(rows->value, e)), term = spread((uint64_t)AT(rows->term, e) + FIRST_KEY);
            sum.first += folded(bits ^ FIRST_KEY, term ^ FIRST_FACTOR);
            sum.second += folded(bits ^ SECOND_KEY, term ^ SECOND_FACTOR);
        }
        AT2(sums, r, 0) = sum.first;
        AT2(sums, r, 1) = sum.second;
    }
}
