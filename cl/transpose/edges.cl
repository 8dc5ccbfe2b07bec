// Whether an element is in the matrix, for rungs that move single elements: where both sizes are multiples of the tile, all are.
#ifdef EDGES
#define INSIDE(column, row) ((column) < width && (row) < height)
#else
#define INSIDE(column, row) 1
#endif
