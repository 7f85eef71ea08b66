/* The variance of a sum over the places of a tie and over the pairs of its places.

   Within a tie of l items, of which m are relevant, the measures of the average-precision family are

       Z = sum_i X_i a_i + sum_{i<j} X_i X_j b_j,

   where X_i is 1 if place i contains a relevant item, and otherwise 0. All arrangements of the relevant items are
   equally likely. The textbook formula E[Z²] - E[Z]² loses digits by cancellation. Here Z is split into orthogonal
   parts (Hoeffding's decomposition for sampling without replacement), so that only squares are added:

       Var Z = m (l-m) / (l (l-1)) · sum_i (g_i - mean g)²
             + m (m-1) (l-m) (l-m-1) / (l (l-1) (l-2) (l-3)) · sum_{i<j} B_ij²

   The matrix of pairs has the entries b_max(i,j), and 0 on its diagonal. The sum of its row i is
   r_i = (i-1) b_i + sum_{j>i} b_j. In the first sum, g_i = a_i + (m-1)/(l-2) r_i. In the second sum, B is the matrix
   of pairs with its rows and columns centered: B_ij = b_max(i,j) - (r_i + r_j)/(l-2) + sum r / ((l-1)(l-2)). Adding a
   constant to all a_i or to all b_i changes nothing. */

#ifndef TIEPROOF_ARRANGEMENTS_H
#define TIEPROOF_ARRANGEMENTS_H

#include "array.h"

/* Var Z for a single relevant item, which adds a_i at place i of a tie of l items, and 0 at places beyond the last
   a_i. */
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

/* Var Z from a and b at the first places of a tie of l items; at later places, both are 0. `row` is working memory
   of the same length. */
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
    double mean = total_g / n, center = total_row / ((n - 1.0) * others);
    double linear = 0.0, pairs = 0.0, outside = 0.0, sum_x = 0.0, scatter = 0.0;
    for (int64_t j = 0; j < size; j++) {
        double distance = AT(a, j) + share * AT(row, j) - mean;
        linear += distance * distance;
        double x = AT(row, j) / others;
        double mean_before = j ? sum_x / j : 0.0;
        double away = AT(b, j) - x + center - mean_before;
        pairs += j * (away * away) + scatter;
        double step = x - mean_before;
        scatter += j / (j + 1.0) * step * step;
        sum_x += x;
        outside += (center - x) * (center - x);
    }
    linear += beyond * mean * mean;
    pairs += beyond * outside + beyond * (beyond - 1) / 2.0 * center * center;
    double one = relevant / n * ((n - relevant) / (n - 1));
    double two = one * ((relevant - 1) / others) * ((n - relevant - 1) / (l > 3 ? l - 3 : 1));
    return one * linear + two * pairs;
}

#endif
