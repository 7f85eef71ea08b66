/* Compile the headers that are included next for elements of type int64_t, which they call REAL. */

#undef REAL
#undef Reals
#undef OF
#define REAL int64_t
#define Reals Longs
#define OF(name) name##_long
