/* The variance of a sum over the places of a tie and over the pairs of its places.

   The measures of the average-precision family are, within a tie of l items of which m are relevant,

       Z = sum_i X_i a_i + sum_{i<j} X_i X_j b_j,

   X_i = 1 where place i holds a relevant item, every arrangement equally likely. The textbook route, E[Z²] - E[Z]²,
   cancels. Here Z is split into orthogonal parts (Hoeffding's decomposition for sampling without replacement), and
   only squares are added:

       Var Z = m (l-m) / (l (l-1)) · sum_i (g_i - mean g)²
             + m (m-1) (l-m) (l-m-1) / (l (l-1) (l-2) (l-3)) · sum_{i<j} B_ij²

   with r_i = (i-1) b_i + sum_{j>i} b_j the sum of row i of the matrix of pairs (b_max(i,j), 0 on the diagonal),
   g_i = a_i + (m-1)/(l-2) r_i, and B_ij = b_max(i,j) - (r_i + r_j)/(l-2) + sum r / ((l-1)(l-2)) the matrix with
   its rows and columns centred. Adding a constant to all a or to all b changes nothing. */

#ifndef TIEPROOF_ARRANGEMENTS_H
#define TIEPROOF_ARRANGEMENTS_H

#include "array.h"

/* Var Z of one relevant item, which adds a_i at place i of a tie of l items, 0 beyond them. */
static inline double variance_of_one(Doubles a, int64_t l)
{
    double mean = 0.0, squares = 0.0;
    for (int64_t j = 0; j < a.length; j++)
        mean += AT(a, j);
    mean /= l;
    for (int64_t j = 0; j < a.length; j++)
        squares += (AT(a, j) - mean) * (AT(a, j) - mean);
    return (squares + (l - a.length) * mean * mean) / l;
}

/* Var Z from a and b at the first places of a tie of l items, 0 beyond them; `row` is room for as many. */
static inline double variance_of(Doubles a, Doubles b, Doubles row, int64_t l, int64_t m)
{
    int64_t size = a.length, beyond = l - size;
    double n = l, relevant = m, others = l > 2 ? l - 2 : 1;
    double share = (relevant - 1) / others;
    double all_b = 0.0;
    for (int64_t j = 0; j < size; j++)
        all_b += AT(b, j);
    double up_to_here = 0.0, total_g = 0.0, total_row = 0.0;
    for (int64_t j = 0; j < size; j++) {
        up_to_here += AT(b, j);
        AT(row, j) = j * AT(b, j) + (all_b - up_to_here);
        total_g += AT(a, j) + share * AT(row, j);
        total_row += AT(row, j);
    }
    double mean = total_g / n, centre = total_row / ((n - 1.0) * others);
    double linear = 0.0, pairs = 0.0, outside = 0.0, sum_x = 0.0, scatter = 0.0;
    for (int64_t j = 0; j < size; j++) {
        double distance = AT(a, j) + share * AT(row, j) - mean;
        linear += distance * distance;
        double x = AT(row, j) / others;
        double mean_before = j ? sum_x / j : 0.0;
        double away = AT(b, j) - x + centre - mean_before;
        pairs += j * (away * away) + scatter;
        double step = x - mean_before;
        scatter += j / (j + 1.0) * step * step;
        sum_x += x;
        outside += (centre - x) * (centre - x);
    }
    linear += beyond * mean * mean;
    pairs += beyond * outside + beyond * (beyond - 1) / 2.0 * centre * centre;
    double one = relevant / n * ((n - relevant) / (n - 1));
    double two = one * ((relevant - 1) / others) * ((n - relevant - 1) / (l > 3 ? l - 3 : 1));
    return one * linear + two * pairs;
}

#endif
