/* What is written for elements of a type REAL is compiled for uint64_t in what is included next. */

#undef REAL
#undef Reals
#undef OF
#define REAL uint64_t
#define Reals Words
#define OF(name) name##_word
