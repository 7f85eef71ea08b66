/* Exact arithmetic: rows scanned, cut and compared, and integers of any length. */

#ifndef TIEPROOF_EXACT_H
#define TIEPROOF_EXACT_H

#include "types.h"

/* One pass over rows of numbers: distances/exact/rows.py. */

#define MAGNITUDE (UINT64_MAX >> 1)          /* all bits but the sign */
#define INFINITE ((uint64_t)0x7FF << 52)     /* the bits of infinity; NaN has larger ones */
#define SQUARES 8                            /* independent partial sums */

typedef struct {
    Doubles largest, smallest, square;
    Bytes negative;
    Words checksum;
} Statistics;

/* The bits of the largest magnitude; the bits of the smallest magnitude other than zero, minus one; and the union
   of the bits of all numbers other than zero. Bits of magnitudes are ordered as the magnitudes are. The bits of
   zero, minus one, are the largest of all, so that zero is never the smallest. */
typedef struct {
    uint64_t largest, below_smallest, any;
} Extremes;

static inline Extremes extremes_of(Doubles row)
{
    Extremes found = {0, UINT64_MAX, 0};
    for (int64_t d = 0; d < row.length; d++) {
        uint64_t bits = bits_of(AT(row, d)), magnitude = bits & MAGNITUDE, below = magnitude - 1;
        found.largest = magnitude > found.largest ? magnitude : found.largest;
        found.below_smallest = below < found.below_smallest ? below : found.below_smallest;
        found.any |= magnitude ? bits : 0;
    }
    return found;
}

/* The sum of squares of a row divided by 2^exponent: eight partial sums, which are then added up. The division is
   done in two steps of half the power each, so that the inverse of each step is finite. Numbers that these steps
   round are so small that their squares are zero. */
static inline double sum_of_squares(Doubles row, int exponent)
{
    double half = ldexp(1.0, -(exponent >> 1)), rest = ldexp(1.0, -(exponent - (exponent >> 1)));
    double sums[SQUARES] = {0.0}, total = 0.0;
    int64_t d = 0;
    for (; d + SQUARES <= row.length; d += SQUARES) {
        for (int lane = 0; lane < SQUARES; lane++) {
            double scaled = AT(row, d + lane) * half * rest;
            sums[lane] += scaled * scaled;
        }
    }
    for (; d < row.length; d++) {
        double scaled = AT(row, d) * half * rest;
        total += scaled * scaled;
    }
    for (int lane = 0; lane < SQUARES; lane++)
        total += sums[lane];
    return total;
}

static inline uint64_t mixed(double number)
{
    uint64_t bits = bits_of(number + 0.0); /* zeros of either sign get equal bits */
    return bits ^ (bits >> 32);
}

/* The checksum of a row divided by `divisor`. */
static inline uint64_t checksum_of(Doubles row, Words multipliers, double divisor)
{
    uint64_t checksum = 0;
    if (divisor == 1.0)
        for (int64_t d = 0; d < row.length; d++)
            checksum += mixed(AT(row, d)) * AT(multipliers, d);
    else
        for (int64_t d = 0; d < row.length; d++)
            checksum += mixed(AT(row, d) / divisor) * AT(multipliers, d);
    return checksum;
}

/* Write the statistics of row `i`; return whether all of its numbers are finite. */
static inline bool describe_row(Doubles row, Words multipliers, bool up_to_factor, int64_t i, const Statistics *of)
{
    Extremes found = extremes_of(row);
    if (found.largest >= INFINITE)
        return false;
    double largest = number_of(found.largest);
    int exponent = 1; /* 1 + the exponent of the power of two at or below `largest` */
    if (largest > 0.0)
        frexp(largest, &exponent);
    AT(of->largest, i) = largest;
    AT(of->smallest, i) = largest > 0.0 ? number_of(found.below_smallest + 1) : INFINITY;
    AT(of->square, i) = sum_of_squares(row, exponent - 1);
    AT(of->negative, i) = found.any > MAGNITUDE;
    AT(of->checksum, i) = checksum_of(row, multipliers, up_to_factor && largest > 0.0 ? largest : 1.0);
    return true;
}

KERNEL int64_t scan_block(
    Doubles block, Words multipliers, bool up_to_factor, int64_t start, const Statistics *statistics)
{
    for (int64_t i = 0; i < block.length; i++)
        if (!describe_row(ROW(block, i), multipliers, up_to_factor, start + i, statistics))
            return i;
    return -1;
}

