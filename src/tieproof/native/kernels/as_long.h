/* What is written for elements of a type REAL is compiled for int64_t in what is included next. */

#undef REAL
#undef Reals
#undef OF
#define REAL int64_t
#define Reals Longs
#define OF(name) name##_long
