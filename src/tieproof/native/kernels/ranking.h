/* Rank the relevant items of queries as thresholds, and turn counts between them into ties. */

#ifndef TIEPROOF_RANKING_H
#define TIEPROOF_RANKING_H

#include "search.h"

/* Sort a row of doubles together with their columns: into as many buckets as doubles, then within the buckets. */

/* The largest number of entries for which insertion sort is fastest. */
#define SMALL_RUN 24

/* How often the entries of a cell are divided into cells again before they are sorted by comparisons; values may
   be distributed unevenly. */
#define DEEPEST 3

/* The number of entries whose cells are computed together. */
#define CHUNK 256

/* The largest number of bits in half of a cell's number, so that the counts stay in the nearest cache. */
#define HALF_BITS 11

/* Working memory for the entries of a row. */
typedef struct {
    double *value;
    int32_t *column;
    uint64_t *key, *other;
} SortRoom;

/* Sift an entry down the heap whose largest value is first. */
static inline void sift(double *value, int32_t *column, int64_t at, int64_t count)
{
    double moving = value[at];
    int32_t its_column = column[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && value[child + 1] > value[child];
        if (value[child] <= moving)
            break;
        value[at] = value[child];
        column[at] = column[child];
        at = child;
    }
    value[at] = moving;
    column[at] = its_column;
}

static inline void sort_by_heap(double *value, int32_t *column, int64_t count)
{
    for (int64_t at = count / 2 - 1; at >= 0; at--)
        sift(value, column, at, count);
    for (int64_t last = count - 1; last > 0; last--) {
        double largest = value[0];
        int32_t its_column = column[0];
        value[0] = value[last];
        column[0] = column[last];
        value[last] = largest;
        column[last] = its_column;
        sift(value, column, 0, last);
    }
}

static inline void sort_by_insertion(double *value, int32_t *column, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        double moving = value[i];
        int32_t its_column = column[i];
        int64_t at = i;
        for (; at > 0 && value[at - 1] > moving; at--) {
            value[at] = value[at - 1];
            column[at] = column[at - 1];
        }
        value[at] = moving;
        column[at] = its_column;
    }
}

/* The number of each value's cell. All cells have the same width, and their numbers increase with the values. */
static inline void cells_of(const double *value, int64_t count, double low, double scale, int32_t last, int32_t *cell)
{
    for (int64_t i = 0; i < count; i++) {
        double place = (value[i] - low) * scale;
        cell[i] = place < last ? (int32_t)place : last;
    }
}

static inline void range_of(const double *value, int64_t count, double *lowest, double *highest)
{
    double low[8], high[8]; /* several, because otherwise each minimum would wait for the one before */
    for (int64_t lane = 0; lane < 8; lane++)
        low[lane] = high[lane] = value[0];
    for (int64_t i = 0; i < count; i += 8) {
        int64_t start = i + 8 <= count ? i : count - 8;
        for (int64_t lane = 0; lane < 8; lane++) {
            low[lane] = value[start + lane] < low[lane] ? value[start + lane] : low[lane];
            high[lane] = value[start + lane] > high[lane] ? value[start + lane] : high[lane];
        }
    }
    *lowest = low[0];
    *highest = high[0];
    for (int64_t lane = 1; lane < 8; lane++) {
        *lowest = low[lane] < *lowest ? low[lane] : *lowest;
        *highest = high[lane] > *highest ? high[lane] : *highest;
    }
}

/* Replace each count by the sum of the counts before it. */
static inline void ends_before(int32_t *counts, int64_t length)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < length; i++) {
        int32_t here = counts[i];
        counts[i] = sum;
        sum += here;
    }
}

/* Sort finite values and their columns: first by the numbers of their cells, the lower half of the bits before the
   upper half; then within each cell, which usually contains one value. */