static inline uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* More than the difference of the exponents of any two bits. */
#define NO_BIT 5000

/* The exponent of the last bit of a number (for zero, more than any), and the bits of the number up to this one. No
   branch depends on whether an entry is zero, which a processor could not predict. */
static inline int last_bit(double number, uint64_t *odd)
{
    uint64_t bits = bits_of(number), mantissa = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7FF);
    mantissa |= (uint64_t)(exponent > 0) << 52;
    int zeros = __builtin_ctzll(mantissa | (uint64_t)1 << 53);
    *odd = mantissa >> zeros;
    return exponent + (exponent == 0) - 1075 + zeros + NO_BIT * (mantissa == 0);
}

/* The numbers of a row are whole multiples of its unit. */
KERNEL void row_units(Doubles rows, Doubles unit)
{
    for (int64_t i = 0; i < rows.length; i++) {
        uint64_t divisor = 0, odd;
        int lowest = NO_BIT;
        for (int64_t d = 0; d < rows.columns; d++) {
            int exponent = last_bit(AT2(rows, i, d), &odd);
            lowest = exponent < lowest ? exponent : lowest;
        }
        for (int64_t d = 0; d < rows.columns && divisor != 1; d++) {
            last_bit(AT2(rows, i, d), &odd);
            divisor = greatest_common_divisor(odd, divisor);
        }
        AT(unit, i) = divisor ? ldexp((double)divisor, lowest) : 1.0;
    }
}

/* Find the distinct values of an array: distances/exact/bounds.py. */

KERNEL int64_t distinct_values(Longs values, Longs number, Longs place, Longs found)
{
    for (int64_t i = 0; i < values.length; i++)
        AT(number, AT(values, i)) = 1;
    int64_t count = 0;
    for (int64_t value = 0; value < number.length; value++) {
        AT(found, count) = value; /* overwritten by the next value if this one does not occur */
        count += AT(number, value);
        AT(number, value) = count;
    }
    for (int64_t i = 0; i < values.length; i++)
        AT(place, i) = AT(number, AT(values, i)) - 1;
    return count;
}

/* Floats cut into short integers whose products and sums are exact: distances/exact/slices.py. */

/* Subtract `center` from each row, with the rounding errors in `rest` (TwoSum). Returns whether anything was
   rounded. */
KERNEL bool subtract(Doubles rows, Doubles center, Doubles rest)
{
    const double *restrict common = center.at;
    uint64_t is_rounded = 0;
    for (int64_t i = 0; i < rows.length; i++) {
        double *restrict row = ROW(rows, i).at, *restrict error = ROW(rest, i).at;
        for (int64_t d = 0; d < rows.columns; d++) {
            double value = row[d], difference = value - common[d], minus = difference - value;
            row[d] = difference;
            error[d] = (value - (difference - minus)) - (common[d] + minus);
            is_rounded |= (uint64_t)(error[d] != 0.0);
        }
    }
    return is_rounded;
}

/* Contiguous rows as a single row. */
static inline Doubles joined(Doubles rows)
{
    if (rows.stride != rows.columns)
        return rows;
    return (Doubles){rows.at, 1, rows.length * rows.columns, rows.length * rows.columns};
}

KERNEL void cut_off(Doubles rows, double unit, Doubles piece)
{
    rows = joined(rows), piece = joined(piece);
    for (int64_t i = 0; i < rows.length; i++) {
        double *restrict row = ROW(rows, i).at, *restrict into = ROW(piece, i).at;
        for (int64_t d = 0; d < rows.columns; d++) {
            double whole = trunc(row[d] / unit);
            row[d] -= whole * unit;
            into[d] += whole;
        }
    }
}

/* The number of pairs whose sums stay in the cache while the places are added one by one. */
#define PAIRS_TOGETHER 1024

typedef struct {
    int64_t factor;
    Longs pairs, where, of_row, rows, of_column, columns;
} Summands;

/* The summands at a place: numbers with a stride, times a factor, which is 0 after the last place. */
typedef struct {
    const int64_t *at;
    int64_t apart, factor;
} Summand;

static inline Summand summand_at(Longs sums, int64_t place, int64_t factor)
{
    bool is_there = place < sums.columns;
    return (Summand){&AT2(sums, 0, is_there ? place : 0), sums.stride, is_there ? factor : 0};
}

/* The summands of all pairs at a place. */
typedef struct {
    Summand pair, row, column;
} SummandsAt;

