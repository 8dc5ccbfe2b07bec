// Within a kernel, once the first stage of both panels is on its way: lowers `best` by all k from `begin` up to `end`, one stage
// while the next is copied. The panels' rows are `length` apart and hold two k each: see `pairs`.
    END(xs[0], x_carried, STAGED, 2 * TILE_ROWS)
    END(ys[0], y_carried, STAGED, 2 * TILE_COLUMNS)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (INDEX first = begin + DEPTH, now = 0;; first += DEPTH) {
        const uint next = (now + 1) % BUFFERS;
        if (first < end) {
            BEGIN(xs[next], x_carried, STAGED, 2 * TILE_ROWS, columns, first / 2 * length + 2 * top, length)
            BEGIN(ys[next], y_carried, STAGED, 2 * TILE_COLUMNS, rows, first / 2 * length + 2 * left, length)
        }
        EACH(k, STAGED) {
            T x0[ITEM_ROWS], x1[ITEM_ROWS], y0[ITEM_COLUMNS], y1[ITEM_COLUMNS];
            EACH(c, ITEM_ROWS / RUN) {
                const TV v = xs[now][k * (TILE_ROWS / RUN) + c * DOWN + down];
                EACH(e, RUN) { x0[c * RUN + e] = ((const T *)&v)[2 * e]; x1[c * RUN + e] = ((const T *)&v)[2 * e + 1]; }
            }
            EACH(c, ITEM_COLUMNS / RUN) {
                const TV v = ys[now][k * (TILE_COLUMNS / RUN) + c * ACROSS + across];
                EACH(e, RUN) { y1[c * RUN + e] = ((const T *)&v)[2 * e]; y0[c * RUN + e] = ((const T *)&v)[2 * e + 1]; }
            }
            // To and fro, so that neighbouring additions share a side.
            EACH(i, ITEM_ROWS) EACH(b, ITEM_COLUMNS) {
                const uint j = i % 2 ? ITEM_COLUMNS - 1 - b : b;
                STEP(best[i][j], x0[i], y0[j], x1[i], y1[j], j)
            }
        }
        if (first >= end)
            break;
        if (BUFFERS == 1)
            barrier(CLK_LOCAL_MEM_FENCE);
        END(xs[next], x_carried, STAGED, 2 * TILE_ROWS)
        END(ys[next], y_carried, STAGED, 2 * TILE_COLUMNS)
        barrier(CLK_LOCAL_MEM_FENCE);
        now = next;
    }
