/* Compile the headers that are included next for elements of type int8_t, which they call REAL. */

#undef REAL
#undef Reals
#undef OF
#define REAL int8_t
#define Reals Chars
#define OF(name) name##_char