static inline SummandsAt place_at(const Summands *summands, int64_t place)
{
    Longs pairs = summands->pairs;
    bool is_there = place < pairs.length;
    return (SummandsAt){
        .pair = {&AT2(pairs, is_there ? place : 0, 0), 1, is_there ? summands->factor : 0},
        .row = summand_at(summands->of_row, place, 1),
        .column = summand_at(summands->of_column, place, 1),
    };
}

static inline int64_t sum_at(const Summands *of, const SummandsAt *at, int64_t i)
{
    return at->pair.factor * at->pair.at[AT(of->where, i)]
           + at->row.factor * at->row.at[AT(of->rows, i) * at->row.apart]
           + at->column.factor * at->column.at[AT(of->columns, i) * at->column.apart];
}

KERNEL void add_places(const Summands *summands, Longs total)
{
    Summands of = *summands;
    for (int64_t start = 0; start < total.length; start += PAIRS_TOGETHER) {
        int64_t stop = total.length - start < PAIRS_TOGETHER ? total.length : start + PAIRS_TOGETHER;
        for (int64_t place = 0; place < total.columns; place++) {
            SummandsAt at = place_at(&of, place);
            for (int64_t i = start; i < stop; i++)
                AT2(total, i, place) = sum_at(&of, &at, i);
        }
    }
}

/* Add up the places from the highest to the lowest. Each step is a multiplication and an addition, which round. */
KERNEL void round_places(const Summands *summands, int64_t places, int64_t bits, Doubles value, Doubles size)
{
    Summands of = *summands;
    double scale = (double)((int64_t)1 << bits);
    for (int64_t start = 0; start < value.length; start += PAIRS_TOGETHER) {
        int64_t stop = value.length - start < PAIRS_TOGETHER ? value.length : start + PAIRS_TOGETHER;
        double *restrict total = value.at, *restrict magnitudes = size.at;
        for (int64_t i = start; i < stop; i++)
            total[i] = magnitudes[i] = 0.0;
        for (int64_t place = places - 1; place >= 0; place--) {
            SummandsAt at = place_at(&of, place);
            for (int64_t i = start; i < stop; i++) {
                double here = (double)sum_at(&of, &at, i);
                total[i] = total[i] * scale + here;
                magnitudes[i] = magnitudes[i] * scale + fabs(here);
            }
        }
    }
}

#define SUMS_SIDE_BY_SIDE 8

static inline double within_eight(double number)
{
    number = -8.0 > number ? -8.0 : number;
    return 8.0 < number ? 8.0 : number;
}

/* x and y contain the rows of the lowest place, one row after the other, then those of the next place, and so on.
   `sign` is working memory for one row. */
KERNEL void add_differences(
    Doubles x, Doubles y, Longs rows, Longs columns, int64_t bits, Doubles sign, Longs total)
{
    int64_t places = total.columns, dimensions = sign.length;
    double scale = (double)((int64_t)1 << bits);
    for (int64_t i = 0; i < rows.length; i++) {
        int64_t row = AT(rows, i) * dimensions, column = AT(columns, i) * dimensions, top = places - 1;
        for (int64_t d = 0; d < dimensions; d++)
            AT(sign, d) = AT2(x, top, row + d) - AT2(y, top, column + d);
        for (int64_t place = top - 1; place >= 0; place--)
            for (int64_t d = 0; d < dimensions; d++)
                AT(sign, d) = within_eight(AT(sign, d)) * scale + (AT2(x, place, row + d) - AT2(y, place, column + d));
        for (int64_t d = 0; d < dimensions; d++)
            AT(sign, d) = (double)(AT(sign, d) > 0.0) - (double)(AT(sign, d) < 0.0);
        for (int64_t place = 0; place < places; place++) {
            double lanes[SUMS_SIDE_BY_SIDE] = {0.0}; /* exact sums of integers, in any order */
            int64_t d = 0;
            for (; d + SUMS_SIDE_BY_SIDE <= dimensions; d += SUMS_SIDE_BY_SIDE)
                for (int lane = 0; lane < SUMS_SIDE_BY_SIDE; lane++)
                    lanes[lane] += AT(sign, d + lane)
                                   * (AT2(x, place, row + d + lane) - AT2(y, place, column + d + lane));
            for (; d < dimensions; d++)
                lanes[0] += AT(sign, d) * (AT2(x, place, row + d) - AT2(y, place, column + d));
            double here = 0.0;
            for (int lane = 0; lane < SUMS_SIDE_BY_SIDE; lane++)
                here += lanes[lane];
            AT2(total, i, place) = (int64_t)here;
        }
    }
}

