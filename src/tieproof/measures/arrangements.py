"""The variance of a sum over the places of a tie and over the pairs of its places.

The measures of the average-precision family are, within a tie of l items of which m are relevant,

    Z = sum_i X_i a_i + sum_{i<j} X_i X_j b_j,

X_i = 1 where place i holds a relevant item, every arrangement equally likely. The textbook route, E[Z²] - E[Z]²,
cancels. Here Z is split into orthogonal parts (Hoeffding's decomposition for sampling without replacement), and
only squares are added:

    Var Z = m (l-m) / (l (l-1)) · sum_i (g_i - mean g)²
          + m (m-1) (l-m) (l-m-1) / (l (l-1) (l-2) (l-3)) · sum_{i<j} B_ij²

with r_i = (i-1) b_i + sum_{j>i} b_j the sum of row i of the matrix of pairs (b_max(i,j), 0 on the diagonal),
g_i = a_i + (m-1)/(l-2) r_i, and B_ij = b_max(i,j) - (r_i + r_j)/(l-2) + sum r / ((l-1)(l-2)) the matrix with
its rows and columns centred. Adding a constant to all a or to all b changes nothing.
"""

from tieproof.native.calls import native
from tieproof.ties import FloatArray, IntArray


@native
def trapezoid_variances(
    k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray, room: FloatArray, variance: FloatArray
) -> None:
    """Var Z of each tie for a_i = (n u_i + w_i)/2 and b_i = u_i/2, w_i = 1/(k+i), u_i = w_(i-1) + w_i.

    At rank 1 the precision before is 1 and no pair ends there, so that b is of no account.
    """
