"""`MirroredValues`: the values of whole rankings; in leave-one-out, most pairs of rows are computed only once.

Stripes of rows are computed in ascending order. Each hands the values of its rows and of later rows over to the later
stripes, as far as memory allows: at most `reach` rows ahead. So at any time the pairs (i, j) of the rows that are
computed and of those that are not, with j - i < reach, are in memory, and these are at most reach^2 / 2.
"""

from math import isqrt
from threading import Lock

from tieproof.distances.gauge import Gauge
from tieproof.engine.counting import transpose
from tieproof.ties import FloatArray

Handed = list[tuple[slice, FloatArray]]  # columns, and their values as rows


class MirroredValues:
    """The values of stripes of rows with all columns, each of which is computed once.

    rows : the distinct query rows of each stripe, ascending; the last row of a stripe may be the first of the next
    memory : the bytes for values that are handed over
    threads : the number of stripes that are computed at a time
    """

    def __init__(self, gauge: Gauge, rows: list[slice], memory: int, threads: int) -> None:
        self.gauge, self.rows, self.width = gauge, rows, len(gauge.weight[1])
        highest = max((span.stop - span.start for span in rows), default=0)
        self.reach = isqrt(memory // 4) - (threads + 1) * highest if gauge.symmetric else 0
        self.handed: list[Handed | None] = [[] for _ in rows]  # None: the stripe is being computed
        self.lock = Lock()

    def write(self, stripe: int, values: FloatArray) -> None:
        """Write the values of a stripe, (rows, columns), which the caller may change."""
        rows = self.rows[stripe]
        with self.lock:
            handed, self.handed[stripe] = self.handed[stripe], None
        done = 0
        for columns, part in sorted(handed or [], key=lambda one: one[0].start):
            self._compute(rows, slice(done, columns.start), values)
            transpose(part, values[:, columns])
            done = max(done, columns.stop)
        self._compute(rows, slice(done, self.width), values)
        self._hand_over(stripe, values)

    def _compute(self, rows: slice, columns: slice, values: FloatArray) -> None:
        for part in self.gauge.parts(columns):
            values[:, part] = self.gauge.values(rows, part)

    def _hand_over(self, stripe: int, values: FloatArray) -> None:
        """Give later stripes the values that they share with this one."""
        own = self.rows[stripe]
        for later in range(stripe + 1, len(self.rows)):
            rows = self.rows[later]
            if rows.stop - own.start > self.reach:
                break
            if rows.start < own.stop:
                continue
            part = values[:, rows].copy()
            with self.lock:
                handed = self.handed[later]
                if handed is not None:
                    handed.append((own, part))
