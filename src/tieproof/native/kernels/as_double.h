/* Compile the headers that are included next for elements of type double, which they call REAL. */

#undef REAL
#undef Reals
#undef OF
#define REAL double
#define Reals Doubles
#define OF(name) name##_double