static void sort_row(double *value, int32_t *column, int64_t count, SortRoom room, int64_t depth)
{
    if (count <= SMALL_RUN) {
        sort_by_insertion(value, column, count);
        return;
    }
    double low, high;
    range_of(value, count, &low, &high);
    if (low == high)
        return;
    int64_t bits = 4;
    while (bits < HALF_BITS && count >> (2 * bits - 7) > 0)
        bits++;
    int64_t half = (int64_t)1 << bits;
    double scale = half * half / (high - low);
    if (depth == DEEPEST || !(scale > 0.0 && scale <= DBL_MAX)) {
        sort_by_heap(value, column, count);
        return;
    }

    int32_t firsts[1 << HALF_BITS], lasts[1 << HALF_BITS], cell[CHUNK];
    memset(firsts, 0, (size_t)half * sizeof *firsts);
    memset(lasts, 0, (size_t)half * sizeof *lasts);
    for (int64_t start = 0; start < count; start += CHUNK) {
        int64_t some = count - start < CHUNK ? count - start : CHUNK;
        cells_of(value + start, some, low, scale, (int32_t)(half * half - 1), cell);
        for (int64_t i = 0; i < some; i++)
            room.key[start + i] = (uint64_t)cell[i] << 32 | (uint64_t)(start + i);
        for (int64_t i = 0; i < some; i++) {
            firsts[cell[i] >> bits]++;
            lasts[cell[i] & (half - 1)]++;
        }
    }
    ends_before(firsts, half);
    ends_before(lasts, half);
    for (int64_t i = 0; i < count; i++)
        room.other[lasts[room.key[i] >> 32 & (uint64_t)(half - 1)]++] = room.key[i];
    for (int64_t i = 0; i < count; i++)
        room.key[firsts[room.other[i] >> (32 + bits)]++] = room.other[i];

    memcpy(room.value, value, (size_t)count * sizeof *value);
    memcpy(room.column, column, (size_t)count * sizeof *column);
    for (int64_t i = 0; i < count; i++) {
        value[i] = room.value[(uint32_t)room.key[i]];
        column[i] = room.column[(uint32_t)room.key[i]];
    }
    for (int64_t start = 0, stop; start < count; start = stop) {
        for (stop = start + 1; stop < count && room.key[stop] >> 32 == room.key[start] >> 32; stop++)
            ;
        if (stop == start + 1)
            continue;
        SortRoom rest = {room.value + start, room.column + start, room.key + start, room.other + start};
        sort_row(value + start, column + start, stop - start, rest, depth + 1);
    }
}

/* Sort pairs of a query and an item by their keys, and make the ends of their intervals descend: engine/ranking.py and
   engine/resolve.py. */

/* Covers the rounding of a difference of two keys. */
#define NARROW (1 + 0x1p-40)

/* Narrow overlapping intervals of neighbors: no end of an interval is above that of the interval before it. */
static inline void make_intervals_fall(Doubles low, Doubles high)
{
    for (int64_t i = 1; i < low.length; i++)
        if (!(AT(high, i) < AT(high, i - 1)))
            AT(high, i) = AT(high, i - 1);
    for (int64_t i = low.length - 2; i >= 0; i--)
        if (!(AT(low, i) > AT(low, i + 1)))
            AT(low, i) = AT(low, i + 1);
}

/* The end of the pairs that have the same query as the pair at `start`. */
static inline int64_t end_of_query(Longs query, int64_t start)
{
    int64_t stop = start + 1;
    while (stop < query.length && AT(query, stop) == AT(query, start))
        stop++;
    return stop;
}

KERNEL void make_falling(Doubles low, Doubles high, Longs query)
{
    for (int64_t start = 0, stop; start < query.length; start = stop) {
        stop = end_of_query(query, start);
        make_intervals_fall(PART(low, start, stop), PART(high, start, stop));
    }
}

/* Sort the first `count` numbers of a row of the room, and their entries of `place` with them. The last row is
   working memory. */
static inline void sort_in_room(const RoomToSort *room, int64_t list, int64_t count)
{
    SortRoom rest = {ROW(room->value, 2).at, ROW(room->place, 2).at, ROW(room->key, 0).at, ROW(room->key, 1).at};
    sort_row(ROW(room->value, list).at, ROW(room->place, list).at, count, rest, 0);
}

KERNEL bool sort_by_key(Longs query, Doubles key, Doubles error, const RoomToSort *room, const Ordered *found)
{
    Doubles rising = ROW(room->value, 0);
    Ints place = ROW(room->place, 0);
    bool is_open = false;
    for (int64_t start = 0, stop; start < query.length; start = stop) {
        stop = end_of_query(query, start);
        /* All items of a query get the largest error, so that two neighbors that are farther apart than twice
           this error separate all items before from all items after them. */
        double largest = 0.0;
        for (int64_t i = start; i < stop; i++) {
            AT(rising, i - start) = -AT(key, i);
            AT(place, i - start) = (int32_t)(i - start);
            largest = AT(error, i) > largest ? AT(error, i) : largest;
        }
        sort_in_room(room, 0, stop - start);
        double reach = 2 * NARROW * largest;
        bool had_error = false;
        for (int64_t i = start; i < stop; i++) {
            int64_t from = start + AT(place, i - start);
            AT(found->order, i) = from;
            AT(found->key, i) = AT(key, from);
            AT(found->error, i) = AT(error, from);
            bool touches = i > start && AT(found->key, i - 1) - AT(found->key, i) <= reach;
            AT(found->starts_tie, i) = !touches;
            had_error = (touches && had_error) || AT(error, from) > 0.0;
            is_open |= touches && had_error;
        }
    }
    return is_open;
}

