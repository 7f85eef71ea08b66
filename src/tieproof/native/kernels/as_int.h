/* What is written for elements of a type REAL is compiled for int32_t in what is included next. */

#undef REAL
#undef Reals
#undef OF
#define REAL int32_t
#define Reals Ints
#define OF(name) name##_int
