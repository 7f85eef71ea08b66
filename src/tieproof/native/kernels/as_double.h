/* What is written for elements of a type REAL is compiled for double in what is included next. */

#undef REAL
#undef Reals
#undef OF
#define REAL double
#define Reals Doubles
#define OF(name) name##_double
