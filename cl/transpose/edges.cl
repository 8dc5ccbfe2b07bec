// In front of transpositions and copies whose both sizes are multiples of the tile: their guards always hold.
#ifndef EDGES
#define INSIDE(column, row) 1
#endif
