// With SIZE_CONSTANT a kernel knows its work-group's size when it is compiled: the compiler then counts the turns of its loops,
// writes them out, and turns divisions by powers of two into masks. In M. Harris's slides (2007) it comes with the launch.
#ifdef SIZE_CONSTANT
#define get_local_size(dimension) WG
#endif
