/* Products of codes by an emulated matrix unit: test_matrix_unit.py. */

#include "emulated_panels.h"

#include "codes.h"

#define REAL float
#define Reals Floats
#define OF(name) name##_float
#include "codes.inc"
