/* The operations of the matrix unit of x86 (AMX) that multiply codes, and whether a process may use them: codes.h.

   Its registers, the panels, have 16 rows of 64 bytes. Panels 0 to 3 hold sums of products, 4 and 5 rows, 6 and 7 items.
   A test defines these operations in plain C before it includes this file: tests/native/emulated_panels.h. */

#ifndef TIEPROOF_MATRIX_UNIT_H
#define TIEPROOF_MATRIX_UNIT_H

#include "types.h"

/* The bytes of a panel, and of one of its rows. */
#define PANEL 1024
#define PANEL_ROW 64

#ifdef EMULATED_PANELS
#define WITH_PANELS
#elif defined __AVX512F__ && defined __linux__ && (__clang_major__ >= 12 || (!defined __clang__ && __GNUC__ >= 11))
#define WITH_PANELS
#include <cpuid.h>
#include <immintrin.h>

#define WITH_UNIT __attribute__((target("amx-tile,amx-int8"), noinline))

/* Clear the panels. The compiler must not move what is written to memory behind the instructions that read it. */
#define START_PANELS()                                                                             \
    do {                                                                                           \
        struct {                                                                                   \
            uint8_t palette, start_row, unused[14];                                                \
            uint16_t bytes[16];                                                                    \
            uint8_t rows[16];                                                                      \
        } shape = {.palette = 1};                                                                  \
        for (int panel = 0; panel < 8; panel++)                                                    \
            shape.bytes[panel] = PANEL_ROW, shape.rows[panel] = PANEL / PANEL_ROW;                 \
        __asm__ volatile("" ::"r"(&shape) : "memory");                                             \
        _tile_loadconfig(&shape);                                                                  \
    } while (0)
#define LOAD_PANEL(panel, from) _tile_loadd(panel, from, PANEL_ROW)
#define MULTIPLY_PANELS(sums, rows, items) _tile_dpbsud(sums, rows, items) /* signed rows, unsigned items */
#define STORE_PANEL(panel, to, stride) _tile_stored(panel, to, stride)
#define END_PANELS()                      \
    do {                                  \
        _tile_release();                  \
        __asm__ volatile("" ::: "memory"); \
    } while (0)

/* Whether the processor has the unit, the system keeps its registers, and the process is permitted to use them, for
   which it asks. Linux refuses if the stack of a signal handler is too small for the registers. */
static inline bool has_matrix_unit(void)
{
    enum { ARCH_PRCTL = 158, REQUEST_PERMISSION = 0x1023, REGISTERS_OF_PANELS = 18 };
    uint32_t a, b, c = 0, d = 0, low, high;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    if (!(d >> 24 & d >> 25 & c >> 11 & 1)) /* AMX-TILE and AMX-INT8; and AVX512-VNNI, for what is left */
        return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low >> 17 & 3) != 3)
        return false;
    int64_t refused;
    __asm__ volatile("syscall"
                     : "=a"(refused)
                     : "0"((int64_t)ARCH_PRCTL), "D"((int64_t)REQUEST_PERMISSION), "S"((int64_t)REGISTERS_OF_PANELS)
                     : "rcx", "r11", "memory");
    return !refused;
}
#endif

#endif
