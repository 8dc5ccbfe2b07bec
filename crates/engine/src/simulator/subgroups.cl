// Declares what subgroups.cpp gives kernels in the simulator, in front of each OpenCL program. GPULAB_WARP is a warp's size.
#ifndef cl_khr_subgroups
#define cl_khr_subgroups 1
#endif
#define GPULAB_OF_SUB_GROUP __attribute__((overloadable, convergent))
uint GPULAB_OF_SUB_GROUP get_sub_group_size(void);
// A constant, as on GPUs of one size: loops over it are unrolled.
#define get_max_sub_group_size() ((uint)GPULAB_WARP)
uint GPULAB_OF_SUB_GROUP get_num_sub_groups(void);
uint GPULAB_OF_SUB_GROUP get_enqueued_num_sub_groups(void);
uint GPULAB_OF_SUB_GROUP get_sub_group_id(void);
uint GPULAB_OF_SUB_GROUP get_sub_group_local_id(void);
void GPULAB_OF_SUB_GROUP sub_group_barrier(uint fence);
int GPULAB_OF_SUB_GROUP sub_group_all(int predicate);
int GPULAB_OF_SUB_GROUP sub_group_any(int predicate);
#define GPULAB_JOINS(T, name) \
    T GPULAB_OF_SUB_GROUP sub_group_##name##_add(T x); \
    T GPULAB_OF_SUB_GROUP sub_group_##name##_min(T x); \
    T GPULAB_OF_SUB_GROUP sub_group_##name##_max(T x);
#define GPULAB_SUB_GROUPS(T) \
    GPULAB_JOINS(T, reduce) \
    GPULAB_JOINS(T, scan_inclusive) \
    GPULAB_JOINS(T, scan_exclusive) \
    T GPULAB_OF_SUB_GROUP sub_group_broadcast(T x, uint lane); \
    T GPULAB_OF_SUB_GROUP sub_group_shuffle(T x, uint lane); \
    T GPULAB_OF_SUB_GROUP sub_group_shuffle_xor(T x, uint mask); \
    T GPULAB_OF_SUB_GROUP sub_group_shuffle_up(T x, uint delta); \
    T GPULAB_OF_SUB_GROUP sub_group_shuffle_down(T x, uint delta); \
    T GPULAB_OF_SUB_GROUP intel_sub_group_shuffle(T x, uint lane); \
    T GPULAB_OF_SUB_GROUP intel_sub_group_shuffle_xor(T x, uint mask);
GPULAB_SUB_GROUPS(int)
GPULAB_SUB_GROUPS(uint)
GPULAB_SUB_GROUPS(long)
GPULAB_SUB_GROUPS(ulong)
GPULAB_SUB_GROUPS(float)
GPULAB_SUB_GROUPS(double)
