/* Sums of the largest products of sets of vectors: distances/maxsim.py. */

#undef LANES
#define LANES 32

/* Write the largest entries of `count` columns from `first` on among the rows start … stop-1. */
static inline void OF(largest_of_columns)(Reals entries, int64_t start, int64_t stop, int64_t first, int64_t count, REAL *best)
{
    memcpy(best, &AT2(entries, start, first), (size_t)count * sizeof(REAL));
    for (int64_t r = start + 1; r < stop; r++) {
        const REAL *restrict row = &AT2(entries, r, first);
        if (count == LANES)
            for (int lane = 0; lane < LANES; lane++)
                best[lane] = row[lane] > best[lane] ? row[lane] : best[lane];
        else
            for (int64_t lane = 0; lane < count; lane++)
                best[lane] = row[lane] > best[lane] ? row[lane] : best[lane];
    }
}

/* out[q, i] += the sum over the columns of query q of the largest entry in the rows ends[i - 1] … ends[i]-1 of item i;
   query[c] is the query of column c. */
KERNEL void OF(add_largest)(Reals entries, Longs ends, Longs query, Doubles out)
{
    REAL best[LANES];
    for (int64_t i = 0, start = 0; i < ends.length; start = AT(ends, i), i++)
        for (int64_t first = 0; first < entries.columns; first += LANES) {
            int64_t count = entries.columns - first < LANES ? entries.columns - first : LANES;
            OF(largest_of_columns)(entries, start, AT(ends, i), first, count, best);
            for (int64_t lane = 0; lane < count; lane++)
                AT2(out, AT(query, first + lane), i) += (double)best[lane];
        }
}
