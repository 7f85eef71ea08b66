/* What is written for elements of a type REAL is compiled for int8_t in what is included next. */

#undef REAL
#undef Reals
#undef OF
#define REAL int8_t
#define Reals Chars
#define OF(name) name##_char