/* Rank relevant items as thresholds, pair by pair or by keys of items that queries share: engine/ranking.py. */

/* The relative error of the operations that compute the key of an interval, and a factor that covers the rounding
   of bounds. */
#define ARITHMETIC 0x1p-51
#define SAFETY (1 + 0x1p-20)

/* Write the distinct items of a list, ascending, to a row of the room, each with its position in the list. */
static inline Doubles ascending(Longs items, int64_t start, int64_t stop, Longs identity, const RoomToSort *room, int64_t list)
{
    Doubles value = ROW(room->value, list);
    Ints place = ROW(room->place, list);
    bool is_sorted = true;
    for (int64_t i = start; i < stop; i++) {
        AT(value, i - start) = (double)AT(identity, AT(items, i));
        AT(place, i - start) = (int32_t)(i - start);
        is_sorted &= i == start || AT(value, i - start - 1) <= AT(value, i - start);
    }
    if (!is_sorted)
        sort_in_room(room, list, stop - start);
    return PART(value, 0, stop - start);
}

/* Write a column of an array. */
static inline void write_column(Longs columns, int64_t at, const int64_t *fields)
{
    for (int64_t i = 0; i < columns.length; i++)
        AT2(columns, i, at) = fields[i];
}

KERNEL PairedUp pair_up(
    const RelevantBlock *relevant,
    Longs identity,
    Longs weight,
    const RoomToSort *room,
    Longs pairs,
    Longs of_item,
    Longs partial,
    Longs last,
    Ints run)
{
    PairedUp found = {0, 0, 0};
    for (int64_t q = 0; q < last.length; q++) {
        int64_t start = AT(relevant->pointer, q), stop = AT(relevant->pointer, q + 1);
        int64_t from = AT(relevant->excluded_pointer, q), to = AT(relevant->excluded_pointer, q + 1);
        Doubles own = ascending(relevant->items, start, stop, identity, room, 0);
        Doubles left_out = ascending(relevant->excluded, from, to, identity, room, 1);
        int64_t end_of_run = -1;
        for (int64_t i = 0, j = 0; i < own.length || j < left_out.length;) {
            bool is_relevant = j == left_out.length || (i < own.length && AT(own, i) <= AT(left_out, j));
            double number = is_relevant ? AT(own, i) : AT(left_out, j);
            int64_t item = (int64_t)number, i_before = i, j_before = j;
            for (; i < own.length && AT(own, i) == number; i++)
                if (of_item.length)
                    AT(of_item, start + AT2(room->place, 0, i)) = found.pairs;
            for (; j < left_out.length && AT(left_out, j) == number; j++)
                ;
            int64_t rest = AT(weight, item) - (i - i_before) - (j - j_before);
            if (is_relevant) {
                int64_t fields[] = {q, item, i - i_before, rest};
                write_column(pairs, found.pairs++, fields);
            } else if (rest > 0 && own.length > 0) {
                int64_t fields[] = {q, item, rest, 0, own.length};
                write_column(partial, found.partial++, fields);
            }
            if (item != end_of_run)
                AT2(run, found.runs++, 0) = (int32_t)item;
            end_of_run = item + 1;
            AT2(run, found.runs - 1, 1) = (int32_t)end_of_run;
        }
        AT(last, q) = found.runs;
    }
    return found;
}

/* Replace `low` by a key for each tie, inside its interval of nearness; return the largest error of a key. */
static inline double center_intervals(Doubles low, Doubles high)
{
    double reach = 0.0, largest = 0.0;
    for (int64_t t = 0; t < low.length; t++) {
        bool is_finite = fabs(AT(low, t)) < INFINITY && fabs(AT(high, t)) < INFINITY;
        double half = (is_finite ? AT(high, t) - AT(low, t) : INFINITY) / 2;
        double key = is_finite ? AT(low, t) + half : 0.0;
        AT(low, t) = key;
        reach = half > reach ? half : reach;
        largest = fabs(key) > largest ? fabs(key) : largest;
    }
    if (reach == INFINITY)
        for (int64_t t = 0; t < low.length; t++)
            AT(low, t) = 0.0; /* all intervals overlap: only the order of the entries distinguishes the thresholds */
    return reach > 0.0 ? reach * SAFETY + ARITHMETIC * largest : 0.0;
}

