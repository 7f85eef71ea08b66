/* The operations of a matrix unit in plain C, so that every machine tests the code that uses them. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EMULATED_PANELS
#define WITH_UNIT __attribute__((noinline))

static _Thread_local union {
    int32_t sums[16][16];
    int8_t rows[16][64];
    uint8_t items[16][64];
} panels[8];

/* After the end, panels contain something that makes sums wrong. */
#define START_PANELS() memset(panels, 0, sizeof panels)
#define LOAD_PANEL(panel, from) memcpy(&panels[panel], from, sizeof panels[panel])
#define END_PANELS() memset(panels, 1, sizeof panels)

static inline void MULTIPLY_PANELS(int sums, int rows, int items)
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            for (int d = 0; d < 64; d++)
                panels[sums].sums[i][j] += panels[rows].rows[i][d] * panels[items].items[d / 4][4 * j + d % 4];
}

static inline void STORE_PANEL(int panel, void *to, int64_t stride)
{
    for (int i = 0; i < 16; i++)
        memcpy((char *)to + i * stride, panels[panel].sums[i], 64);
}

static inline bool has_matrix_unit(void)
{
    return true;
}
