/* Sort pairs of a query and an item by their keys, and make the ends of their intervals descend: engine/ranking.py and
   engine/resolve.py. */

#ifndef TIEPROOF_ORDER_H
#define TIEPROOF_ORDER_H

#include "sorting.h"
#include "structures.h"

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

#endif
