/* Compile the headers that are included next for elements of type uint64_t, which they call REAL. */

#undef REAL
#undef Reals
#undef OF
#define REAL uint64_t
#define Reals Words
#define OF(name) name##_word
