/* Integers of any length, as digits in base 2^30, the most significant first: distances/exact/reals.py. */

#ifndef TIEPROOF_DIGITS_H
#define TIEPROOF_DIGITS_H

#include "array.h"

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

#endif
