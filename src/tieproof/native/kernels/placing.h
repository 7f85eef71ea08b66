/* Placing the listed items of a tile among the thresholds of their queries, one by one: engine/placing.py. */

#include "guide.h"
#include "intervals.h"

/* Items that are searched for together: their searches overlap in the processor. */
#ifndef TOGETHER
#define TOGETHER 8
#endif

/* The interval of nearness of a listed item. */
static inline void OF(enclose)(
    const OF(NearEntries) *near, const OF(Form) *form, const Error *error, int64_t i, double *low, double *high)
{
    int64_t c = AT(near->item, i);
    REAL entry = AT(near->entry, i);
    double nearness;
    if (form->ratio)
        nearness = (double)entry * fabs((double)entry) / AT(form->square, c);
    else
        nearness = (double)(REAL)(entry * AT(form->factor, c) - AT(form->shift, c));
    double bound = error->relative * fabs(nearness) + AT(error->row, AT(near->row, i)) * AT(error->column, c)
                   + AT(error->constant, c);
    *low = nearness - bound;
    *high = nearness + bound;
}

/* Between which keys to look for the first that is not nearer than `nearest`: those before are, those behind are not. */
static inline void OF(bracket)(const Thresholds *thresholds, int64_t q, double nearest, int64_t *first, int64_t *end)
{
    int64_t start = AT(thresholds->start, q), stop = AT(thresholds->stop, q);
    double top = AT(thresholds->key, start), scale = AT(thresholds->scale, q);
    *first = start, *end = stop;
    if (top <= nearest) {
        *end = start;
    } else if (scale > 0.0) {
        int64_t table = place_of(start, q), steps = steps_of(start, stop);
        int64_t step = step_of(nearest, top, scale, steps);
        if (step + 1 < steps)
            *end = start + AT(thresholds->guide, table + step + 1);
        if (step > 0)
            *first = start + AT(thresholds->guide, table + step);
    }
}

/* Write down where the listed items are to be counted, and which of them are undecided. */
static inline void OF(place_listed)(
    const OF(NearEntries) *listed,
    int64_t found,
    const OF(Tile) *tile,
    const Error *error,
    const OF(Work) *work,
    const Placed *placed,
    Counted *so_far)
{
    OF(NearEntries) near = *listed;
    const OF(Form) *form = &tile->form;
    const Thresholds *thresholds = &work->thresholds;
    Undecided rest = work->undecided;
    Doubles key = thresholds->key;
    int64_t done = so_far->placed, left_open = so_far->undecided;
    for (int64_t here = 0; here < found; here += TOGETHER) {
        int64_t count = found - here < TOGETHER ? found - here : TOGETHER, longest = 0;
        double low[TOGETHER], high[TOGETHER], nearest[TOGETHER];
        int64_t first[TOGETHER], end[TOGETHER];
        for (int64_t j = 0; j < count; j++) {
            int64_t q = AT(near.query, here + j);
            OF(enclose)(&near, form, error, here + j, &low[j], &high[j]);
            nearest[j] = high[j] + AT(thresholds->reach, q);
            OF(bracket)(thresholds, q, nearest[j], &first[j], &end[j]);
            longest = end[j] - first[j] > longest ? end[j] - first[j] : longest;
        }
        int64_t step = longest ? (int64_t)1 << (63 - __builtin_clzll((uint64_t)longest)) : 0;
        for (; step; step >>= 1) {
            for (int64_t j = 0; j < count; j++) {
                int64_t ahead = first[j] + step;
                int64_t last = ahead <= end[j] ? ahead : first[j] + 1;
                first[j] = (ahead <= end[j]) & (AT(key, last - 1) > nearest[j]) ? ahead : first[j];
            }
        }
        for (int64_t j = 0; j < count; j++) {
            int64_t i = here + j, q = AT(near.query, i), start = AT(thresholds->start, q);
            int64_t stop = AT(thresholds->stop, q);
            int32_t weight = AT(form->weight, AT(near.item, i));
            double reach = AT(thresholds->reach, q);
            int64_t from = end_of_nearer(key, first[j], stop, 0.0, nearest[j], false);
            int64_t last = end_of_nearer(key, from, stop, reach, low[j], true);
            bool is_equal = from < last && low[j] == high[j] && reach == 0.0;
            if (is_equal || from == last) {
                if (last < stop) {
                    AT(placed->place, done) = last;
                    AT(placed->weight, done++) = weight;
                }
                if (is_equal) {
                    AT(placed->place, done) = ~from;
                    AT(placed->weight, done++) = weight;
                }
                continue;
            }
            AT(rest.query, left_open) = q;
            AT(rest.item, left_open) = tile->column + AT(near.item, i);
            AT(rest.weight, left_open) = weight;
            AT(rest.first, left_open) = from - start;
            AT(rest.last, left_open) = last - start;
            left_open++;
        }
    }
    so_far->placed = done;
    so_far->undecided = left_open;
}
