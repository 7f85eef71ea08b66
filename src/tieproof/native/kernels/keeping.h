/* Keep the items of tiles that may be among the k nearest items of a query: engine/keeping.py. */

#include "dot_products.h"
#include "listing.h"
#include "masks.h"

typedef struct {
    Longs size, enough;
    Reals lowest;
    Doubles floor, margin;
    Ints item;
    Reals value;
    double relative;
} OF(Kept);

/* A tile of codes whose products are compared as they are computed. */
typedef struct {
    Chars rows;
    Ints total;
    Reals row_scale;
    Bytes blocks;
    Reals item_scale;
    int64_t first, way, row, column;
} OF(CodedTile);

#define GREATEST ((OF(Whole))(~(uint64_t)0 >> (65 - 8 * sizeof(REAL))))

/* Integers in the order of the numbers that have these bits, or the bits of such an integer. */
static inline OF(Whole) OF(in_order)(OF(Whole) bits)
{
    return bits < 0 ? bits ^ GREATEST : bits;
}

/* The k-th largest of `count` numbers: the range of the integers in their order is halved until it contains one. */
static inline REAL OF(kth_largest)(const REAL *value, int64_t count, int64_t k)
{
    OF(Whole) low = GREATEST, high = -low - 1;
    for (int64_t i = 0; i < count; i++) {
        OF(Whole) bits;
        memcpy(&bits, &value[i], sizeof bits);
        bits = OF(in_order)(bits);
        low = bits < low ? bits : low;
        high = bits > high ? bits : high;
    }
    while (low < high) {
        OF(Whole) middle = (low >> 1) + (high >> 1) + ((low | high) & 1), bits = OF(in_order)(middle), reaching = 0;
        REAL limit;
        memcpy(&limit, &bits, sizeof limit);
        for (int64_t i = 0; i < count; i++)
            reaching += value[i] >= limit;
        if (reaching >= k)
            low = middle;
        else
            high = middle - 1;
    }
    OF(Whole) bits = OF(in_order)(low);
    REAL found;
    memcpy(&found, &bits, sizeof found);
    return found + (REAL)0.0; /* no negative zero */
}

/* The largest REAL that is surely at most `number`, or minus infinity. */
static inline REAL OF(rounded_down)(double number)
{
    if (!(number >= -DBL_MAX))
        return -(REAL)INFINITY;
    REAL near = (REAL)number;
    if ((double)near <= number)
        return near;
    return near - (REAL)fabs((double)near) * (REAL)(sizeof(REAL) == 4 ? 0x1p-22 : 0x1p-51) - (REAL)FLT_MIN;
}

/* Find out how near the k-th nearest item of a query surely is, and drop the items that are surely farther. */
static inline void OF(narrow)(const OF(Kept) *kept, int64_t q, int64_t k)
{
    int64_t count = AT(kept->size, q), left = 0;
    REAL *value = ROW(kept->value, q).at;
    int32_t *item = ROW(kept->item, q).at;
    if (count >= k) {
        double kth = (double)OF(kth_largest)(value, count, k);
        double surely = kth - (AT(kept->margin, q) + kept->relative * fabs(kth));
        if (surely > AT(kept->floor, q))
            AT(kept->floor, q) = surely;
        double floor = AT(kept->floor, q);
        AT(kept->lowest, q) = OF(rounded_down)(floor - (AT(kept->margin, q) + kept->relative * fabs(floor)));
    }
    REAL lowest = AT(kept->lowest, q);
    for (int64_t i = 0; i < count; i++) {
        value[left] = value[i];
        item[left] = item[i];
        left += value[i] >= lowest;
    }
    AT(kept->size, q) = left;
    AT(kept->enough, q) = left + left / 2 > k + k / 2 ? left + left / 2 + 16 : k + k / 2 + 16;
}

/* Drop the items of every query that are surely farther than its k-th nearest item. */
KERNEL void OF(narrow_all)(const OF(Kept) *kept, int64_t k)
{
    for (int64_t q = 0; q < kept->size.length; q++)
        OF(narrow)(kept, q, k);
}

/* Write as many items of each query as `item` has columns: those of the largest values. */
KERNEL void OF(list_nearest)(const OF(Kept) *kept, Longs queries, Longs item)
{
    for (int64_t i = 0; i < queries.length; i++) {
        int64_t q = AT(queries, i), count = AT(kept->size, q), listed = 0;
        const REAL *value = ROW(kept->value, q).at;
        REAL kth = OF(kth_largest)(value, count, item.columns);
        for (int64_t above = 1; above >= 0; above--) /* first those that are larger than the last one */
            for (int64_t c = 0; c < count && listed < item.columns; c++)
                if (above ? value[c] > kth : value[c] == kth)
                    AT2(item, i, listed++) = AT2(kept->item, q, c);
    }
}

