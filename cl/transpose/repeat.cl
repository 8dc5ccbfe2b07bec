// Repetition inside a kernel (--loop inside), which gpulab puts around its work: a group does it NREPS times, over data that begin
// `skip` elements further each time. The host gives a skip of 0, which the compiler cannot know: it has to repeat every load and
// every store.
#define REPEAT_ARGS , const INDEX skip
#define REPEAT for (uint rep = 0; rep < NREPS; rep++, in += skip, out += skip)
#define REPEAT_SYNC barrier(CLK_LOCAL_MEM_FENCE)
