/* Rank relevant items as thresholds, pair by pair or by keys of items that queries share: engine/ranking.py. */

#ifndef TIEPROOF_RANKING_H
#define TIEPROOF_RANKING_H

#include "guide.h"
#include "list_types.h"
#include "order.h"
#include "structures.h"

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

#endif
