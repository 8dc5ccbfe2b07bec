// An element as the 32-bit words that it is made of, for operations that take nothing wider.
#define WORDS (sizeof(T) / sizeof(uint))
typedef union {
    T value;
    uint words[WORDS];
} Bits;
