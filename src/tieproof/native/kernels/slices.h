/* Floats cut into short integers whose products and sums are exact: distances/exact/slices.py. */

#ifndef TIEPROOF_SLICES_H
#define TIEPROOF_SLICES_H

#include "array.h"

/* Subtract `center` from each row, with the rounding errors in `rest` (TwoSum). Returns whether anything was
   rounded. */
KERNEL bool subtract(Doubles rows, Doubles center, Doubles rest)
{
    const double *restrict common = center.at;
    uint64_t is_rounded = 0;
    for (int64_t i = 0; i < rows.length; i++) {
        double *restrict row = ROW(rows, i).at, *restrict error = ROW(rest, i).at;
        for (int64_t d = 0; d < rows.columns; d++) {
            double value = row[d], difference = value - common[d], minus = difference - value;
            row[d] = difference;
            error[d] = (value - (difference - minus)) - (common[d] + minus);
            is_rounded |= (uint64_t)(error[d] != 0.0);
        }
    }
    return is_rounded;
}

/* Contiguous rows as a single row. */
static inline Doubles joined(Doubles rows)
{
    if (rows.stride != rows.columns)
        return rows;
    return (Doubles){rows.at, 1, rows.length * rows.columns, rows.length * rows.columns};
}

KERNEL void cut_off(Doubles rows, double unit, Doubles piece)
{
    rows = joined(rows), piece = joined(piece);
    for (int64_t i = 0; i < rows.length; i++) {
        double *restrict row = ROW(rows, i).at, *restrict into = ROW(piece, i).at;
        for (int64_t d = 0; d < rows.columns; d++) {
            double whole = trunc(row[d] / unit);
            row[d] -= whole * unit;
            into[d] += whole;
        }
    }
}

/* The number of pairs whose sums stay in the cache while the places are added one by one. */
#define PAIRS_TOGETHER 1024

typedef struct {
    int64_t factor;
    Longs pairs, where, of_row, rows, of_column, columns;
} Summands;

/* The summands at a place: numbers with a stride, times a factor, which is 0 after the last place. */
typedef struct {
    const int64_t *at;
    int64_t apart, factor;
} Summand;

static inline Summand summand_at(Longs sums, int64_t place, int64_t factor)
{
    bool is_there = place < sums.columns;
    return (Summand){&AT2(sums, 0, is_there ? place : 0), sums.stride, is_there ? factor : 0};
}

/* The summands of all pairs at a place. */
typedef struct {
    Summand pair, row, column;
} SummandsAt;

static inline SummandsAt place_at(const Summands *summands, int64_t place)
{
    Longs pairs = summands->pairs;
    bool is_there = place < pairs.length;
    return (SummandsAt){
        .pair = {&AT2(pairs, is_there ? place : 0, 0), 1, is_there ? summands->factor : 0},
        .row = summand_at(summands->of_row, place, 1),
        .column = summand_at(summands->of_column, place, 1),
    };
}

static inline int64_t sum_at(const Summands *of, const SummandsAt *at, int64_t i)
{
    return at->pair.factor * at->pair.at[AT(of->where, i)]
           + at->row.factor * at->row.at[AT(of->rows, i) * at->row.apart]
           + at->column.factor * at->column.at[AT(of->columns, i) * at->column.apart];
}

KERNEL void add_places(const Summands *summands, Longs total)
{
    Summands of = *summands;
    for (int64_t start = 0; start < total.length; start += PAIRS_TOGETHER) {
        int64_t stop = total.length - start < PAIRS_TOGETHER ? total.length : start + PAIRS_TOGETHER;
        for (int64_t place = 0; place < total.columns; place++) {
            SummandsAt at = place_at(&of, place);
            for (int64_t i = start; i < stop; i++)
                AT2(total, i, place) = sum_at(&of, &at, i);
        }
    }
}

/* Add up the places from the highest to the lowest. Each step is a multiplication and an addition, which round. */
KERNEL void round_places(const Summands *summands, int64_t places, int64_t bits, Doubles value, Doubles size)
{
    Summands of = *summands;
    double scale = (double)((int64_t)1 << bits);
    for (int64_t start = 0; start < value.length; start += PAIRS_TOGETHER) {
        int64_t stop = value.length - start < PAIRS_TOGETHER ? value.length : start + PAIRS_TOGETHER;
        double *restrict total = value.at, *restrict magnitudes = size.at;
        for (int64_t i = start; i < stop; i++)
            total[i] = magnitudes[i] = 0.0;
        for (int64_t place = places - 1; place >= 0; place--) {
            SummandsAt at = place_at(&of, place);
            for (int64_t i = start; i < stop; i++) {
                double here = (double)sum_at(&of, &at, i);
                total[i] = total[i] * scale + here;
                magnitudes[i] = magnitudes[i] * scale + fabs(here);
            }
        }
    }
}

#define SUMS_SIDE_BY_SIDE 8

static inline double within_eight(double number)
{
    number = -8.0 > number ? -8.0 : number;
    return 8.0 < number ? 8.0 : number;
}

/* x and y contain the rows of the lowest place, one row after the other, then those of the next place, and so on.
   `sign` is working memory for one row. */
KERNEL void add_differences(
    Doubles x, Doubles y, Longs rows, Longs columns, int64_t bits, Doubles sign, Longs total)
{
    int64_t places = total.columns, dimensions = sign.length;
    double scale = (double)((int64_t)1 << bits);
    for (int64_t i = 0; i < rows.length; i++) {
        int64_t row = AT(rows, i) * dimensions, column = AT(columns, i) * dimensions, top = places - 1;
        for (int64_t d = 0; d < dimensions; d++)
            AT(sign, d) = AT2(x, top, row + d) - AT2(y, top, column + d);
        for (int64_t place = top - 1; place >= 0; place--)
            for (int64_t d = 0; d < dimensions; d++)
                AT(sign, d) = within_eight(AT(sign, d)) * scale + (AT2(x, place, row + d) - AT2(y, place, column + d));
        for (int64_t d = 0; d < dimensions; d++)
            AT(sign, d) = (double)(AT(sign, d) > 0.0) - (double)(AT(sign, d) < 0.0);
        for (int64_t place = 0; place < places; place++) {
            double lanes[SUMS_SIDE_BY_SIDE] = {0.0}; /* exact sums of integers, in any order */
            int64_t d = 0;
            for (; d + SUMS_SIDE_BY_SIDE <= dimensions; d += SUMS_SIDE_BY_SIDE)
                for (int lane = 0; lane < SUMS_SIDE_BY_SIDE; lane++)
                    lanes[lane] += AT(sign, d + lane)
                                   * (AT2(x, place, row + d + lane) - AT2(y, place, column + d + lane));
            for (; d < dimensions; d++)
                lanes[0] += AT(sign, d) * (AT2(x, place, row + d) - AT2(y, place, column + d));
            double here = 0.0;
            for (int lane = 0; lane < SUMS_SIDE_BY_SIDE; lane++)
                here += lanes[lane];
            AT2(total, i, place) = (int64_t)here;
        }
    }
}

#endif
