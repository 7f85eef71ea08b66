/* Compile the headers that are included next for elements of type int32_t, which they call REAL. */

#undef REAL
#undef Reals
#undef OF
#define REAL int32_t
#define Reals Ints
#define OF(name) name##_int