/* Exact keys of rows of short integers, each a sum of 64 bits: distances/exact/words.py. */

/* out[i] = the sum of TERM(a, b) over the entries a of x[rows[i]] and b of y[columns[i]]; no sum overflows. */
#define SUMS_OF_WORDS(NAME, TERM)                                                              \
    KERNEL void NAME(Ints x, Ints y, Longs rows, Longs columns, Longs out)                     \
    {                                                                                          \
        for (int64_t i = 0; i < out.length; i++) {                                             \
            FETCH_AHEAD(y, columns, i);                                                        \
            const int32_t *restrict a = ROW(x, AT(rows, i)).at, *restrict b = ROW(y, AT(columns, i)).at; \
            int64_t sum = 0;                                                                   \
            for (int64_t d = 0; d < x.columns; d++)                                            \
                sum += TERM(a[d], b[d]);                                                       \
            AT(out, i) = sum;                                                                  \
        }                                                                                      \
    }

#define PRODUCT(a, b) ((int64_t)(a) * (b))
#define MINUS_SQUARE(a, b) -((int64_t)((a) - (b)) * ((a) - (b)))
#define MINUS_DIFFERENCE(a, b) -(int64_t)((a) > (b) ? (a) - (b) : (b) - (a))

SUMS_OF_WORDS(products_of_words, PRODUCT)
SUMS_OF_WORDS(squares_of_words, MINUS_SQUARE)
SUMS_OF_WORDS(distances_of_words, MINUS_DIFFERENCE)

#undef PRODUCT
#undef MINUS_SQUARE
#undef MINUS_DIFFERENCE

/* Squared sines from exact sums: distances/cosine.py. */

KERNEL void combine(
    Doubles e, Doubles e_error, Doubles f, Doubles f_error, Doubles x_square, Doubles y_square, double relative)
{
    for (int64_t i = 0; i < e.length; i++) {
        double x = AT(x_square, i), y = AT(y_square, i);
        if (x == 0.0 || y == 0.0) {
            AT(e, i) = -1.0;
            AT(e_error, i) = 0.0;
            continue;
        }
        double of_f = fabs(AT(f, i)), off = AT(f_error, i), projection = AT(f, i) * AT(f, i) / x;
        double sine = (AT(e, i) - projection) / y;
        double error = AT(e_error, i) + (2.0 * of_f + off) * off / x + relative * (fabs(AT(e, i)) + projection);
        double inner = AT(f, i) + x;
        bool is_open = fabs(inner) <= off + relative * (of_f + x);
        AT(e, i) = inner > 0.0 ? -sine : sine - 2.0;
        AT(e_error, i) = is_open ? INFINITY : inner < 0.0 ? (error / y + relative) * (1.0 + relative) : error / y;
    }
}

/* Integers of any length, as digits in base 2^30, the most significant first: distances/exact/reals.py. */

#define DIGIT 30
#define BASE ((int64_t)1 << DIGIT)
#define DIGIT_MASK (BASE - 1)

KERNEL void of_sums(Longs sums, int64_t bits, Longs out)
{
    int64_t mask = ((int64_t)1 << bits) - 1;
    for (int64_t i = 0; i < out.length; i++) {
        int64_t carry = 0, gathered = 0, filled = 0, place = 0;
        for (int64_t digit = out.columns - 1; digit >= 0; digit--) {
            for (; filled < DIGIT; filled += bits, place++) {
                if (place < sums.columns)
                    carry += AT2(sums, i, place);
                gathered |= (carry & mask) << filled;
                carry >>= bits;
            }
            AT2(out, i, digit) = gathered & DIGIT_MASK;
            gathered >>= DIGIT;
            filled -= DIGIT;
        }
        if (carry < 0)
            AT2(out, i, 0) -= BASE;
    }
}

/* Negate a number: all digits but the first are replaced by their complements, with a carry. */
static inline void negate(Longs number)
{
    int64_t carry = 0;
    for (int64_t digit = number.length - 1; digit > 0; digit--) {
        carry -= AT(number, digit);
        AT(number, digit) = carry & DIGIT_MASK;
        carry >>= DIGIT;
    }
    AT(number, 0) = carry - AT(number, 0);
}

