// The pixel of visit i, numbered row by row. Each of the pixels, 1 << WIDE in a row and 1 << HIGH rows, is visited once.
// ORDER: 0 along rows, 1 down columns, 2 along diagonals, 3 in blocks of 8 x 8, 4 at random. The same words are also a volume
// of 1 << VOLUME_X columns, 1 << VOLUME_Y rows and 1 << VOLUME_Z slices: 5 through its slices, 6 in blocks of 4 x 4 x 4.
#define LAST ((1u << (WIDE + HIGH)) - 1)
#define LAST_COLUMN ((1u << WIDE) - 1)
#define LAST_ROW ((1u << HIGH) - 1)
#define PLACE(column, row) ((row) << WIDE | (column))
#define PLACE3(column, row, slice) (((slice) << VOLUME_Y | (row)) << VOLUME_X | (column))
#define LOW(i, bits) ((i) & ((1u << (bits)) - 1))

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
#elif ORDER == 5
    return PLACE3(LOW(i >> VOLUME_Z, VOLUME_X), i >> (VOLUME_Z + VOLUME_X), LOW(i, VOLUME_Z));
#elif ORDER == 6
    const uint block = i >> 6, row = block >> (VOLUME_X - 2), slice = row >> (VOLUME_Y - 2);
    return PLACE3(LOW(block, VOLUME_X - 2) << 2 | LOW(i, 2), LOW(row, VOLUME_Y - 2) << 2 | LOW(i >> 2, 2),
                  slice << 2 | LOW(i >> 4, 2));
#else
    return i;
#endif
}
