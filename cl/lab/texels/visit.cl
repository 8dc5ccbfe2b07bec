// The pixel of visit i, numbered row by row. Each of the pixels, 1 << WIDE in a row and 1 << HIGH rows, is visited once.
// ORDER: 0 along rows, 1 down columns, 2 along diagonals, 3 in blocks of 8 x 8, 4 at random.
#ifndef WIDE
#define WIDE 5
#endif
#ifndef HIGH
#define HIGH 5
#endif
#ifndef ORDER
#define ORDER 0
#endif
#define LAST ((1u << (WIDE + HIGH)) - 1)
#define LAST_COLUMN ((1u << WIDE) - 1)
#define LAST_ROW ((1u << HIGH) - 1)
#define PLACE(column, row) ((row) << WIDE | (column))

uint visit(const uint i)
{
#if ORDER == 1
    return PLACE(i >> HIGH, i & LAST_ROW);
#elif ORDER == 2
    return PLACE(((i >> HIGH) + i) & LAST_COLUMN, i & LAST_ROW);
#elif ORDER == 3
    const uint block = i >> 6;
    return PLACE((block << 3 & LAST_COLUMN) | (i & 7), block >> (WIDE - 3) << 3 | (i >> 3 & 7));
#elif ORDER == 4
    uint place = i * 0x9E3779B1u & LAST;
    place ^= place >> (WIDE + HIGH) / 2;
    place = place * 0x85EBCA6Bu & LAST;
    return place ^ place >> (WIDE + HIGH) / 2;
#else
    return i;
#endif
}
