/* Place the listed items of a tile among the thresholds of their queries, one by one. */

#include "searching.h"

/* The interval of nearness of a listed item. */
static inline void OF(enclose)(
    const OF(NearEntries) *near, const OF(NearnessForm) *form, const Error *error, int64_t i, double *low, double *high)
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

/* Write where the listed items are to be counted, and which of them are undecided. */
APART void OF(place_listed)(
    const OF(NearEntries) *listed,
    int64_t found,
    const OF(Tile) *tile,
    const Error *error,
    const OF(Work) *work,
    const Placed *placed,
    Counted *so_far)
{
    OF(NearEntries) near = *listed;
    OF(NearnessForm) form = tile->form;
    Error errors = *error;
    Thresholds thresholds = work->thresholds;
    Undecided rest = work->undecided;
    Longs place = placed->place;
    Ints weights = placed->weight;
    int64_t done = so_far->placed, left_open = so_far->undecided;
    for (int64_t here = 0; here < found; here += TOGETHER) {
        int64_t count = found - here < TOGETHER ? found - here : TOGETHER;
        double low[TOGETHER], high[TOGETHER], nearest[TOGETHER] = {0.0};
        int64_t first[TOGETHER] = {0}, end[TOGETHER] = {0};
        for (int64_t j = 0; j < count; j++) {
            int64_t q = AT(near.query, here + j);
            OF(enclose)(&near, &form, &errors, here + j, &low[j], &high[j]);
            nearest[j] = high[j] + AT(thresholds.reach, q);
            bracket(&thresholds, q, nearest[j], &first[j], &end[j]);
        }
        search(thresholds.key.at, nearest, end, first);
        for (int64_t j = 0; j < count; j++) {
            int64_t i = here + j, q = AT(near.query, i), stop = AT(thresholds.stop, q), from = first[j], last = from;
            int32_t weight = AT(form.weight, AT(near.item, i));
            double reach = AT(thresholds.reach, q);
            if (from < stop && !(AT(thresholds.key, from) + reach < low[j]))
                last = end_of_nearer(thresholds.key, from, stop, reach, low[j], true);
            bool is_equal = from < last && low[j] == high[j] && reach == 0.0;
            if (is_equal || from == last) {
                if (last < stop) {
                    AT(place, done) = last;
                    AT(weights, done++) = weight;
                }
                if (is_equal) {
                    AT(place, done) = ~from;
                    AT(weights, done++) = weight;
                }
                continue;
            }
            int64_t start = AT(thresholds.start, q);
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
