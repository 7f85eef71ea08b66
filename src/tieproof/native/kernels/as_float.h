/* Compile the headers that are included next for elements of type float, which they call REAL. */

#undef REAL
#undef Reals
#undef OF
#define REAL float
#define Reals Floats
#define OF(name) name##_float
