#include "minplus/coalesced.cl"
