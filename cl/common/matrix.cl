// What transpositions and copies of a matrix share: which tile a group works on, guards, repetition.

// Guards at the edges: compiled out where both sizes are multiples of the tile.
#ifdef EDGES
#define INSIDE(column, row) ((column) < width && (row) < height)
#else
#define INSIDE(column, row) 1
#endif

// The rows of tiles may be folded into the third dimension, as some drivers allow 65535 groups in the second.
#define GROUP_ROW (get_group_id(2) * get_num_groups(1) + get_group_id(1))
#define GROUP_ROWS (get_num_groups(1) * get_num_groups(2))

// Column and row of the group's tile, in tiles. DIAGONAL: neighbouring groups work along diagonals; 1 is the shorter
// form for as many columns as rows, 2 the general one. Both are from G. Ruetsch and P. Micikevicius, "Optimizing
// Matrix Transpose in CUDA" (NVIDIA, 2009).
#if !defined(DIAGONAL) || DIAGONAL == 0
#define TILE_COLUMN get_group_id(0)
#define TILE_ROW GROUP_ROW
#elif DIAGONAL == 1
#define TILE_COLUMN ((get_group_id(0) + GROUP_ROW) % get_num_groups(0))
#define TILE_ROW get_group_id(0)
#else
#define GROUP_NUMBER (GROUP_ROW * get_num_groups(0) + get_group_id(0))
#define TILE_COLUMN ((GROUP_NUMBER / GROUP_ROWS + TILE_ROW) % get_num_groups(0))
#define TILE_ROW (GROUP_NUMBER % GROUP_ROWS)
#endif

// NREPS: a group does its work so many times, over data that begin `skip` elements further each time. The host gives
// a skip of 0, which the compiler cannot know: it has to repeat every load and every store.
#ifdef NREPS
#define REPEAT_ARGS , const INDEX skip
#define REPEAT for (uint rep = 0; rep < NREPS; rep++, in += skip, out += skip)
#define REPEAT_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#else
#define REPEAT_ARGS
#define REPEAT
#define REPEAT_SYNC
#endif