/* Whether any of `count` entries reaches `lowest`. */
#define ANY(count, reaches)                  \
    ({                                       \
        OF(Whole) any = 0;                   \
        for (int64_t c = 0; c < (count); c++) \
            any |= (reaches);                \
        any != 0;                            \
    })

/* List the items of a row that reach `lowest`. Most groups have none. `plain`: entries are the nearness. */
APART int64_t OF(list_near)(
    const REAL *restrict raw, const REAL *restrict factor, const REAL *restrict shift, bool plain, REAL lowest,
    int64_t width, uint32_t *restrict close)
{
    int64_t found = 0, start = 0;
    uint8_t flag[GROUP];
    for (; start + GROUP <= width; start += GROUP) {
        const REAL *r = raw + start, *f = factor + start, *s = shift + start;
        if (plain) {
            if (!ANY(GROUP, r[c] >= lowest))
                continue;
            for (int64_t c = 0; c < GROUP; c++)
                flag[c] = r[c] >= lowest;
        } else {
            if (!ANY(GROUP, r[c] * f[c] - s[c] >= lowest))
                continue;
            for (int64_t c = 0; c < GROUP; c++)
                flag[c] = r[c] * f[c] - s[c] >= lowest;
        }
        found = list_flags(flag, (uint32_t)start, close, found);
    }
    memset(flag, 0, GROUP);
    for (int64_t c = start; c < width; c++)
        flag[c - start] = raw[c] * factor[c] - shift[c] >= lowest;
    return list_flags(flag, (uint32_t)start, close, found);
}

/* Whether a query has room for `more` items, if need be after those that are surely too far are dropped. */
static inline bool OF(has_room_for)(const OF(Kept) *kept, int64_t q, int64_t more, int64_t k)
{
    if (AT(kept->size, q) + more > kept->item.columns)
        OF(narrow)(kept, q, k);
    return AT(kept->size, q) + more <= kept->item.columns;
}

/* Drop the items first … last-1 of every query. */
static inline void OF(forget)(const OF(Kept) *kept, int64_t first, int64_t last)
{
    for (int64_t q = 0; q < kept->size.length; q++) {
        REAL *value = ROW(kept->value, q).at;
        int32_t *item = ROW(kept->item, q).at;
        int64_t left = 0;
        for (int64_t i = 0; i < AT(kept->size, q); i++) {
            value[left] = value[i];
            item[left] = item[i];
            left += item[i] < first || last <= item[i];
        }
        AT(kept->size, q) = left;
    }
}

/* Keep the items of a tile. Returns a query that has no room for them, if there is one, and then keeps none. */
KERNEL int64_t OF(keep_near)(
    const OF(Tile) *tile, const Targets *targets, const OF(Kept) *kept, int64_t k, bool plain, Places close)
{
    const REAL *factor = tile->form.factor.at, *shift = tile->form.shift.at;
    int64_t width = tile->entries.columns;
    for (int64_t q = 0; q < kept->size.length; q++) {
        const REAL *raw = ROW(tile->entries, AT(targets->row, q) - tile->row).at;
        int64_t found = OF(list_near)(raw, factor, shift, plain, AT(kept->lowest, q), width, close.at);
        found = leave_out(targets->run, AT(targets->first, q), AT(targets->last, q), tile->column, found, close);
        if (!found)
            continue;
        if (!OF(has_room_for)(kept, q, found, k)) {
            OF(forget)(kept, tile->column, tile->column + width);
            return q;
        }
        int64_t count = AT(kept->size, q);
        REAL *value = ROW(kept->value, q).at + count;
        int32_t *item = ROW(kept->item, q).at + count;
        for (int64_t i = 0; i < found; i++) {
            uint32_t c = AT(close, i);
            value[i] = raw[c] * factor[c] - shift[c];
            item[i] = (int32_t)(tile->column + c);
        }
        AT(kept->size, q) = count + found;
        if (count + found >= AT(kept->enough, q))
            OF(narrow)(kept, q, k);
    }
    return kept->size.length;
}

/* The nearness of an item from the product of its codes with those of a row. */
#define NEARNESS(c) ((REAL)(product[c] - excess) * of_row * of_item[c] * factor[c] - shift[c])

/* List the items of a piece that reach `lowest`: `product` are those of a row. Most pieces have none. */
static inline int64_t OF(list_near_of_codes)(
    const int32_t *restrict product, int32_t excess, REAL of_row, const REAL *restrict of_item,
    const REAL *restrict factor, const REAL *restrict shift, REAL lowest, int64_t count, uint32_t *restrict close)
{
    int64_t found = 0;
    if (count == 2 * IN_BLOCK && !ANY(2 * IN_BLOCK, NEARNESS(c) >= lowest))
        return 0;
    for (int64_t c = 0; c < count; c++) {
        close[found] = (uint32_t)c;
        found += NEARNESS(c) >= lowest;
    }
    return found;
}

