// What transpositions and copies of a matrix share: which tile a group works on, guards, repetition.

// Guards at the edges: compiled out where both sizes are multiples of the tile.
#ifdef EDGES
#define INSIDE(column, row) ((column) < width && (row) < height)
#define LEFT(x, length, valid) ((valid) && (x) < (length) ? (length) - (x) : 0)    // elements of a row from x on
#else
#define INSIDE(column, row) 1
#define LEFT(x, length, valid) VEC
#endif

// Groups are numbered along the first dimension of a launch; the second may be folded into the third, as some drivers
// allow 65535 groups in it.
#define FIRST get_group_id(0)
#define SECOND (get_group_id(2) * get_num_groups(1) + get_group_id(1))
#define SECONDS (get_num_groups(1) * get_num_groups(2))

// Column and row of a group's tile, in tiles. ORDER says how the tiles of neighbouring groups lie: 0 along rows;
// 1 down columns; along diagonals: 2 of as many columns as rows, 3 of any matrix. The diagonals are those of G. Ruetsch
// and P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (NVIDIA, 2009).
#if !defined(ORDER) || ORDER == 0
#define TILE_COLUMN FIRST
#define TILE_ROW SECOND
#elif ORDER == 1
#define TILE_COLUMN SECOND
#define TILE_ROW FIRST
#elif ORDER == 2
#define TILE_COLUMN ((FIRST + SECOND) % get_num_groups(0))
#define TILE_ROW FIRST
#else
#define NUMBER (SECOND * get_num_groups(0) + FIRST)
#define TILE_COLUMN ((NUMBER / SECONDS + TILE_ROW) % get_num_groups(0))
#define TILE_ROW (NUMBER % SECONDS)
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
