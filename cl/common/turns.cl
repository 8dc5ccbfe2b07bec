// A loop of all work-items together over 0..n. Neighbours take neighbouring elements; where a work-item is a whole core
// (CHUNKED), each takes elements of its own that lie side by side, of which compilers make vectors.
#ifdef CHUNKED
#define CHUNK(n) (((n) - 1) / get_global_size(0) + 1)
#define EACH_TURN(i, n) \
    for (ulong i = min(get_global_id(0) * CHUNK(n), (ulong)(n)), end_ = min(i + CHUNK(n), (ulong)(n)); i < end_; i++)
#else
#define EACH_TURN(i, n) for (ulong i = get_global_id(0); i < (n); i += get_global_size(0))
#endif