/* Some queries whose rows are multiplied together. */
typedef struct {
    int64_t first, last, row[HIGHEST]; /* the queries first … last-1, and their rows among those */
    int32_t excess[HIGHEST];
    REAL scale[HIGHEST], lowest[HIGHEST];
} OF(Together);

/* The queries from `first` on whose rows are below `row + rows`, at most HIGHEST. */
static inline OF(Together) OF(together)(
    const OF(CodedTile) *tile, const Targets *targets, const OF(Kept) *kept, int64_t first, int64_t row,
    DotWay dots)
{
    OF(Together) some = {.first = first, .last = first};
    for (; some.last < kept->size.length && some.last - first < HIGHEST; some.last++) {
        int64_t i = some.last - first, of_tile = AT(targets->row, some.last) - tile->row;
        if (of_tile >= row + dots.rows)
            break;
        some.row[i] = of_tile - row;
        some.excess[i] = dots.excess * AT2(tile->total, of_tile, 0);
        some.scale[i] = AT(tile->row_scale, of_tile);
        some.lowest[i] = AT(kept->lowest, some.last);
    }
    return some;
}

/* Keep the near items of a piece for some queries. Returns the first one that has no room, or the one after the last. */
static inline int64_t OF(keep_near_of_piece)(
    const OF(CodedTile) *tile, const OF(NearnessForm) *form, const Targets *targets, const OF(Kept) *kept, int64_t k,
    const int32_t (*products)[WIDEST], Piece piece, OF(Together) *some)
{
    const REAL *of_item = &AT(tile->item_scale, piece.column);
    const REAL *factor = &AT(form->factor, piece.column), *shift = &AT(form->shift, piece.column);
    int64_t column = tile->column + piece.column;
    uint32_t listed[WIDEST], near[HIGHEST];
    Places close = {listed, WIDEST, 1, 1};
    bool vectors = false;
#ifdef __AVX512F__
    vectors = sizeof(REAL) == sizeof(float) && piece.count == 2 * IN_BLOCK;
    if (vectors && !near_codes(
                       products, some->row, some->excess, (const void *)some->scale, (const void *)some->lowest,
                       some->last - some->first, of_item, factor, shift, near))
        return some->last;
#endif
    for (int64_t q = some->first; q < some->last; q++) {
        int64_t i = q - some->first, found = 0;
        const int32_t *product = &products[some->row[i]][piece.skipped];
        int32_t excess = some->excess[i];
        REAL of_row = some->scale[i];
        if (vectors)
            for (uint32_t left = near[i]; left; left &= left - 1)
                listed[found++] = (uint32_t)__builtin_ctz(left);
        else
            found = OF(list_near_of_codes)(
                product, excess, of_row, of_item, factor, shift, some->lowest[i], piece.count, listed);
        found = leave_out(targets->run, AT(targets->first, q), AT(targets->last, q), column, found, close);
        if (!found)
            continue;
        if (!OF(has_room_for)(kept, q, found, k))
            return q;
        int64_t count = AT(kept->size, q);
        for (int64_t j = 0; j < found; j++) {
            uint32_t c = listed[j];
            AT2(kept->value, q, count + j) = NEARNESS(c);
            AT2(kept->item, q, count + j) = (int32_t)(column + c);
        }
        AT(kept->size, q) = count + found;
        if (count + found >= AT(kept->enough, q))
            OF(narrow)(kept, q, k);
        some->lowest[i] = AT(kept->lowest, q);
    }
    return some->last;
}

/* Keep the items of a tile of codes, as `keep_near`. */
KERNEL int64_t OF(keep_near_of_codes)(
    const OF(CodedTile) *tile, const OF(NearnessForm) *form, const Targets *targets, const OF(Kept) *kept, int64_t k)
{
    DotWay dots = dot_way(tile->way);
    int32_t products[HIGHEST][WIDEST] = {{0}};
    int64_t columns = tile->item_scale.length, queries = kept->size.length;
    int64_t many = pieces_together(dots, tile->rows.columns), pieces = pieces_of(dots, tile->first, columns);
    for (int64_t start = 0; start < pieces; start += many)
        for (int64_t first = 0; first < queries;) {
            int64_t row = AT(targets->row, first) - tile->row;
            OF(Together) some = OF(together)(tile, targets, kept, first, row, dots);
            for (int64_t number = start; number < start + many && number < pieces; number++) {
                Piece piece = piece_of(dots, number, tile->first, columns);
                multiply_rows(dots, tile->rows, row, tile->blocks, piece.block, products);
                int64_t q = OF(keep_near_of_piece)(tile, form, targets, kept, k, products, piece, &some);
                if (q < some.last) {
                    OF(forget)(kept, tile->column, tile->column + columns);
                    return q;
                }
            }
            first = some.last;
        }
    return queries;
}

#undef ANY
#undef NEARNESS
#undef GREATEST
