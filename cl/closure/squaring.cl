// closure squaring: each round joins every two paths that are known.
// Idea:    the min-plus product of the matrix with itself, lowered in place: a round at least doubles the edges that paths may have.
// Removes: nothing: this is where the ladder begins.
// Remains: ceil(log2 n) rounds, each with the work of a whole product, whether it still finds anything or not.
// Expect:  as many times a product as there are rounds.
// But:     it needs no pivot, on which `blocked` waits: of few nodes, whose launches take longer than their work, that counts.
// CUDA:    the kernel of `blocked` in another order of launches.
// The file of `blocked` follows.
#define closure_blocked(x, y, d, pitch, left, top, one) closure_squaring(x, y, d, pitch, left, top, one)
