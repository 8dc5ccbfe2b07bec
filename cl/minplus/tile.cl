// How the items of a group share a tile of results, and the 16-byte vectors of the panels that it is made from.
#define TV CAT(T, VEC)
#define DOWN (TILE_ROWS / ITEM_ROWS)            // items one below the other
#define ACROSS (TILE_COLUMNS / ITEM_COLUMNS)    // and side by side
#define GROUP (DOWN * ACROSS)
// Blocks of 4 x 8 neighbouring items: the 32 that a GPU runs together read fewer vectors than those of a row would.
#define BLOCKS (ACROSS / 8)
#define ITEM_DOWN(id) ((id) / 32 / BLOCKS * 4 + (id) % 32 / 8)
#define ITEM_ACROSS(id) ((id) / 32 % BLOCKS * 8 + (id) % 8)
// Row and column in the tile of an item's results i and j: it takes `run` neighbouring ones, then those of the next
// block of items, so that neighbours read neighbouring vectors.
#define ROW_OF(i, run) (((i) / (run) * DOWN + down) * (run) + (i) % (run))
#define COLUMN_OF(j, run) (((j) / (run) * ACROSS + across) * (run) + (j) % (run))

// A stage of a panel: so many rows, each `width` elements of one that has rows of `length`. An item moves its share:
// BEGIN reads it, from the element `from` on; END puts it in its place in local memory.
#define SHARE(height, width) ((height) * (width) / VEC / GROUP)
#define SOURCE(panel, from, width, length) \
    &panel[(from) + (id + m * GROUP) / ((width) / VEC) * (length) + (id + m * GROUP) % ((width) / VEC) * VEC]
#ifdef ASYNC
// NVIDIA since Ampere: by no register.
#define BEGIN(place, carried, height, width, panel, from, length) \
    EACH(m, SHARE(height, width)) \
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" \
                     : : "r"((uint)(size_t)&place[id + m * GROUP]), "l"(SOURCE(panel, from, width, length)) : "memory");
#define END(place, carried, height, width) asm volatile("cp.async.wait_all;" : : : "memory");
#else
#define BEGIN(place, carried, height, width, panel, from, length) \
    EACH(m, SHARE(height, width)) carried[m] = *(__global const TV *)SOURCE(panel, from, width, length);
#define END(place, carried, height, width) EACH(m, SHARE(height, width)) place[id + m * GROUP] = carried[m];
#endif

// Of panels that hold two k in each row.
#define STAGED (DEPTH / 2)    // rows of a stage
#define RUN (VEC / 2)         // results that a vector serves
