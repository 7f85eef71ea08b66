/* Detect the level of the processor directly, because __builtin_cpu_supports does not know these levels
   everywhere. */

#ifndef TIEPROOF_PROCESSOR_H
#define TIEPROOF_PROCESSOR_H

#include "types.h"

/* Compilers know the instructions of AVX-VNNI since these versions. */
#if defined __AVX2__ && (__clang_major__ >= 12 || (!defined __clang__ && __GNUC__ >= 11))
#define WITH_AVX_VNNI
#endif

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

/* How many bits wide the vectors are in which one instruction adds products of bytes: 2 for 512, 1 for 256, otherwise 0.
   No level includes this instruction. */
static inline int64_t dots_by_vectors(void)
{
    uint32_t a = 0, b, c = 0, d;
#if defined __AVX512F__
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    return has(c, bit_AVX512VNNI) ? 2 : 0;
#elif defined WITH_AVX_VNNI
    __get_cpuid_count(7, 1, &a, &b, &c, &d);
    return has(a, 1u << 4) ? 1 : 0;
#else
    (void)a, (void)b, (void)c, (void)d;
    return 0;
#endif
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

#elif defined __aarch64__
#if defined __linux__
#include <sys/auxv.h>
#elif defined __APPLE__
#include <sys/sysctl.h>
#endif

/* The bits of AT_HWCAP and AT_HWCAP2 that stand for the dot product and for products of matrices: HWCAP_ASIMDDP and
   HWCAP2_I8MM in Linux's asm/hwcap.h. */
#define HAS_DOT_PRODUCT ((uint64_t)1 << 20)
#define HAS_MATRICES ((uint64_t)1 << 13)

/* Whether the compiler knows the instruction for matrices, as these versions do. */
#if __clang_major__ >= 12 || (!defined __clang__ && __GNUC__ >= 10)
#define KNOWS_MATRICES 1
#else
#define KNOWS_MATRICES 0
#endif

/* 2 if one instruction multiplies small matrices of bytes; otherwise 1 if one adds products of bytes to the lanes of a
   vector, as all processors of Apple can. */
static inline int64_t dots_by_vectors(void)
{
#if defined __linux__
    if (!(getauxval(AT_HWCAP) & HAS_DOT_PRODUCT))
        return 0;
    bool matrices = (getauxval(AT_HWCAP2) & HAS_MATRICES) != 0;
#elif defined __APPLE__
    int32_t found = 0;
    size_t size = sizeof found;
    bool matrices = sysctlbyname("hw.optional.arm.FEAT_I8MM", &found, &size, NULL, 0) == 0 && found;
#else
    return 0;
#endif
#if defined __linux__ || defined __APPLE__
    return matrices && KNOWS_MATRICES ? 2 : 1;
#endif
}

#else

static inline int64_t dots_by_vectors(void)
{
    return 0;
}

#endif
#endif