KERNEL void put_entries(
    const Pairs *pairs, const Ordered *ordered, const RoomToSort *room, Longs places, const Block *block)
{
    for (int64_t q = 0, pair = 0; q < places.length; q++) {
        int64_t start = pair, place = AT(places, q), ties = 0;
        Doubles low = ROW(room->value, 0), high = ROW(room->value, 1);
        for (; pair < pairs->query.length && AT(pairs->query, pair) == q; pair++) {
            double least = AT(ordered->key, pair) - AT(ordered->error, pair);
            double most = AT(ordered->key, pair) + AT(ordered->error, pair);
            if (AT(ordered->starts_tie, pair)) {
                AT(low, ties) = least;
                AT(high, ties++) = most;
            } else {
                AT(low, ties - 1) = least > AT(low, ties - 1) ? least : AT(low, ties - 1);
                AT(high, ties - 1) = most < AT(high, ties - 1) ? most : AT(high, ties - 1);
            }
        }
        make_intervals_fall(PART(low, 0, ties), PART(high, 0, ties));
        AT(block->reach, place) = center_intervals(PART(low, 0, ties), PART(high, 0, ties));

        int64_t entry = AT(block->start, place), head = -1, tie = -1;
        int32_t before = 0;
        for (int64_t i = start; i < pair; i++) {
            int64_t own = AT(ordered->order, i);
            bool is_head = AT(ordered->starts_tie, i);
            if (is_head) {
                before = head < 0 ? 0 : AT(block->equal, head);
                head = entry;
                tie++;
            }
            for (int64_t r = 0; r < AT(pairs->relevant, own); r++, entry++) {
                AT(block->key, entry) = AT(low, tie);
                AT(block->gap, entry) = entry == head ? before : CONTINUED;
                AT(block->equal, entry) = 0;
                AT(block->item, entry) = (int32_t)AT(pairs->item, own);
            }
            AT(block->equal, head) += (int32_t)AT(pairs->others, own);
        }
        AT(block->stop, place) = entry;
        AT(block->known, place) = true;
        fill_guide(place, AT(block->start, place), entry, block->key, block->guide, block->scale);
    }
}

KERNEL void reverse(
    Doubles keys, int64_t length, Doubles reach, Longs start, Doubles key, Ints gap, Bytes clear)
{
    for (int64_t q = 0; q < keys.length; q++) {
        Doubles falling = PART(key, AT(start, q), AT(start, q) + length);
        Ints marks = PART(gap, AT(start, q), AT(start, q) + length);
        for (int64_t i = 0; i < length; i++)
            AT(falling, i) = AT2(keys, q, keys.columns - 1 - i);
        double too_close = 2 * NARROW * AT(reach, q);
        uint32_t close = 0;
        for (int64_t i = 1; i < length; i++) {
            bool is_close = AT(falling, i - 1) - AT(falling, i) <= too_close;
            AT(marks, i) = is_close ? CONTINUED : AT(marks, i);
            close |= is_close;
        }
        AT(clear, q) = close == 0 || AT(reach, q) == 0.0;
    }
}

/* Convert the counts between thresholds to ties: engine/ranked.py. */

KERNEL int64_t ties_of(Longs first, Longs last, Ints gap, Ints equal, Longs ties)
{
    Longs query = ROW(ties, 0), k = ROW(ties, 1), n = ROW(ties, 2), l = ROW(ties, 3), m = ROW(ties, 4);
    int64_t tie = -1;
    for (int64_t q = 0; q < first.length; q++) {
        int64_t start = AT(first, q), others = 0;
        for (int64_t i = start; i < AT(last, q); i++) {
            if (AT(gap, i) != CONTINUED) {
                tie++;
                others += AT(gap, i);
                AT(query, tie) = q;
                AT(k, tie) = others + i - start;
                AT(n, tie) = i - start;
                AT(l, tie) = AT(equal, i);
                AT(m, tie) = 0;
            }
            AT(l, tie)++;
            AT(m, tie)++;
        }
    }
    return tie + 1;
}

#endif
