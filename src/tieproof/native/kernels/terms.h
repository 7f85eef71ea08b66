/* Products of sparse rows: distances/exact/terms.py. */

#include "types.h"

/* Sparse rows: row r has the entries starts[r] … starts[r + 1]-1, with ascending terms. */
typedef struct {
    Longs starts;
    Ints term;
    Reals value;
} OF(Terms);

/* The number of items whose products with all rows are computed before they are written. */
#define ITEMS_AT_ONCE 16

/* Write the entries of the rows term by term: those of term t from at[t] on. `at` has zeros, and one more than terms. */
static inline void OF(by_term)(const OF(Terms) *rows, Longs at, Ints row, Reals value)
{
    for (int64_t e = 0; e < rows->term.length; e++)
        AT(at, AT(rows->term, e) + 1)++;
    for (int64_t t = 1; t < at.length; t++)
        AT(at, t) += AT(at, t - 1);
    for (int64_t r = 0; r + 1 < rows->starts.length; r++)
        for (int64_t e = AT(rows->starts, r); e < AT(rows->starts, r + 1); e++) {
            int64_t place = AT(at, AT(rows->term, e))++;
            AT(row, place) = (int32_t)r;
            AT(value, place) = AT(rows->value, e);
        }
    for (int64_t t = at.length - 1; t > 0; t--)
        AT(at, t) = AT(at, t - 1);
    AT(at, 0) = 0;
}

/* out[r, i] = the product of row r and item i. dense[number[t]] has the entries of all rows in a term t that many rows
   have; number[t] is -1 for others. Working memory: `at`, `row` and `value` as in `by_term`, and a sum for each row and
   ITEMS_AT_ONCE. */
KERNEL void OF(products_of_terms)(
    const OF(Terms) *rows, const OF(Terms) *items, Ints number, Reals dense, Longs at, Ints row, Reals value, Reals sums,
    Reals out)
{
    OF(by_term)(rows, at, row, value);
    for (int64_t first = 0; first < out.columns; first += ITEMS_AT_ONCE) {
        int64_t count = out.columns - first < ITEMS_AT_ONCE ? out.columns - first : ITEMS_AT_ONCE;
        for (int64_t i = 0; i < count; i++) {
            REAL *restrict sum = ROW(sums, i).at;
            memset(sum, 0, (size_t)out.length * sizeof(REAL));
            for (int64_t e = AT(items->starts, first + i); e < AT(items->starts, first + i + 1); e++) {
                int64_t term = AT(items->term, e), stop = AT(at, term + 1);
                REAL of_item = AT(items->value, e);
                if (AT(number, term) >= 0) {
                    const REAL *restrict of_rows = ROW(dense, AT(number, term)).at;
                    for (int64_t r = 0; r < out.length; r++)
                        sum[r] += of_item * of_rows[r];
                    continue;
                }
                for (int64_t p = AT(at, term); p < stop; p++)
                    sum[AT(row, p)] += of_item * AT(value, p);
            }
        }
        for (int64_t r = 0; r < out.length; r++)
            for (int64_t i = 0; i < count; i++)
                AT2(out, r, first + i) = AT2(sums, i, r);
    }
}

/* out[p] = the product of rows[p] and items[p] in float64. */
KERNEL void OF(products_of_term_pairs)(
    const OF(Terms) *x, const OF(Terms) *y, Longs rows, Longs items, Doubles out)
{
    for (int64_t p = 0; p < rows.length; p++) {
        int64_t i = AT(x->starts, AT(rows, p)), i_end = AT(x->starts, AT(rows, p) + 1);
        int64_t j = AT(y->starts, AT(items, p)), j_end = AT(y->starts, AT(items, p) + 1);
        double total = 0.0;
        while (i < i_end && j < j_end) {
            int32_t first = AT(x->term, i), second = AT(y->term, j);
            if (first == second)
                total += (double)AT(x->value, i) * (double)AT(y->value, j);
            i += first <= second;
            j += second <= first;
        }
        AT(out, p) = total;
    }
}
