/* Detect the level of the processor directly, because __builtin_cpu_supports does not know these levels
   everywhere. */

#ifndef TIEPROOF_PROCESSOR_H
#define TIEPROOF_PROCESSOR_H

#include "array.h"

#ifdef __x86_64__
#include <cpuid.h>

/* The registers that the operating system saves for a process; called only if it saves any. */
static inline uint64_t kept_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static inline bool has(uint32_t found, uint32_t wanted)
{
    return (found & wanted) == wanted;
}

/* Whether one instruction counts the bits of eight words; no level includes this instruction. */
static inline bool counts_bits_by_eight(void)
{
    uint32_t a, b, c = 0, d;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    return has(c, bit_AVX512VPOPCNTDQ);
}

/* The levels of the x86-64 psABI, section 3.1.1: 2, 3 or 4; 1 for older processors. */
KERNEL int64_t processor_level(void)
{
    uint32_t a, b, first = 0, seventh = 0, d, extended = 0;
    __get_cpuid(1, &a, &b, &first, &d);
    if (!has(first, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B))
        return 1;
    __get_cpuid_count(7, 0, &a, &seventh, &b, &d);
    __get_cpuid(0x80000001, &a, &b, &extended, &d);
    bool wide = has(first, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE | bit_OSXSAVE)
                && has(seventh, bit_AVX2 | bit_BMI | bit_BMI2) && has(extended, bit_LZCNT);
    if (!wide || (kept_registers() & 0x6) != 0x6)
        return 2;
    bool wider = has(seventh, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
    return wider && (kept_registers() & 0xe6) == 0xe6 ? 4 : 3;
}

#endif
#endif
