// How the compiler knows a work-group's size. In M. Harris's slides (2007) it comes with the launch: loops over it stay loops.
// With a constant, the compiler counts their turns, writes them out, and turns divisions by powers of two into masks.
#ifdef SIZE_CONSTANT
#define GROUP_SIZE WG
#define OF_ITS_SIZE __attribute__((reqd_work_group_size(WG, 1, 1)))
#else
#define GROUP_SIZE ((uint)get_local_size(0))
#define OF_ITS_SIZE
#endif
