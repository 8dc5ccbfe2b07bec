// What later transpositions share: which tile a group works on, and what is left of a row.

// Elements of a row from x on; a whole vector where both sizes are multiples of the tile.
#ifdef EDGES
#define LEFT(x, length, valid) ((valid) && (x) < (length) ? (length) - (x) : 0)
#else
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
