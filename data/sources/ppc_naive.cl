#include "minplus/naive.cl"
