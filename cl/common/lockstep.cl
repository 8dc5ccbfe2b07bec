// Work-items that a cheap, local synchronisation reaches: a warp (CUDA), a wavefront (AMD), a sub-group (OpenCL).
// LOCKSTEP is how many; lockstep_id() numbers a group's items so that each whole multiple of LOCKSTEP begins
// the next such set; lockstep_sync() orders their accesses to __local memory. Hardware that once ran them in
// step needed no more than `volatile`; since each work-item has a program counter of its own (NVIDIA: Volta, 2017)
// nothing but an instruction keeps them together. The host defines the one that the device has.
#if defined LOCKSTEP_PTX
#define LOCKSTEP 32u
uint lockstep_id(void) { return get_local_id(0); }
void lockstep_sync(void) { __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory"); }
#elif defined LOCKSTEP_SUBGROUP
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#ifdef cl_intel_subgroups
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#endif
#define LOCKSTEP get_max_sub_group_size()
#define lockstep_id() (get_sub_group_id() * get_max_sub_group_size() + get_sub_group_local_id())
#define lockstep_sync() sub_group_barrier(CLK_LOCAL_MEM_FENCE)
#else
// LOCKSTEP_ALONE: every work-item by itself.
#define LOCKSTEP 1u
#define lockstep_id() get_local_id(0)
#define lockstep_sync()
#endif
