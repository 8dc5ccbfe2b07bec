// A tile's results lowered by a stage of panels whose rows each hold two k, element by element in turn; of `ys` the two are
// swapped, see v5 of minplus. An item's results are `best`; comes after lower.cl and tile.cl.
#define STAGED (DEPTH / 2)    // rows of a panel
#define RUN (VEC / 2)         // results that a vector serves
#define LOWER_BY(xs, ys) \
    EACH(k, STAGED) { \
        T x0[ITEM_ROWS], x1[ITEM_ROWS], y0[ITEM_COLUMNS], y1[ITEM_COLUMNS]; \
        EACH(c, ITEM_ROWS / RUN) { \
            const TV v = (xs)[k * (TILE_ROWS / RUN) + c * DOWN + down]; \
            EACH(e, RUN) { x0[c * RUN + e] = ((const T *)&v)[2 * e]; x1[c * RUN + e] = ((const T *)&v)[2 * e + 1]; } \
        } \
        EACH(c, ITEM_COLUMNS / RUN) { \
            const TV v = (ys)[k * (TILE_COLUMNS / RUN) + c * ACROSS + across]; \
            EACH(e, RUN) { y1[c * RUN + e] = ((const T *)&v)[2 * e]; y0[c * RUN + e] = ((const T *)&v)[2 * e + 1]; } \
        } \
        /* To and fro, so that neighbouring additions share a side. */ \
        EACH(i, ITEM_ROWS) EACH(b, ITEM_COLUMNS) { \
            const uint j = i % 2 ? ITEM_COLUMNS - 1 - b : b; \
            STEP(best[i][j], x0[i], y0[j], x1[i], y1[j], j) \
        } \
    }
