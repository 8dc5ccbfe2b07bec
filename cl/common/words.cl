// Preprocessor helpers: joined names, as in CAT(float, 4), and unrolled loops.
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define EACH(i, count) _Pragma("unroll") for (uint i = 0; i < (count); i++)
