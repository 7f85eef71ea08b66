/* What is written for elements of a type REAL is compiled for float in what is included next. */

#undef REAL
#undef Reals
#undef OF
#define REAL float
#define Reals Floats
#define OF(name) name##_float