/* Make `out` = s^2 2^up 2^(30 shifted), the lowest digit first. */
static inline void make_square(Longs s, int64_t up, int64_t shifted, Longs out)
{
    int64_t length = s.length;
    memset(out.at, 0, (size_t)out.length * sizeof *out.at);
    for (int64_t a = 0; a < length; a++) {
        int64_t digit = AT(s, length - 1 - a), carry = 0;
        for (int64_t b = 0; b < length; b++) {
            carry += AT(out, shifted + a + b) + digit * AT(s, length - 1 - b);
            AT(out, shifted + a + b) = carry & DIGIT_MASK;
            carry >>= DIGIT;
        }
        AT(out, shifted + a + length) = carry;
    }
    int64_t carry = 0;
    for (int64_t place = shifted; place < out.length; place++) {
        carry += AT(out, place) << up;
        AT(out, place) = carry & DIGIT_MASK;
        carry >>= DIGIT;
    }
}

/* Subtract guess 2^(30 place) times the divisor from the dividend. If the guess was too large by one, add the
   divisor again, and return true. */
static inline bool subtract_multiple(Longs dividend, Longs divisor, int64_t place, int64_t guess)
{
    int64_t used = divisor.length, borrow = 0, carry = 0;
    for (int64_t j = 0; j < used; j++) {
        borrow += AT(dividend, place + j) - guess * AT(divisor, j);
        AT(dividend, place + j) = borrow & DIGIT_MASK;
        borrow >>= DIGIT;
    }
    borrow += AT(dividend, place + used);
    AT(dividend, place + used) = 0;
    if (borrow >= 0)
        return false;
    for (int64_t j = 0; j < used; j++) {
        carry += AT(dividend, place + j) + AT(divisor, j);
        AT(dividend, place + j) = carry & DIGIT_MASK;
        carry >>= DIGIT;
    }
    return true;
}

/* Divide numbers whose lowest digits are first, where the divisor's top digit is large (Knuth, 4.3.1, algorithm
   D). The quotient has its most significant digit first; digits for which it has no room are zero. */
static inline void divide_by(Longs dividend, Longs divisor, Longs quotient)
{
    int64_t used = divisor.length, top = AT(divisor, used - 1), second = used > 1 ? AT(divisor, used - 2) : 0;
    for (int64_t place = dividend.length - 1 - used; place >= 0; place--) {
        int64_t head = (AT(dividend, place + used) << DIGIT) + AT(dividend, place + used - 1);
        if (head < top)
            continue;
        int64_t guess = head / top, rest = head - guess * top;
        int64_t third = used > 1 ? AT(dividend, place + used - 2) : 0;
        while (guess >= BASE || (rest < BASE && guess * second > (rest << DIGIT) + third)) {
            guess--;
            rest += top;
        }
        guess -= subtract_multiple(dividend, divisor, place, guess);
        if (place < quotient.length)
            AT(quotient, quotient.length - 1 - place) = guess;
    }
}

KERNEL void divide(Longs s, Longs n, Longs columns, Longs room, Longs out)
{
    int64_t length = s.columns, shifted = out.columns - length;
    Longs numerator = PART(room, 0, length), whole_divisor = PART(room, length, 2 * length);
    Longs dividend = PART(room, 2 * length, room.length);
    for (int64_t i = 0; i < s.length; i++) {
        Longs quotient = ROW(out, i), denominator = ROW(n, AT(columns, i));
        memset(quotient.at, 0, (size_t)quotient.length * sizeof *quotient.at);
        int64_t used = length;
        while (used > 0 && AT(denominator, length - used) == 0)
            used--;
        if (used == 0)
            continue;
        memcpy(numerator.at, ROW(s, i).at, (size_t)length * sizeof *numerator.at);
        bool is_negative = AT(numerator, 0) < 0;
        if (is_negative)
            negate(numerator);
        /* Multiply both numbers by the power of two that makes the divisor's top digit large. */
        int64_t up = __builtin_clzll((uint64_t)AT(denominator, length - used)) - (64 - DIGIT), carry = 0;
        Longs divisor = PART(whole_divisor, 0, used);
        for (int64_t place = 0; place < used; place++) {
            carry += AT(denominator, length - 1 - place) << up;
            AT(divisor, place) = carry & DIGIT_MASK;
            carry >>= DIGIT;
        }
        make_square(numerator, up, shifted, dividend);
        divide_by(dividend, divisor, quotient);
        if (is_negative)
            negate(quotient);
    }
}

/* Working memory to find the terms that two rows have in common. slots: a table of the places of one row's entries, in
   which a term is sought from its own slot on; -1 where there is none, as everywhere at first. x, y: places among the
   entries of both rows, as many as a row of the other side has. */
typedef struct {
    Ints slots, x, y;
} Meeting;

#endif
